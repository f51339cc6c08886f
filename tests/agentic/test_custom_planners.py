"""Planners of the user's: what they are asked, what they see, and what becomes of their mistakes."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from aiservices.agentic import (
    Action,
    Completed,
    Planner,
    PlanningContext,
    Suspended,
    agent,
    call,
    done,
    noop,
    planned,
    suspend,
)
from aiservices.errors import AgentError, ConfigurationError

from .styles import Log, Style


class ByPairs(Planner):
    """Two agents at once, then as many as have ended."""

    def __init__(self) -> None:
        self.next = 0

    def first_action(self, context: PlanningContext) -> Action:
        self.next = 2
        return call(*context.agents[:2])

    def next_action(self, context: PlanningContext) -> Action:
        if self.next >= len(context.agents):
            return done(context.scope.read("result"))
        self.next += 1
        return call(context.agents[self.next - 1])


def test_calls_that_are_wanted_while_others_run_are_made_together_afterwards(style: Style) -> None:
    """U1: in batches of 2, 2 and 1."""
    batches: list[set[str]] = []
    meeting = threading.Barrier(2, action=lambda: batches.append(set()))

    def a_is_5() -> int:
        meeting.wait(5)
        return 5

    def b_is_10() -> int:
        meeting.wait(5)
        return 10

    def twice_a(a: int) -> int:
        meeting.wait(5)
        return a * 2

    def twice_b(b: int) -> int:
        meeting.wait(5)
        return b * 2

    agents = [
        agent(output_key="a")(a_is_5),
        agent(output_key="b")(b_is_10),
        agent(output_key="a")(twice_a),
        agent(output_key="b")(twice_b),
        agent(name="sum", output_key="result")(lambda a, b: a + b),
    ]
    assert style.invoke(planned(ByPairs, *agents)) == 30
    assert len(batches) == 2


class OnceMore(Planner):
    """Each agent again when it has ended for the first time."""

    def __init__(self) -> None:
        self.again = 0

    def first_action(self, context: PlanningContext) -> Action:
        return call(*context.agents)

    async def next_action(self, context: PlanningContext) -> Action:
        if self.again == len(context.agents):
            return done()
        self.again += 1
        assert context.previous is not None
        return call(next(each for each in context.agents if each.name == context.previous.agent))


def test_none_of_many_completions_is_lost(style: Style, log: Log) -> None:
    """U2"""
    style.invoke(planned(OnceMore, *(log.agent(str(number)) for number in range(8))))
    assert sorted(log.ran) == sorted([*map(str, range(8))] * 2)


class Waits(Planner):
    """Calls all, waits for all, then is done with what it has seen."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def next_action(self, context: PlanningContext) -> Action:
        if context.previous is None:
            return call(*context.agents)
        self.seen.append(context.previous.output)
        return done(sorted(self.seen)) if len(self.seen) == len(context.agents) else noop()


def test_noop_waits_for_those_that_run(style: Style, log: Log) -> None:
    """U3"""
    assert style.invoke(planned(Waits, log.agent("a"), log.agent("b"), log.agent("c"))) == ["a", "b", "c"]


class Gives(Planner):
    action: Any = None

    def next_action(self, context: PlanningContext) -> Action:
        return self.action  # type: ignore[no-any-return]


@pytest.mark.parametrize(("action", "says"), [(noop(), "gave noop"), (None, "gave None"), (7, "gave 7")])
def test_a_planner_that_stops_the_run_is_named(style: Style, log: Log, action: Any, says: str) -> None:
    class Bad(Gives):
        pass

    Bad.action = action
    with pytest.raises(AgentError, match=f"the planner Bad {says}"):
        style.invoke(planned(Bad, log.agent("a")))


def test_a_planner_that_gives_nothing_after_an_agent_is_named(style: Style, log: Log) -> None:
    class Once(Planner):
        def next_action(self, context: PlanningContext) -> Any:
            return call(*context.agents) if context.previous is None else noop()

    with pytest.raises(AgentError, match=r"planned: the planner Once gave noop\(\) while nothing is running"):
        style.invoke(planned(Once, log.agent("a")))


def test_a_planner_that_calls_a_stranger_is_told_whom_it_has(style: Style, log: Log) -> None:
    class Bad(Gives):
        action = call(log.agent("stranger"))

    with pytest.raises(
        AgentError, match=r"none of its agents: give it one of context\.agents, whose names are 'a', 'b'"
    ):
        style.invoke(planned(Bad, log.agent("a"), log.agent("b")))


def test_agents_are_named_as_given_or_as_the_context_has_them(style: Style, log: Log) -> None:
    given = log.agent("a")

    class Calls(Planner):
        def next_action(self, context: PlanningContext) -> Action:
            return call(given) if context.previous is None else done(context.previous.output * 2)

    assert style.invoke(planned(Calls, given)) == "aa"


def test_calling_nobody_is_a_mistake() -> None:
    with pytest.raises(AgentError, match="names no agent"):
        call()


def test_done_without_a_value_gives_that_of_the_last_agent(style: Style, log: Log) -> None:
    class Both(Planner):
        def next_action(self, context: PlanningContext) -> Action:
            return call(*context.agents) if context.previous is None else done()

    outcome = style.run(planned(Both, log.agent("a"), log.agent("b")))
    assert isinstance(outcome, Completed)
    assert (outcome.value, outcome.stop_reason) == ("b", "done")


def test_a_planner_may_say_why_it_ends(style: Style, log: Log) -> None:
    class Quorum(Planner):
        def next_action(self, context: PlanningContext) -> Action:
            return done(7, reason="quorum")

    outcome = style.run(planned(Quorum, log.agent("a")))
    assert isinstance(outcome, Completed)
    assert (outcome.value, outcome.stop_reason, log.ran) == (7, "quorum", [])


def test_each_run_has_a_planner_of_its_own_that_is_initialised(style: Style, log: Log) -> None:
    made = []

    class Noted(Waits):
        async def init(self, context: PlanningContext) -> None:
            made.append([each.name for each in context.agents])

    twice = planned(Noted, log.agent("a"))
    assert [style.invoke(twice), style.invoke(twice)] == [["a"], ["a"]]
    assert made == [["a"], ["a"]]


def test_a_planner_may_suspend_the_run(style: Style, log: Log) -> None:
    class Pauses(Gives):
        action = suspend()

    assert isinstance(outcome := style.run(planned(Pauses, log.agent("a"))), Suspended)
    assert outcome.pending == ()


@pytest.mark.parametrize("planner", [Waits(), None, 7])
def test_what_cannot_make_planners_is_refused(planner: Any, log: Log) -> None:
    with pytest.raises(ConfigurationError, match="cannot make a planner for each run"):
        planned(planner, log.agent("a"))


def test_what_a_factory_makes_is_a_planner(style: Style, log: Log) -> None:
    with pytest.raises(AgentError, match="made 7, which is no Planner"):
        style.invoke(planned(lambda: 7, log.agent("a")))  # type: ignore[arg-type,return-value]


def test_an_error_of_a_planner_is_the_composites(style: Style, log: Log) -> None:
    class Fails(Planner):
        def next_action(self, context: PlanningContext) -> Action:
            raise ZeroDivisionError("in the planner")

    with pytest.raises(ZeroDivisionError, match="in the planner"):
        style.invoke(planned(Fails, log.agent("a")))
