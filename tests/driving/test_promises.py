"""A promise is kept once, and whoever waits goes on, in threads and on event loops."""

from __future__ import annotations

import asyncio
import threading

import pytest

from aiservices.driving import ASYNCHRONOUS, BLOCKING, Promise


def test_waiting_ends_when_it_is_kept() -> None:
    promise, went_on = Promise(), threading.Event()
    thread = threading.Thread(target=lambda: (promise.wait(), went_on.set()))
    thread.start()
    assert not promise.is_kept
    promise.keep()
    thread.join(5)
    assert went_on.is_set()
    assert promise.is_kept
    promise.wait()
    BLOCKING.run(promise.kept(BLOCKING))


def test_waiting_on_an_event_loop_lets_it_go_on() -> None:
    promise = Promise()

    async def both() -> None:
        waiting = asyncio.create_task(ASYNCHRONOUS.run(promise.kept(ASYNCHRONOUS)))
        await asyncio.sleep(0)
        assert not waiting.done()
        promise.keep()
        await waiting

    asyncio.run(both())


def test_the_first_keeping_counts() -> None:
    promise = Promise()
    promise.keep(ZeroDivisionError("boom"))
    promise.keep()
    with pytest.raises(ZeroDivisionError, match="boom"):
        promise.wait()


def test_blocking_an_event_loop_is_refused() -> None:
    promise = Promise()

    async def block() -> None:
        promise.wait()

    with pytest.raises(RuntimeError, match="cannot be done on an event loop"):
        asyncio.run(block())


def test_who_is_cancelled_does_not_break_it_for_others() -> None:
    promise = Promise()

    async def cancelled() -> None:
        waiting = asyncio.create_task(promise.kept(ASYNCHRONOUS))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(cancelled())
    promise.keep()
    promise.wait()
