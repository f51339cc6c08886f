"""Agents that are chosen by what they read and write, for a goal."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiservices.agentic import Completed, Failed, agent, as_agent, goal_oriented, sequence
from aiservices.agentic.needs import Need
from aiservices.agentic.node import Node
from aiservices.agentic.planners.goal import shortest_path
from aiservices.errors import AgentError, ConfigurationError

from .styles import Log, Style, edit, publish, write


@agent(output_key="published")
def announce(headline: str) -> str:
    return f"announced: {headline}"


@agent(output_key="headline")
def shout(story: str) -> str:
    return story.upper()


def test_the_fewest_agents_lead_to_the_goal(style: Style) -> None:
    outcome = style.run(goal_oriented("published", shout, announce, publish, write), topic="bees")
    assert isinstance(outcome, Completed)
    assert outcome.value == "published: a story about bees"
    assert [each.agent for each in outcome.scope.invocations] == ["write", "publish"]


def test_what_is_there_already_counts(style: Style) -> None:
    outcome = style.run(goal_oriented("published", write, publish), story="my own")
    assert [each.agent for each in outcome.scope.invocations] == ["publish"]
    outcome = style.run(goal_oriented("published", write, publish), published="long ago")
    assert isinstance(outcome, Completed)
    assert outcome.value == "long ago"
    assert outcome.scope.invocations == ()


def test_a_goal_that_cannot_be_reached_is_named_with_what_is_missing(style: Style) -> None:
    """H9"""
    outcome = style.run(goal_oriented("published", write, publish))
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.error, AgentError)
    assert str(outcome.error) == (
        "the goal 'published' cannot be reached from what is there: nobody has given 'topic'"
    )


def test_agents_that_wait_for_one_another_reach_nothing(style: Style) -> None:
    one = agent(name="one", output_key="a")(lambda b: b)
    two = agent(name="two", output_key="b")(lambda a: a)
    made = goal_oriented("a", one, two)
    with pytest.raises(
        AgentError, match=r"'a' cannot be reached .* its agents need what only they could give"
    ):
        style.invoke(made)
    assert style.invoke(made, b=3) == 3


@pytest.mark.parametrize("agents", [[write], [write, edit]])
def test_a_goal_that_nobody_writes_is_refused(agents: list[Any]) -> None:
    with pytest.raises(ConfigurationError, match="no agent writes the goal 'published'"):
        goal_oriented("published", *agents)


def test_a_goal_that_can_only_be_improved_on_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="no agent writes the goal 'story'"):
        goal_oriented("story", edit)


def test_where_an_agent_gives_nothing_another_way_is_taken(style: Style) -> None:
    @agent(output_key="story")
    def blocked(topic: str) -> str | None:
        return None

    outcome = style.run(goal_oriented("published", blocked, write, publish), topic="bees")
    assert [each.agent for each in outcome.scope.invocations] == ["blocked", "write", "publish"]


def test_no_agent_runs_twice(style: Style, log: Log) -> None:
    never = log.agent("never", "goal", lambda: None)
    silent = agent(name="silent", output_key="goal")(lambda: None)
    with pytest.raises(AgentError, match="'goal' cannot be reached"):
        style.invoke(goal_oriented("goal", silent))
    assert style.invoke(goal_oriented("goal", never)) == "never"
    assert log.ran == ["never"]


def test_what_an_agent_gives_in_the_background_is_waited_for(style: Style) -> None:
    slow = agent(name="slow", output_key="goal", background=True)(lambda: "late")
    assert style.invoke(goal_oriented("goal", slow)) == "late"


def test_it_is_a_part_like_any_other_and_writes_its_goal(style: Style) -> None:
    made = sequence(goal_oriented("story", write), publish)
    assert made.inputs == ("topic",)
    assert style.invoke(made, topic="bees") == "published: a story about bees"


KEYS = "abcdef"


@st.composite
def teams(draw: st.DrawFn) -> list[Node]:
    made: list[Node] = []
    for index in range(draw(st.integers(1, 5))):
        keys = draw(st.frozensets(st.sampled_from(KEYS), max_size=2))
        node = as_agent(agent(name=f"agent{index}", output_key=draw(st.sampled_from(KEYS)))(lambda: None))
        node._reading = type(node._reading)(  # type: ignore[attr-defined]
            tuple(Need(key) for key in sorted(keys)), {}, Any
        )
        made.append(node)
    return made


def leads(way: Sequence[Node], present: frozenset[str], goal: str) -> bool:
    keys = set(present)
    for each in way:
        if not keys.issuperset(each.inputs):
            return False
        keys.add(str(each.output_key))
    return goal in keys


@given(teams(), st.frozensets(st.sampled_from("bcdef"), max_size=3))
def test_no_shorter_way_exists(team: list[Node], present: frozenset[str]) -> None:
    ways = (way for length in range(1, len(team) + 1) for way in permutations(team, length))
    shortest = next((way for way in ways if leads(way, present, "a")), None)
    found = shortest_path("a", team, present)
    assert len(found) == len(shortest or ())
    assert not found or leads(found, present, "a")


def test_a_long_way_of_many_agents_is_found_at_once() -> None:
    """Each key has one writer, so there is nothing to try out."""
    team = []
    for n in range(40):
        node = as_agent(agent(name=f"agent{n}", output_key=f"key{n}")(lambda: None))
        needs = tuple(Need(f"key{each}") for each in range(n))
        node._reading = type(node._reading)(needs, {}, Any)  # type: ignore[attr-defined]
        team.append(node)
    assert shortest_path("key39", team[::-1], ()) == team
