"""Doing something again and again: it is stopped, ends by itself, and costs no thread of its own."""

from __future__ import annotations

import gc
import threading
import time
import weakref

import pytest

from aiservices.driving import Heartbeat


def test_a_heartbeat_beats_until_it_is_stopped() -> None:
    beats: list[float] = []

    def beat() -> bool:
        beats.append(time.monotonic())
        return True

    heart = Heartbeat(0.01, beat)
    time.sleep(0.1)
    heart.stop().result(2)
    count = len(beats)
    assert 2 <= count <= 10
    time.sleep(0.03)
    assert len(beats) == count


def test_a_heartbeat_ends_by_itself_when_it_is_told_to() -> None:
    heart = Heartbeat(0.001, lambda: False)
    heart.ended.result(2)


def test_stopping_waits_for_a_beat_under_way() -> None:
    log: list[str] = []

    def beat() -> bool:
        log.append("begin")
        time.sleep(0.03)
        log.append("end")
        return True

    heart = Heartbeat(0.001, beat)
    while not log:
        time.sleep(0.001)
    heart.stop().result(2)
    assert log == ["begin", "end"]


def test_what_a_beat_raises_ends_it_and_is_told() -> None:
    def beat() -> bool:
        raise OSError("the store is down")

    heart = Heartbeat(0.001, beat)
    with pytest.raises(OSError, match="the store is down"):
        heart.ended.result(2)
    assert heart.stop().done()


def test_many_wait_in_one_thread() -> None:
    hearts = [Heartbeat(60, lambda: True) for _ in range(50)]
    assert [each.name for each in threading.enumerate()].count("aiservices-clock") == 1
    for heart in hearts:
        heart.stop().result(2)


def test_one_that_is_due_sooner_does_not_wait_for_the_others() -> None:
    late, beaten = Heartbeat(60, lambda: True), threading.Event()
    soon = Heartbeat(0.001, lambda: beaten.set() or True)  # type: ignore[func-returns-value]
    assert beaten.wait(2)
    for heart in (late, soon):
        heart.stop().result(2)


def test_a_stopped_one_keeps_nothing_alive() -> None:
    class Owner:
        def beat(self) -> bool:
            return True

    owner = Owner()
    gone = weakref.ref(owner)
    heart = Heartbeat(60, owner.beat)
    heart.stop().result(2)
    del owner, heart
    gc.collect()
    assert gone() is None
