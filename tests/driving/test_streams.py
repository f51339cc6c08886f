"""Streams: `Emit` hands an event to the reader, and nothing runs ahead of it."""

import asyncio
import contextvars
import gc
from collections.abc import Coroutine
from contextvars import ContextVar
from typing import Any

import pytest

from aiservices.driving import ASYNCHRONOUS, BLOCKING, Emit

from .conftest import Drive

tenant: ContextVar[str] = ContextVar("tenant", default="?")


def read_while(drive: Drive, coroutine: Coroutine[Any, Any, Any], reader: Any) -> None:
    """Tell the reader each event, before the coroutine goes on."""
    if drive.driver is BLOCKING:
        for event in BLOCKING.events(coroutine):
            reader(event)
        return

    async def reading() -> None:
        async for event in ASYNCHRONOUS.events(coroutine):
            reader(event)

    asyncio.run(reading())


def test_the_coroutine_waits_for_its_reader_at_every_event(drive: Drive) -> None:
    log: list[str] = []

    async def emitting() -> None:
        for i in range(3):
            log.append(f"made {i}")
            await Emit(i)
        log.append("ended")

    read_while(drive, emitting(), lambda event: log.append(f"read {event}"))
    assert log == ["made 0", "read 0", "made 1", "read 1", "made 2", "read 2", "ended"]


def test_nothing_runs_before_the_first_event_is_asked_for(drive: Drive) -> None:
    log: list[str] = []

    async def emitting() -> None:
        log.append("began")
        await Emit(1)

    events = drive.driver.events(emitting())  # type: ignore[attr-defined]
    assert log == []
    del events


def test_events_of_any_depth_and_of_any_kind_arrive(drive: Drive) -> None:
    async def inner() -> None:
        await Emit(None)
        await Emit("a")

    async def outer() -> None:
        await inner()
        await Emit(0)

    assert drive.read(outer()) == [None, "a", 0]


def test_an_error_comes_after_the_events_before_it(drive: Drive) -> None:
    async def failing() -> None:
        await Emit(1)
        raise KeyError("x")

    read: list[object] = []
    with pytest.raises(KeyError, match="x"):
        read_while(drive, failing(), read.append)
    assert read == [1]


async def tidying(drive: Drive, log: list[str], depth: int = 2) -> None:
    """Cleans up on every level, where cleaning up emits and awaits again."""
    try:
        if depth:
            await tidying(drive, log, depth - 1)
        for i in range(3):
            await Emit(i)
    except BaseException as error:
        log.append(f"{depth} left by {type(error).__name__}")
        raise
    finally:
        await Emit("nobody reads this")
        await drive.driver.call(asyncio.sleep, 0.001)
        log.append(f"{depth} tidy")


def test_closing_early_cleans_up_once_on_every_level_and_may_await(drive: Drive) -> None:
    log: list[str] = []
    assert drive.read(tidying(drive, log), most=2) == [0, 1]
    assert log == [
        "0 left by CancelledError",
        "0 tidy",
        "1 left by CancelledError",
        "1 tidy",
        "2 left by CancelledError",
        "2 tidy",
    ]


def test_an_error_while_cleaning_up_is_not_lost(drive: Drive) -> None:
    async def failing() -> None:
        try:
            await Emit(1)
        finally:
            raise KeyError("while cleaning up")

    with pytest.raises(KeyError, match="while cleaning up"):
        drive.read(failing(), most=1)


def test_a_coroutine_may_end_quietly_when_it_is_closed(drive: Drive) -> None:
    async def quiet() -> None:
        try:
            await Emit(1)
        except asyncio.CancelledError:
            await Emit("nobody reads this")

    assert drive.read(quiet(), most=1) == [1]


def test_a_read_stream_is_at_its_end_for_good(drive: Drive) -> None:
    async def emitting() -> None:
        await Emit(1)

    if drive.driver is BLOCKING:
        events = BLOCKING.events(emitting())
        assert (list(events), list(events)) == ([1], [])


class TestABlockingStream:
    def test_that_is_dropped_cleans_up(self) -> None:
        log: list[str] = []

        async def emitting() -> None:
            try:
                await Emit(1)
            finally:
                log.append("tidy")

        for _ in BLOCKING.events(emitting()):
            break
        gc.collect()
        assert log == ["tidy"]

    def test_hands_on_an_error_that_its_reader_throws_in(self) -> None:
        async def recovering() -> None:
            with pytest.raises(ValueError, match="from the reader"):
                await Emit(1)

        events: Any = BLOCKING.events(recovering())
        next(events)
        with pytest.raises(ValueError, match="from the reader"):
            events.throw(ValueError("from the reader"))


class TestAnAsynchronousStream:
    def test_that_is_dropped_is_closed_by_its_loop(self) -> None:
        log: list[str] = []

        async def emitting() -> None:
            try:
                await Emit(1)
            finally:
                await asyncio.sleep(0)
                log.append("tidy")

        async def main() -> None:
            async for _ in ASYNCHRONOUS.events(emitting()):
                break
            await asyncio.sleep(0.01)

        asyncio.run(main())
        assert log == ["tidy"]

    def test_passes_a_cancellation_on(self) -> None:
        log: list[str] = []

        async def emitting() -> None:
            await Emit(1)
            try:
                await asyncio.sleep(10)
            finally:
                await asyncio.sleep(0)
                log.append("tidy")

        async def main() -> None:
            task = asyncio.create_task(_drain(emitting()))
            await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        asyncio.run(main())
        assert log == ["tidy"]

    def test_closes_task_groups_without_a_group_of_errors(self) -> None:
        async def emitting() -> None:
            async with asyncio.TaskGroup() as group:
                group.create_task(asyncio.sleep(10))
                await Emit(1)

        async def main() -> None:
            events: Any = ASYNCHRONOUS.events(emitting())
            await anext(events)
            await events.aclose()

        asyncio.run(main())


async def _drain(coroutine: Coroutine[Any, Any, Any]) -> None:
    async for _ in ASYNCHRONOUS.events(coroutine):
        pass


def test_what_a_stream_sets_in_its_context_stays_there(drive: Drive) -> None:
    async def setting() -> None:
        token = tenant.set("inside")
        await Emit(tenant.get())
        await Emit(tenant.get())
        tenant.reset(token)

    seen: list[object] = []
    tenant.set("outside")
    read_while(drive, setting(), lambda event: seen.extend((event, tenant.get())))
    assert seen == ["inside", "outside"] * 2


def test_a_stream_can_be_closed_from_another_context() -> None:
    async def setting() -> None:
        token = tenant.set("inside")
        try:
            await Emit(1)
        finally:
            tenant.reset(token)

    events: Any = BLOCKING.events(setting())
    next(events)
    contextvars.Context().run(events.close)
