"""Blackboard, voting, debate and intentions: planners that `planned` takes."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from aiservices.agentic import AgenticScope, Completed, agent, planned
from aiservices.agentic.planners import (
    Blackboard,
    Debate,
    Desire,
    Intentions,
    Voting,
    average,
    highest,
    majority,
    unanimous,
    unanimous_last_word,
)
from aiservices.errors import AgentError

from .styles import Log, Style, publish, write


def ran(outcome: Any) -> list[str]:
    return [each.agent for each in outcome.scope.invocations]


def test_experts_work_one_at_a_time_until_the_goal_is_there(style: Style) -> None:
    outcome = style.run(planned(partial(Blackboard, "published"), publish, write), topic="bees")
    assert isinstance(outcome, Completed)
    assert (outcome.value, outcome.stop_reason) == ("published: a story about bees", "done")
    assert ran(outcome) == ["write", "publish"]


def test_a_blackboard_that_nobody_can_add_to_is_quiescent(style: Style) -> None:
    """H10"""
    one = agent(name="one", output_key="a")(lambda b: b)
    two = agent(name="two", output_key="b")(lambda a: a)
    outcome = style.run(planned(partial(Blackboard, "a"), one, two))
    assert isinstance(outcome, Completed)
    assert (outcome.value, outcome.stop_reason, ran(outcome)) == (None, "quiescent", [])


def test_of_several_experts_one_is_chosen(style: Style, log: Log) -> None:
    experts = [log.agent(name, name) for name in ("a", "b", "c")]
    choose = partial(Blackboard, "b", choose=lambda agents, scope: agents[-1])
    style.invoke(planned(choose, *experts))
    style.invoke(planned(partial(Blackboard, lambda scope: "b" in scope.state), *experts))
    assert log.ran == ["c", "b", "a", "b"]


def test_without_a_goal_experts_work_until_nobody_has_anything_to_add(style: Style) -> None:
    outcome = style.run(planned(Blackboard, publish, write), topic="bees")
    assert isinstance(outcome, Completed)
    assert (outcome.stop_reason, ran(outcome)) == ("quiescent", ["write", "publish"])


def test_a_blackboard_whose_goal_is_not_reached_in_time_fails(style: Style) -> None:
    count = agent(name="count", output_key="n")(lambda n: n + 1)
    made = planned(partial(Blackboard, lambda scope: scope.read("n") == 4, max_invocations=3), count)
    assert style.invoke(made, n=1) == 4
    with pytest.raises(AgentError, match="not reached within 3 calls"):
        style.invoke(made, n=0)


@pytest.mark.parametrize(
    ("decide", "votes", "value"),
    [
        (majority, ["A", "B", "A"], "A"),
        (majority, ["B", "A", "A", "B", "C", "C"], "B"),
        (majority, ["A", None, "B", "B"], "B"),
        (majority, [None, None], None),
        (majority, [["x"], ["y"], ["y"]], ["y"]),
        (average, [1, 2, 3], 2),
        (highest, [1, 3, 2], 3),
        (lambda votes: sorted(votes)[0], ["c", "a", "b"], "a"),
    ],
)
def test_votes_are_decided_upon(style: Style, decide: Any, votes: list[Any], value: Any) -> None:
    """H8"""

    def voter(vote: Any) -> Any:
        return agent(name="voter")(lambda: vote)

    assert style.invoke(planned(partial(Voting, decide), *map(voter, votes))) == value


def test_the_majority_counts_unless_something_else_is_said(style: Style, log: Log) -> None:
    agents = [log.agent(f"agent{n}", value=vote) for n, vote in enumerate(("x", "y", "y"))]
    assert style.invoke(planned(Voting, *agents)) == "y"


@pytest.mark.parametrize(("answers", "agreed"), [("AAA", True), ("ABA", False), ("X", True), ("", True)])
def test_answers_agree_when_all_are_equal(answers: str, agreed: bool) -> None:
    """D1"""
    assert unanimous([*answers]) is agreed


@pytest.mark.parametrize(
    ("answers", "agreed"),
    [
        (["So I AGREE.", "Well, AGREE", "agree!"], True),
        (["I thought long.\nVERDICT: AGREE.\n", "Others may not,\nbut I\n\nAGREE"], True),
        (["I AGREE", "I DISAGREE"], False),
        ([], True),
    ],
)
def test_answers_agree_when_their_last_words_do(answers: list[str], agreed: bool) -> None:
    """D2, D3, D4"""
    assert unanimous_last_word(answers) is agreed


def debater(name: str, *answers: str) -> Any:
    said = iter(answers)

    @agent(name=name)
    def speak(debate: str) -> str:
        return next(said)

    return speak


@agent
def judge(debate: str) -> str:
    return f"judged:\n{debate}"


def test_the_debate_ends_when_all_agree_and_the_judge_has_heard_it(style: Style) -> None:
    made = planned(Debate, debater("pro", "yes", "no"), debater("con", "no", "no"), judge)
    assert made.inputs == ()
    outcome = style.run(made)
    assert isinstance(outcome, Completed)
    assert outcome.value == "judged:\npro: yes\ncon: no\npro: no\ncon: no"
    assert outcome.scope.read("debate") == "pro: yes\ncon: no\npro: no\ncon: no"


def test_after_the_last_round_the_judge_decides(style: Style) -> None:
    made = planned(partial(Debate, rounds=1), debater("pro", "yes"), debater("con", "no"), judge)
    assert style.invoke(made) == "judged:\npro: yes\ncon: no"


def test_agreement_may_be_defined(style: Style) -> None:
    talk = debater("pro", "Yes, I AGREE."), debater("con", "Not sure... agree")
    made = planned(partial(Debate, agreed=unanimous_last_word), *talk, judge)
    assert style.invoke(made) == "judged:\npro: Yes, I AGREE.\ncon: Not sure... agree"


def test_two_are_too_few_for_a_debate(style: Style) -> None:
    with pytest.raises(AgentError, match="a debate needs three agents"):
        style.invoke(planned(Debate, debater("pro"), judge))


def has(key: str) -> Any:
    def satisfied(scope: AgenticScope) -> bool:
        return key in scope.state

    return satisfied


@pytest.fixture
def team(log: Log) -> list[Any]:
    return [log.agent(name, name) for name in ("a", "b", "c")]


def test_the_desire_that_matters_most_goes_first(style: Style, log: Log, team: list[Any]) -> None:
    """H1"""
    a, b, _ = team
    desires = Desire("low", [a], has("a"), priority=1), Desire("high", [b], has("b"), priority=3)
    style.invoke(planned(partial(Intentions, *desires), *team))
    assert log.ran == ["b", "a"]


def test_a_desire_that_had_to_wait_goes_on_where_it_was(style: Style, log: Log, team: list[Any]) -> None:
    """H2"""
    a, b, c = team
    low = Desire("low", [a, b], has("b"))
    high = Desire("high", [c], has("c"), priority=1, achievable=has("a"))
    style.invoke(planned(partial(Intentions, low, high), *team))
    assert log.ran == ["a", "c", "b"]


def test_a_desire_of_equal_priority_does_not_interrupt(style: Style, log: Log, team: list[Any]) -> None:
    a, b, c = team
    one = Desire("one", [c], has("c"), achievable=has("a"))
    two = Desire("two", [a, b], has("b"))
    style.invoke(planned(partial(Intentions, one, two), *team))
    assert log.ran == ["a", "b", "c"]


def test_desires_that_take_too_many_calls_fail(style: Style, log: Log, team: list[Any]) -> None:
    """H3"""
    made = planned(partial(Intentions, Desire("all", team, has("c")), max_invocations=2), *team)
    with pytest.raises(AgentError, match="'all' is not satisfied after 2 calls"):
        style.invoke(made)
    assert log.ran == ["a", "b"]


def test_a_desire_whose_agents_did_not_satisfy_it_is_named(style: Style, team: list[Any]) -> None:
    """H4"""
    made = planned(partial(Intentions, Desire("more", team, has("d"))), *team)
    with pytest.raises(AgentError, match="the desire 'more' is not satisfied, and all its agents have run"):
        style.invoke(made)


def test_a_satisfied_desire_needs_nothing(style: Style, log: Log, team: list[Any]) -> None:
    """H5"""
    style.invoke(planned(partial(Intentions, Desire("a", team, has("a"))), *team), a="there")
    assert log.ran == []


def test_a_desire_that_was_interrupted_at_its_end_is_still_named(
    style: Style, log: Log, team: list[Any]
) -> None:
    """H6"""
    a, b, c = team
    low = Desire("low", [a, b], has("d"))
    high = Desire("high", [c], has("c"), priority=1, achievable=has("b"))
    with pytest.raises(AgentError, match="'low'"):
        style.invoke(planned(partial(Intentions, low, high), *team))
    assert log.ran == ["a", "b", "c"]
