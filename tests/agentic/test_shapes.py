"""Shapes that are drawn as graphs elsewhere: forks, parts within parts, branches, and who goes next."""

from __future__ import annotations

from typing import Any

import pytest

from aiservices import InMemoryStore
from aiservices.agentic import (
    Action,
    Agent,
    AgenticScope,
    Completed,
    Planner,
    PlanningContext,
    Suspended,
    agent,
    call,
    conditional,
    done,
    human_in_the_loop,
    loop,
    parallel,
    planned,
    sequence,
)

from .styles import Log, Style


def paths(outcome: Any) -> list[str]:
    assert isinstance(outcome, Completed), outcome
    return [each.path for each in outcome.scope.invocations]


@pytest.mark.parametrize(
    ("begins", "expected"),
    [
        pytest.param(True, ["A", "A1", "A2", "A3", "B", "C"], id="LG-37"),
        pytest.param(False, ["A1", "A2", "A3", "B", "C"], id="LG-38"),
    ],
)
def test_what_follows_a_fork_runs_when_all_of_it_has_ended(
    style: Style, log: Log, begins: bool, expected: list[str]
) -> None:
    """LG-37, LG-38: what side by side has been written is there for it, in the order of the branches."""
    fork = parallel(*(log.agent(name, name.lower()) for name in ("A1", "A2", "A3")), name="fork")
    join = agent(name="B", output_key="b")(lambda a1, a2, a3: [a1, a2, a3])
    first = [log.agent("A", "a")] if begins else []
    outcome = style.run(sequence(*first, fork, join, log.agent("C")))
    told = [path.rpartition("/")[2] for path in paths(outcome)]
    assert [name for name in told if name != "fork"] == expected
    assert outcome.scope.read("b") == ["A1", "A2", "A3"]


def test_the_steps_of_a_part_come_where_the_part_stands(style: Style) -> None:
    """LG-22, LG-81, LG-82: and a step of the part may have the name of one of the whole."""

    def step(name: str) -> Any:
        def said(messages: list[str]) -> list[str]:
            return [*messages, name]

        return agent(name=name, output_key="messages")(said)

    part = sequence(step("B1"), step("B2"), step("C"), name="B")
    outcome = style.run(sequence(step("A"), part, step("C"), name="all"), messages=[])
    assert outcome.scope.read("messages") == ["A", "B1", "B2", "C", "C"]
    assert paths(outcome) == ["all/A", "all/B/B1", "all/B/B2", "all/B/C", "all/B", "all/C"]


def test_each_step_is_known_by_its_way_from_the_whole(style: Style, log: Log) -> None:
    """LG-88"""
    inner = sequence(*(log.agent(f"foo{number}") for number in (1, 2, 3)), name="foo")
    middle = sequence(log.agent("bar1"), inner, log.agent("bar2"), name="bar")
    outcome = style.run(sequence(log.agent("main1"), middle, log.agent("main2"), name="main"))
    assert log.ran == ["main1", "bar1", "foo1", "foo2", "foo3", "bar2", "main2"]
    leaves = [path for path in paths(outcome) if path[-1].isdigit()]
    assert leaves == [
        "main/main1",
        "main/bar/bar1",
        "main/bar/foo/foo1",
        "main/bar/foo/foo2",
        "main/bar/foo/foo3",
        "main/bar/bar2",
        "main/main2",
    ]


def test_what_a_step_of_a_part_removes_is_gone_for_the_whole(style: Style) -> None:
    """LG-90"""

    @agent
    def removes(scope: AgenticScope) -> None:
        scope.write("key", None)

    outcome = style.run(sequence(sequence(removes, name="part")), key="value")
    assert "key" not in outcome.scope.state


@pytest.mark.parametrize(
    ("where", "before"),
    [
        pytest.param("after B1", ["A", "B1"], id="LG-83"),
        pytest.param("before B", ["A"], id="LG-84"),
    ],
)
def test_a_run_that_waits_within_a_part_or_before_it_goes_on_there(
    style: Style, store: InMemoryStore, log: Log, where: str, before: list[str]
) -> None:
    """LG-83, LG-84"""
    person = human_in_the_loop("boss", output_key="said")
    steps = [log.agent(name) for name in ("B1", "B2", "B3")]
    inside = sequence(steps[0], *([person] if where == "after B1" else []), *steps[1:], name="B")
    outside = [person] if where == "before B" else []
    made = sequence(log.agent("A"), *outside, inside, log.agent("C"), store=store)
    waits = style.run(made, memory_id="m")
    assert isinstance(waits, Suspended)
    assert log.ran == before
    outcome = style.resume(made, "m", {waits.pending[0].id: "yes"})
    assert isinstance(outcome, Completed)
    assert log.ran == ["A", "B1", "B2", "B3", "C"]


@pytest.mark.parametrize(
    ("weather", "expected"), [("cold", "take_coat"), ("warm", "take_nothing"), ("wet", "take_umbrella")]
)
def test_what_was_found_out_decides_which_branch_is_taken(
    style: Style, log: Log, weather: str, expected: str
) -> None:
    """AJ-82"""
    found = log.agent("look", "weather", weather)
    branches = [
        (lambda scope: scope.read("weather") == "cold", log.agent("take_coat")),
        (lambda scope: scope.read("weather") == "wet", log.agent("take_umbrella")),
    ]
    made = sequence(found, conditional(*branches, otherwise=log.agent("take_nothing")))
    assert style.invoke(made) == expected
    assert log.ran == ["look", expected]


def test_what_follows_a_loop_runs_when_its_count_is_reached(style: Style, log: Log) -> None:
    """AJ-83"""
    count = agent(name="count", output_key="n")(lambda n=0: n + 1)
    counting = loop(count, until=lambda scope: scope.read("n") == 3)
    outcome = style.run(sequence(counting, log.agent("done")))
    assert isinstance(outcome, Completed)
    assert (outcome.value, outcome.scope.read("n")) == ("done", 3)


class Directed(Planner):
    """The first agent, then whoever the last one named, until nobody is."""

    def next_action(self, context: PlanningContext) -> Action:
        if context.previous is None:
            return call(context.agents[0])
        named = context.scope.read("next")
        context.scope.write("next", None)
        return done() if named is None else call(*(each for each in context.agents if each.name == named))


def test_an_agent_may_name_who_goes_next(style: Style, log: Log) -> None:
    """LG-24: what it wrote besides is there for the one it named."""

    @agent(output_key="b")
    def b(scope: AgenticScope) -> str:
        scope.write("next", "c2")
        return "written by b"

    c2 = agent(name="c2")(lambda b: f"c2 has what was {b}")
    start = agent(name="a", output_key="next")(lambda: "b")
    made: Agent = planned(Directed, start, b, log.agent("c1"), c2, name="all")
    outcome = style.run(made)
    assert paths(outcome) == ["all/a", "all/b", "all/c2"]
    assert outcome.value == "c2 has what was written by b"  # type: ignore[union-attr]
    assert log.ran == []
