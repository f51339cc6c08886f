"""Agents in the background: what they read and write does not depend on who is faster."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from aiservices import ConfigurationError, InMemoryStore
from aiservices.agentic import (
    Agent,
    Completed,
    ErrorContext,
    Failed,
    Recovery,
    agent,
    loop,
    parallel,
    sequence,
)

from .styles import Log, Style, fails_once, value_of


@agent(output_key="n", background=True)
def count(n: int = 0) -> int:
    return n + 1


@agent(output_key="sum", background=True)
async def add(n: int, sum: int = 0) -> int:  # noqa: A002
    return sum + n


def test_one_that_reads_what_it_writes_does_not_wait_for_itself(style: Style) -> None:
    outcome = style.run(loop(count, add, max_iterations=4))
    assert isinstance(outcome, Completed)
    assert outcome.scope.state == {"n": 4, "sum": 10}


def test_it_does_not_wait_for_itself_when_it_is_tried_again(style: Style) -> None:
    @agent(output_key="n", background=True)
    def flaky(n: int) -> int:
        if n < 5:
            raise ZeroDivisionError
        return n + 1

    def help_out(context: ErrorContext) -> Any:
        context.scope.write("n", context.scope.peek("n") + 4)
        return Recovery.retry()

    outcome = style.run(sequence(flaky, on_error=help_out), n=1)
    assert isinstance(outcome, Completed)
    assert outcome.scope.state == {"n": 6}


def test_it_reads_what_was_there_when_it_was_called(style: Style) -> None:
    watch, change = watcher()
    assert [style.run(sequence(watch, change), x=1).scope.read("seen") for _ in range(20)] == [1] * 20


def test_it_reads_the_same_when_it_runs_again_after_a_crash(
    style: Style, store: InMemoryStore, log: Log
) -> None:
    watch, change = watcher(fails_once(log, "watch"))
    made = sequence(watch, change, store=store)
    assert isinstance(style.run(made, memory_id="m", x=1), Failed)
    assert style.resume(made, "m").scope.state == {"x": 2, "seen": 1}


def watcher(first: Callable[[], Any] = lambda: None) -> tuple[Any, Any]:
    """An agent in the background that notes a key, and one after it that changes the key."""

    @agent(output_key="seen", background=True)
    def watch(x: int) -> int:
        first()
        return x

    return watch, agent(name="change", output_key="x")(lambda: 2)


def test_of_two_that_write_one_key_the_later_one_waits_for_the_earlier_one(style: Style) -> None:
    begun = threading.Event()

    @agent(output_key="key", background=True)
    def early() -> str:
        begun.wait(0.05)  # long enough for the other one to begin, were it not to wait
        return "early"

    @agent(output_key="key", background=True)
    def late() -> str:
        begun.set()
        return "late"

    assert style.run(sequence(early, late)).scope.state == {"key": "late"}


slow = agent(name="slow", output_key="key", background=True)(lambda: 1)
plain = agent(name="plain", output_key="key")(lambda: 2)


@pytest.mark.parametrize(
    "build",
    [
        lambda: sequence(slow, plain),
        lambda: sequence(slow, sequence(plain)),
        lambda: loop(plain, slow),
        lambda: parallel(plain, slow),
    ],
)
def test_a_key_that_others_write_meanwhile_is_refused(build: Callable[[], Agent]) -> None:
    """AGT-20"""
    with pytest.raises(ConfigurationError, match=r"'key'.*output_key"):
        build()


@pytest.mark.parametrize(
    "build",
    [
        lambda: sequence(plain, slow),
        lambda: sequence(sequence(slow), plain),  # a composite ends when all its agents have
        lambda: loop(slow, max_iterations=2),
    ],
)
def test_a_key_that_is_written_before_or_by_itself_is_not(style: Style, build: Callable[[], Agent]) -> None:
    assert value_of(style.run(build())) in (1, 2)
