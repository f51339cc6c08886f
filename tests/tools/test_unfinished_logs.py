"""Logs that are written while somebody gives up: they hold what is still open, and nothing else."""

from __future__ import annotations

import asyncio
import time

import pytest

from aiservices import TimeLimit, recover, tool
from aiservices.tools.leases import LEASES

from .calling import Invoke, World, call, service
from .watching import SlowStore, WatchedStore


def test_what_is_cancelled_while_its_success_is_noted_stays_in_the_log_until_it_is_undone() -> None:
    store, world, broken = WatchedStore(), World(), [True]

    @tool
    def book(what: str) -> str:
        return world.book(what)

    @book.compensation
    def cancel(what: str, result: str | None) -> None:
        if broken:
            raise OSError
        world.cancel(what, result)

    asked, _ = service(call("book", what="a"), "ok", tools=[book], compensation_log=store)

    async def cancelled() -> None:
        asking = asyncio.ensure_future(asked.aask("hi"))
        store.fail = lambda done: done.startswith("delete") and asking.cancel() and False
        with pytest.raises(asyncio.CancelledError):
            await asking

    asyncio.run(cancelled())
    assert store.keys(LEASES) == []
    broken.clear()
    assert [execution.value for execution in recover(store, [book]).undone] == ["#a"]
    assert (world.standing, store.left) == ([], [])


def slowly(invoke: Invoke, slow: str) -> tuple[World, SlowStore]:
    """What a call leaves for which nobody waits as long as one kind of write takes."""
    store, world = SlowStore(slow), World()
    interceptors = [TimeLimit(0.05)]
    asked, _ = service(
        call("book", what="a"), "ok", tools=[world.tool()], interceptors=interceptors, compensation_log=store
    )
    assert invoke(asked, "ask", "hi").content == "ok"
    time.sleep(0.2)
    return world, store


def test_an_outcome_that_is_written_too_slowly_does_not_come_back_after_its_undo(invoke: Invoke) -> None:
    """`recover` would undo it once more."""
    world, store = slowly(invoke, "put 000000.0 done")
    assert world.log == ["book a", "cancel a #a"]
    assert store.left == []


@pytest.mark.parametrize("slow", ["put lease", "put 000000.0"])
def test_an_intent_that_is_written_too_slowly_does_not_outlive_its_call(invoke: Invoke, slow: str) -> None:
    """`recover` would undo what never ran."""
    world, store = slowly(invoke, slow)
    assert world.log == []
    assert store.left == []
