"""Runs that are saved: resumed where they stopped, restarted, forgotten, and run by one at a time."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import Any

import pytest
from pydantic import BaseModel

from aiservices import InMemoryStore, UserMessage
from aiservices.agentic import (
    Completed,
    ErrorContext,
    Failed,
    Planner,
    PlanningContext,
    Recovery,
    agent,
    call,
    done,
    human_in_the_loop,
    loop,
    parallel,
    parallel_map,
    planned,
    sequence,
)
from aiservices.agentic.owning import LEASES
from aiservices.agentic.records import RUNS
from aiservices.errors import AgentError

from .styles import Log, Style, fails_once, value_of


class Color(Enum):
    RED = "red"


@dataclass
class Point:
    x: int
    when: date


class Person(BaseModel):
    name: str
    home: Point


def test_a_failed_run_goes_on_at_the_agent_that_failed(style: Style, store: InMemoryStore, log: Log) -> None:
    """V24"""
    made = sequence(log.agent("a"), fails_once(log, "b"), log.agent("c"), store=store)
    failed = style.run(made, memory_id="m")
    assert isinstance(failed, Failed)
    assert isinstance(failed.error, ZeroDivisionError)
    outcome = style.resume(made, "m")
    assert value_of(outcome) == "c"
    assert log.ran == ["a", "b", "b", "c"]
    assert [each.agent for each in outcome.scope.invocations] == ["a", "b", "c"]


def test_a_run_that_is_over_gives_its_result_without_a_call(
    style: Style, store: InMemoryStore, log: Log
) -> None:
    made = loop(log.agent("a", "x", Point(1, date(2024, 1, 2))), max_iterations=2, store=store)
    style.run(made, memory_id="m")
    outcome = style.resume(made, "m")
    assert isinstance(outcome, Completed)
    assert (outcome.value, outcome.stop_reason) == (Point(1, date(2024, 1, 2)), "limit")
    assert outcome.scope.read("x") == outcome.value
    assert log.ran == ["a", "a"]


def test_an_unknown_run_cannot_be_resumed(style: Style, store: InMemoryStore, log: Log) -> None:
    with pytest.raises(AgentError, match="there is no run 'sequence/m'"):
        style.resume(sequence(log.agent("a"), store=store), "m")
    with pytest.raises(AgentError, match="has no store"):
        style.resume(sequence(log.agent("a")), "m")


def test_a_plain_run_does_not_go_over_an_unfinished_one(style: Style, store: InMemoryStore, log: Log) -> None:
    made = sequence(fails_once(log, "a"), store=store)
    style.run(made, memory_id="m")
    with pytest.raises(AgentError, match=r"'sequence/m' is unfinished \(failed\): resume"):
        style.run(made, memory_id="m")
    assert value_of(style.run(made, memory_id="other")) == "a"
    style.resume(made, "m")
    assert value_of(style.run(made, memory_id="m")) == "a"
    assert log.ran == ["a"] * 4


def test_restarting_begins_anew_with_other_inputs_or_with_the_same(
    style: Style, store: InMemoryStore
) -> None:
    ran = []

    def double(x: int) -> int:
        ran.append(x)
        if len(ran) == 1:
            raise ZeroDivisionError
        return x * 2

    made = sequence(agent(output_key="y")(double), store=store)
    style.run(made, x=1, memory_id="m")
    assert value_of(style.restart(made, "m")) == 2
    outcome = style.restart(made, "m", x=5)
    assert (value_of(outcome), outcome.scope.state) == (10, {"x": 5, "y": 10})
    assert value_of(style.restart(made, memory_id="new", x=3)) == 6
    assert value_of(made.restart(memory_id="new", x=4)) == 8
    assert value_of(asyncio.run(made.arestart(memory_id="new", x=5))) == 10
    assert ran == [1, 1, 5, 3, 4, 5]


def test_a_run_can_be_forgotten(store: InMemoryStore, log: Log) -> None:
    """AGT-32"""
    made = sequence(log.agent("a"), store=store)
    made.run(memory_id="m")
    assert (made.forget("m"), made.forget("m"), asyncio.run(made.aforget("m"))) == (True, False, False)
    assert store.keys(RUNS) == store.keys(LEASES) == []


def test_without_a_memory_id_nothing_is_saved(style: Style, store: InMemoryStore, log: Log) -> None:
    style.run(sequence(log.agent("a"), store=store))
    assert store.keys(RUNS) == []


def test_parallel_branches_that_had_finished_do_not_run_again(
    style: Style, store: InMemoryStore, log: Log
) -> None:
    """AGT-06"""
    join = agent(name="join")(lambda b, c: f"{b} {c}")
    made = sequence(
        log.agent("a"), parallel(log.agent("b", "b"), fails_once(log, "c", "c")), join, store=store
    )
    style.run(made, memory_id="m")
    outcome = style.resume(made, "m")
    assert value_of(outcome) == "b c"
    assert sorted(log.ran) == ["a", "b", "c", "c"]
    assert [each.agent for each in outcome.scope.invocations] == ["a", "b", "c", "parallel", "join"]


def test_nested_composites_are_resumed_inside(style: Style, store: InMemoryStore, log: Log) -> None:
    inner = sequence(log.agent("b"), fails_once(log, "c"), before=lambda scope: log.ran.append("before"))
    made = sequence(log.agent("a"), sequence(inner), log.agent("d"), store=store)
    style.run(made, memory_id="m")
    assert value_of(style.resume(made, "m")) == "d"
    assert log.ran == ["a", "before", "b", "c", "c", "d"]


def test_a_round_of_a_loop_is_resumed_where_it_was(style: Style, store: InMemoryStore, log: Log) -> None:
    results = iter([None, None, None, ZeroDivisionError(), None, None, None])
    agents = [log.agent(name, value=lambda: next(results)) for name in ("a", "b")]
    made = loop(*agents, max_iterations=3, store=store)
    style.run(made, memory_id="m")
    style.resume(made, "m")
    assert log.ran == ["a", "b", "a", "b", "b", "a", "b"]


def test_items_of_a_parallel_map_that_were_done_are_not_done_again(
    style: Style, store: InMemoryStore
) -> None:
    ran = []

    def first(item: int) -> int:
        ran.append(("first", item))
        return item

    def second(half: int) -> int:
        ran.append(("second", half))
        if half == 2 and ran.count(("second", 2)) == 1:
            raise ZeroDivisionError
        return half * 10

    each = sequence(agent(output_key="half")(first), second)
    made = parallel_map(each, items="items", store=store)
    style.run(made, items=[1, 2, 3], memory_id="m")
    assert value_of(style.resume(made, "m")) == [10, 20, 30]
    assert sorted(ran) == sorted(
        [(name, i) for name in ("first", "second") for i in (1, 2, 3)] + [("second", 2)]
    )


def test_an_item_that_an_agent_has_changed_stays_changed(
    style: Style, store: InMemoryStore, log: Log
) -> None:
    change = agent(name="change", output_key="item")(lambda item: item * 10)
    each = sequence(change, fails_once(log, "flaky"), agent(name="read")(lambda item: item))
    made = parallel_map(each, items="items", store=store)
    assert isinstance(style.run(made, items=[1], memory_id="m"), Failed)
    assert value_of(style.resume(made, "m")) == [10]


class ThenThird(Planner):
    """Two agents, and when both have ended a third, which the first one to end brings about."""

    def __init__(self) -> None:
        self.asked = False

    def next_action(self, context: PlanningContext) -> Any:
        if context.previous is None:
            return call(*context.agents[:2])
        if context.previous.agent == "third" or self.asked:
            return done()
        self.asked = True
        return call(context.agents[2])

    def execution_state(self) -> Any:
        return self.asked

    def restore(self, state: Any) -> None:
        self.asked = state


def test_what_a_finished_agent_brought_about_waits_for_those_beside_it_after_a_failure_too(
    style: Style, store: InMemoryStore, log: Log
) -> None:
    def third(x: str) -> None:
        log.ran.append(x)

    agents = [log.agent("first"), fails_once(log, "second", "x"), third]
    made = planned(ThenThird, *agents, store=store)
    assert isinstance(style.run(made, memory_id="m"), Failed)
    assert isinstance(style.resume(made, "m"), Completed)
    assert sorted(log.ran) == ["first", "second", "second", "second"]


def test_background_agents_that_had_finished_do_not_run_again(
    style: Style, store: InMemoryStore, log: Log
) -> None:
    reader = agent(name="reader")(lambda late: f"read {late}")
    made = sequence(log.agent("late", "late", background=True), fails_once(log, "b"), reader, store=store)
    style.run(made, memory_id="m")
    assert value_of(style.resume(made, "m")) == "read late"
    assert sorted(log.ran) == ["b", "b", "late"]


def test_a_failed_background_agent_runs_again(style: Style, store: InMemoryStore, log: Log) -> None:
    reader = agent(name="reader")(lambda late: f"read {late}")
    made = sequence(fails_once(log, "late", "late", background=True), log.agent("b"), reader, store=store)
    assert isinstance(style.run(made, memory_id="m"), Failed)
    assert value_of(style.resume(made, "m")) == "read late"
    assert sorted(log.ran) == ["b", "late", "late"]


def test_a_result_of_a_handler_is_kept(style: Style, store: InMemoryStore, log: Log) -> None:
    def helping(context: ErrorContext) -> Any:
        return Recovery.result("helped") if context.agent == "a" else Recovery.fail()

    join = agent(name="join")(lambda x: x)
    failing = log.agent("a", "x", ZeroDivisionError)
    made = sequence(failing, fails_once(log, "b"), join, store=store, on_error=helping)
    style.run(made, memory_id="m")
    assert value_of(style.resume(made, "m")) == "helped"
    assert log.ran == ["a", "b", "b"]


def test_values_come_back_equal_and_of_their_type(style: Style, store: InMemoryStore, log: Log) -> None:
    """AGT-11"""
    values = {
        "m": UserMessage("hi"),
        "d": date(2024, 1, 2),
        "e": Color.RED,
        "b": b"\x00\xff",
        "s": {1, 2},
        "p": Person(name="Ann", home=Point(3, date(2020, 2, 29))),
    }
    made = sequence(fails_once(log, "a"), store=store, output=lambda scope: scope.state)
    style.run(made, memory_id="m", **values)
    back = value_of(style.resume(made, "m"))
    assert back == values
    assert [type(each) for each in back.values()] == [type(each) for each in values.values()]


def test_classes_of_a_function_are_known_by_the_annotations(
    style: Style, store: InMemoryStore, log: Log
) -> None:
    @dataclass
    class Local:
        x: int

    @agent(output_key="local")
    def make() -> list[Local]:
        return [Local(1)]

    made = sequence(make, fails_once(log, "b"), agent(name="c")(lambda local: local), store=store)
    style.run(made, memory_id="m")
    assert value_of(style.resume(made, "m")) == [Local(1)]


@pytest.mark.parametrize("value", [object(), lambda: 1, [object()], {"a": threading.Lock()}])
def test_what_cannot_be_saved_is_named_when_it_is_written(
    style: Style, store: InMemoryStore, log: Log, value: Any
) -> None:
    """AGT-11: before anything runs twice."""
    bad = agent(name="bad", output_key="thing")(lambda: value)
    made = sequence(bad, log.agent("after"), store=store)
    failed = style.run(made, memory_id="m")
    assert isinstance(failed, Failed)
    assert isinstance(failed.error, AgentError)
    assert "sequence/bad: its output 'thing' cannot be saved" in str(failed.error)
    with pytest.raises(AgentError, match="the value of 'thing' cannot be saved: it holds a"):
        style.run(made, memory_id="other", thing=value)
    assert log.ran == []
    assert value_of(style.run(sequence(bad))) is value


def test_what_is_saved_is_what_was_written_then(store: InMemoryStore) -> None:
    """AGT-13"""
    saved = []

    def spoil(x: list[int]) -> None:
        x.append(2)
        saved.append(store.get(RUNS, store.keys(RUNS)[0]).value["states"][""]["x"])  # type: ignore[union-attr]
        raise ZeroDivisionError

    made = sequence(agent(name="make", output_key="x")(lambda: [1]), spoil, store=store)
    made.run(memory_id="m")
    assert saved == [[1]]


def test_a_finished_agent_is_saved_before_the_planner_is_asked_and_its_state_after(
    style: Style, store: InMemoryStore, log: Log
) -> None:
    seen: list[Any] = []

    def saved() -> Any:
        entry = store.get(RUNS, "planned/m")
        assert entry is not None
        return entry.value

    class Looks(Planner):
        def __init__(self) -> None:
            self.asked = 0

        def next_action(self, context: PlanningContext) -> Any:
            self.asked += 1
            if context.previous is not None:
                seen.append((list(saved()["invocations"]), saved()["frames"][""]["planner"]))
            return call(context.agents[0]) if self.asked < 3 else done()

        def execution_state(self) -> Any:
            return self.asked

    assert value_of(style.run(planned(Looks, log.agent("a"), store=store), memory_id="m")) == "a"
    assert seen == [(["0"], 1), (["0", "1"], 2)]


def test_the_state_of_a_planner_that_cannot_be_saved_is_named(
    style: Style, store: InMemoryStore, log: Log
) -> None:
    class Bad(Planner):
        def next_action(self, context: PlanningContext) -> Any:
            return done()

        def execution_state(self) -> Any:
            return object()

    with pytest.raises(AgentError, match=r"execution_state\(\) cannot be saved"):
        style.invoke(planned(Bad, log.agent("a"), store=store), memory_id="m")


def test_a_system_that_was_changed_meanwhile_is_not_resumed_blindly(
    style: Style, store: InMemoryStore, log: Log
) -> None:
    style.run(sequence(log.agent("a"), fails_once(log, "b"), store=store), memory_id="m")
    other = sequence(log.agent("a"), log.agent("x"), log.agent("b"), store=store)
    outcome = style.resume(other, "m")
    assert isinstance(outcome, Failed)
    assert "the system was changed meanwhile" in str(outcome.error)


def test_ids_of_runs_are_known_by_their_text(style: Style, store: InMemoryStore, log: Log) -> None:
    made = sequence(fails_once(log, "a"), store=store, name="it")
    style.run(made, memory_id=1)
    assert value_of(style.resume(made, "1")) == "a"
    with pytest.raises(ValueError, match="memory id"):
        style.run(made, memory_id=" ")


def test_runs_of_systems_whose_names_and_ids_join_to_one_text_are_told_apart(
    style: Style, store: InMemoryStore, log: Log
) -> None:
    outer, inner = (sequence(log.agent(name), name=name, store=store) for name in ("a", "a/b"))
    assert value_of(style.run(outer, memory_id="b/c")) == "a"
    assert value_of(style.run(inner, memory_id="c")) == "a/b"
    assert value_of(style.resume(outer, "b/c")) == "a"


def test_answers_are_saved_values_too(style: Style, store: InMemoryStore) -> None:
    made = sequence(human_in_the_loop("ask", output_key="color"), store=store)
    (asked,) = style.run(made, memory_id="m").pending  # type: ignore[union-attr]
    with pytest.raises(AgentError, match="the answer to 'sequence/ask#0' cannot be saved"):
        style.resume(made, "m", {asked.id: object()})
    assert value_of(style.resume(made, "m", {asked.id: Color.RED})) is Color.RED
