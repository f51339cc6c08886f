"""Agents that run whenever what they read has changed."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from aiservices.agentic import AgenticScope, Completed, agent, peer_to_peer
from aiservices.errors import MissingInputError

from .styles import Style


def ran(outcome: Any) -> list[str]:
    return [each.agent for each in outcome.scope.invocations]


@agent(output_key="key1")
def produce(seed: int) -> int:
    return seed + 1


def test_both_consumers_of_a_key_run_side_by_side(style: Style) -> None:
    """H7"""
    meeting = threading.Barrier(2)

    @agent(output_key="left")
    def one(key1: int) -> int:
        meeting.wait(10)
        return key1 * 2

    @agent(output_key="right")
    def two(key1: int) -> int:
        meeting.wait(10)
        return key1 * 3

    made = peer_to_peer(one, two, produce, output=lambda scope: (scope.read("left"), scope.read("right")))
    outcome = style.run(made, seed=1)
    assert isinstance(outcome, Completed)
    assert (outcome.value, outcome.stop_reason) == ((4, 6), "quiescent")
    assert ran(outcome) == ["produce", "one", "two"]


def test_who_reads_what_two_have_written_at_once_runs_once(style: Style) -> None:
    @agent(output_key="a")
    def one(seed: int) -> int:
        return seed

    @agent(output_key="b")
    def two(seed: int) -> int:
        return seed

    def left(a: int, b: int = 0) -> int:
        return a + b

    def right(b: int, a: int = 0) -> int:
        return a + b

    outcome = style.run(peer_to_peer(one, two, left, right), seed=1)
    assert ran(outcome) == ["one", "two", "left", "right"]


def test_agents_run_again_until_nothing_changes_any_more(style: Style) -> None:
    @agent(output_key="draft")
    def polish(draft: str) -> str:
        return draft.replace("  ", " ")

    outcome = style.run(peer_to_peer(polish), draft="a    b")
    assert isinstance(outcome, Completed)
    assert (outcome.value, outcome.stop_reason) == ("a b", "quiescent")
    assert len(ran(outcome)) == 3


def test_a_list_that_is_changed_in_place_has_changed(style: Style) -> None:
    @agent(output_key="items")
    def grow(items: list) -> list:  # type: ignore[type-arg]
        if len(items) < 3:
            items.append(len(items))
        return items

    assert style.invoke(peer_to_peer(grow), items=[]) == [0, 1, 2]


@agent(output_key="n")
def count(n: int) -> int:
    return n + 1


def test_after_the_most_invocations_it_ends_with_the_last_value(style: Style) -> None:
    outcome = style.run(peer_to_peer(count, max_invocations=4), n=0)
    assert isinstance(outcome, Completed)
    assert (outcome.value, outcome.stop_reason) == (4, "limit")
    assert len(ran(style.run(peer_to_peer(count), n=0))) == 10


def test_no_more_agents_are_called_than_the_most_invocations(style: Style) -> None:
    other = agent(name="other")(lambda n: n)
    outcome = style.run(peer_to_peer(count, other, max_invocations=3), n=0)
    assert ran(outcome) == ["count", "other", "count"]


@pytest.mark.parametrize("takes_number", [True, False])
def test_it_ends_when_the_condition_holds(style: Style, takes_number: bool) -> None:
    def at_two(scope: AgenticScope) -> bool:
        return bool(scope.read("n") == 2)

    async def twice(scope: AgenticScope, invocations: int) -> bool:
        return invocations == 2

    outcome = style.run(peer_to_peer(count, until=twice if takes_number else at_two), n=0)
    assert isinstance(outcome, Completed)
    assert (outcome.value, outcome.stop_reason) == (2, "condition")


def test_a_key_that_nobody_writes_is_missed_at_once(style: Style) -> None:
    with pytest.raises(MissingInputError, match="'seed'"):
        style.invoke(peer_to_peer(produce))


def test_agents_that_wait_for_one_another_end_in_silence(style: Style) -> None:
    one = agent(name="one", output_key="a")(lambda b: b)
    two = agent(name="two", output_key="b")(lambda a: a)
    outcome = style.run(peer_to_peer(one, two))
    assert isinstance(outcome, Completed)
    assert (outcome.value, outcome.stop_reason, ran(outcome)) == (None, "quiescent", [])


def test_a_value_that_can_neither_be_copied_nor_compared_counts_as_new(style: Style) -> None:
    class Odd:
        def __deepcopy__(self, memo: object) -> Odd:
            raise TypeError("one of a kind")

        def __eq__(self, other: object) -> bool:
            raise ValueError("who knows")

        __hash__ = None  # type: ignore[assignment]

    @agent(output_key="odd")
    def use(odd: Any) -> Any:
        return Odd()

    assert len(ran(style.run(peer_to_peer(use, max_invocations=3), odd=Odd()))) == 3


def test_fewer_than_one_invocation_is_refused() -> None:
    with pytest.raises(ValueError, match="max_invocations"):
        peer_to_peer(count, max_invocations=0)
