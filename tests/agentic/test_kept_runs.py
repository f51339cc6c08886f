"""How many runs a monitor keeps, and what of them."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from aiservices.agentic import (
    Completed,
    Monitor,
    agent,
    human_in_the_loop,
    sequence,
)

from .styles import Log, Style
from .watching import quick, tree


def test_what_is_kept_cannot_be_changed(monitor: Monitor) -> None:
    quick(monitor).invoke(number=1)
    with pytest.raises(AttributeError):
        monitor.runs[0].call.agent = "other"  # type: ignore[misc]
    with pytest.raises(TypeError):
        monitor.runs[0].inputs["number"] = 2  # type: ignore[index]


def test_the_last_runs_are_kept() -> None:
    """O1"""
    monitor = Monitor(max_runs=5)
    used = quick(monitor)
    for number in range(10):
        used.invoke(number=number)
    assert [run.output for run in monitor.runs] == [5, 6, 7, 8, 9]


def test_runs_that_fail_and_runs_that_wait_have_bounds_of_their_own() -> None:
    """O2"""
    monitor = Monitor(max_runs=2)
    waiting = sequence(human_in_the_loop("boss"), listeners=[monitor])
    for number in range(4):
        quick(monitor).run(number=number)
        quick(monitor, fails=f"no {number}").run(number=number)
        waiting.run()
    assert [run.status.value for run in monitor.runs] == ["completed", "failed", "suspended"] * 2
    assert [run.error for run in monitor.runs if run.error] == ["ValueError: no 2", "ValueError: no 3"]


def test_none_are_kept_for_zero_and_fewer_are_refused() -> None:
    """O3"""
    monitor = Monitor(max_runs=0)
    quick(monitor).invoke(number=1)
    quick(monitor, fails="no").run(number=1)
    assert monitor.runs == ()
    for wrong in (-1, 1.5, True, "3"):
        with pytest.raises(ValueError, match="max_runs is"):
            Monitor(max_runs=wrong)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="max_runs is"):
            monitor.max_runs = wrong  # type: ignore[assignment]
    assert monitor.max_runs == 0


def test_clearing_keeps_what_is_running(monitor: Monitor) -> None:
    """O4"""
    begun, go_on = threading.Event(), threading.Event()

    @agent
    def slow() -> str:
        begun.set()
        assert go_on.wait(60)
        return "slow"

    quick(monitor).invoke(number=1)
    with ThreadPoolExecutor(1) as pool:
        ran = pool.submit(sequence(slow, name="long", listeners=[monitor]).invoke)
        assert begun.wait(60)
        monitor.clear()
        (run,) = monitor.runs
        assert tree(run.call) == ("long running", "slow running")
        assert run.seconds >= run.call.calls[0].seconds >= 0
        go_on.set()
        assert ran.result(60) == "slow"
    assert [(run.agent, run.status.value) for run in monitor.runs] == [("long", "completed")]
    monitor.clear()
    assert monitor.runs == ()


def test_who_ended_first_goes_first() -> None:
    monitor, begun, go_on = Monitor(max_runs=1), threading.Event(), threading.Event()

    @agent
    def slow() -> str:
        begun.set()
        assert go_on.wait(60)
        return "slow"

    with ThreadPoolExecutor(1) as pool:
        ran = pool.submit(sequence(slow, listeners=[monitor]).invoke)
        assert begun.wait(60)
        quick(monitor).invoke(number=1)
        quick(monitor).invoke(number=2)
        assert [run.output for run in monitor.runs] == [None, 2]
        go_on.set()
        ran.result(60)
    assert [run.output for run in monitor.runs] == ["slow"]


def test_a_lower_bound_holds_at_once(monitor: Monitor) -> None:
    """O5"""
    used = quick(monitor)
    for number in range(5):
        used.invoke(number=number)
    monitor.max_runs = 2
    assert [run.output for run in monitor.runs] == [3, 4]


def test_what_is_secret_is_not_kept(style: Style, log: Log) -> None:
    seen: list[str] = []

    def redact(name: str, value: Any) -> Any:
        seen.append(name)
        if name == "number":
            raise KeyError("who reads this is not to see the value")
        return "***"

    @agent
    def step(password: str, number: int) -> str:
        raise ValueError(f"wrong: {password}")

    monitor = Monitor(redact=redact)
    used = sequence(step, listeners=[monitor], name="all")
    style.run(used, password="hunter2", number=12345, memory_id="hunter2")
    sequence(human_in_the_loop("boss", question="Is it hunter2?"), listeners=[monitor]).run()
    sequence(log.agent("one", value="hunter2"), listeners=[monitor]).run()
    assert "hunter2" not in repr([list(run.call.walk()) for run in monitor.runs])
    text = monitor.html()
    assert "hunter2" not in text
    assert "12345" not in text
    assert monitor.runs[0].inputs == {"password": "***", "number": "(not kept: redact raised KeyError)"}
    assert monitor.runs[0].memory_id == "***"
    assert set(seen) == {"password", "number", "error", "question", "output", "memory_id"}


def test_an_error_that_cannot_be_told_is_named(monitor: Monitor) -> None:
    class MuteError(Exception):
        def __str__(self) -> str:
            raise RuntimeError("not even that")

    @agent
    def step() -> None:
        raise MuteError

    assert not isinstance(sequence(step, listeners=[monitor]).run(), Completed)
    assert monitor.runs[0].error == "MuteError: (it cannot say what)"


def test_many_threads_share_a_monitor(monitor: Monitor) -> None:
    used = quick(monitor)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: used.invoke(number=number), range(80)))
        assert all(tree(run.call) == ("sequence completed", "step completed") for run in monitor.runs)
    assert sorted(run.output for run in monitor.runs) == list(range(80))
