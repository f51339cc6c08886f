"""A coroutine run to its end: what it returns, raises and awaits, on either drive."""

import asyncio
import gc
import warnings
from collections.abc import AsyncIterator, Iterator
from contextvars import ContextVar
from typing import Any

import pytest

from aiservices.driving import ASYNCHRONOUS, BLOCKING, Emit, KeyedLocks

from .conftest import Drive

tenant: ContextVar[str] = ContextVar("tenant", default="?")


async def nested(depth: int) -> str:
    return await nested(depth - 1) if depth else "bottom"


def test_the_value_comes_back_through_any_depth(drive: Drive) -> None:
    assert drive.run(nested(50)) == "bottom"


@pytest.mark.parametrize("kind", [ValueError, KeyError, KeyboardInterrupt, SystemExit, GeneratorExit])
def test_an_error_comes_out_as_it_was_raised(drive: Drive, kind: type[BaseException]) -> None:
    error = kind("x")

    async def failing() -> None:
        raise error

    with pytest.raises(kind) as caught:
        drive.run(failing())
    assert caught.value is error


def test_events_nobody_reads_are_dropped(drive: Drive) -> None:
    async def emitting() -> str:
        await Emit(1)
        await Emit(2)
        return "done"

    assert drive.run(emitting()) == "done"


def test_each_drive_takes_its_half_of_a_pair(drive: Drive) -> None:
    def blocking(x: int) -> tuple[str, int]:
        return "blocking", x

    async def asynchronous(x: int) -> tuple[str, int]:
        return "asynchronous", x

    value, x = drive.run(drive.driver.twin(blocking, asynchronous, 1))
    assert (value, x) == ("asynchronous" if drive.driver is ASYNCHRONOUS else "blocking", 1)


class Closing:
    """An iterator of both kinds that remembers its end."""

    def __init__(self) -> None:
        self.log: list[str] = []

    def blocking(self, count: int) -> Iterator[int]:
        try:
            yield from range(count)
        finally:
            self.log.append("closed")

    async def asynchronous(self, count: int) -> AsyncIterator[int]:
        try:
            for i in range(count):
                yield i
        finally:
            await asyncio.sleep(0)
            self.log.append("closed")


def test_iteration_can_end_early_and_closes_its_source(drive: Drive) -> None:
    source = Closing()

    async def reading() -> list[int]:
        items = drive.driver.iterate(source.blocking, source.asynchronous, 3)
        read = []
        async for item in items:
            read.append(item)
            if item == 1:
                break
        await items.aclose()
        return read

    assert drive.run(reading()) == [0, 1]
    assert source.log == ["closed"]


def test_iterators_without_an_end_of_their_own_are_closed_too(drive: Drive) -> None:
    class Endless:
        def __aiter__(self) -> "Endless":
            return self

        async def __anext__(self) -> int:
            return 1

    async def reading() -> int:
        items = drive.driver.iterate(lambda: iter([1]), Endless)
        first = await anext(items)  # type: ignore[arg-type]
        await items.aclose()
        return first

    assert drive.run(reading()) == 1


def test_sleeping_and_locking_work_on_both(drive: Drive) -> None:
    locks = KeyedLocks()

    async def working() -> tuple[bool, bool]:
        async with drive.driver.lock(locks, "a"):
            await drive.driver.sleep(0)
            return "a" in locks, "b" in locks

    assert drive.run(working()) == (True, False)
    assert "a" not in locks


class TestABlockingDrive:
    def test_refuses_what_needs_an_event_loop_where_it_is_awaited(self) -> None:
        async def wrong() -> str:
            with pytest.raises(RuntimeError, match=r"awaited something, .* use await driver.call"):
                await asyncio.sleep(0)
            return "cleaned up"

        assert BLOCKING.run(wrong()) == "cleaned up"
        with pytest.raises(RuntimeError, match="needs an event loop"):
            BLOCKING.run(asyncio.sleep(0))

    def test_names_the_future_that_was_awaited_inside_a_running_loop(self) -> None:
        async def main() -> None:
            with pytest.raises(RuntimeError, match="awaited <Future pending"):
                BLOCKING.run(asyncio.sleep(10))

        asyncio.run(main())

    def test_refuses_it_in_jobs_and_in_streams_too(self) -> None:
        with pytest.raises(RuntimeError, match="needs an event loop"):
            BLOCKING.run(BLOCKING.gather([asyncio.sleep(0), asyncio.sleep(0)]))
        with pytest.raises(RuntimeError, match="needs an event loop"):
            list(BLOCKING.events(asyncio.sleep(0)))

    def test_works_inside_a_running_loop(self) -> None:
        async def main() -> str:
            return BLOCKING.run(nested(3))

        assert asyncio.run(main()) == "bottom"


class TestAnAsynchronousDrive:
    def test_passes_a_cancellation_to_what_is_awaited(self) -> None:
        log: list[str] = []

        async def working() -> None:
            try:
                await asyncio.sleep(10)
            except asyncio.CancelledError:
                await asyncio.sleep(0)
                log.append("undone")
                raise

        async def main() -> None:
            task = asyncio.create_task(ASYNCHRONOUS.run(working()))
            await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        asyncio.run(main())
        assert log == ["undone"]

    def test_keeps_time_limits_and_task_groups_working(self) -> None:
        async def working() -> list[str]:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.01):
                    await asyncio.sleep(10)
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(nested(1)) for _ in range(2)]
            return [task.result() for task in tasks]

        assert asyncio.run(ASYNCHRONOUS.run(working())) == ["bottom", "bottom"]


def test_a_stream_that_nobody_begins_to_read_is_no_mistake(drive: Drive) -> None:
    async def emitting() -> None:
        await Emit(1)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        events: Any = drive.driver.events(emitting())  # type: ignore[attr-defined]
        del events
        gc.collect()
        if drive.driver is BLOCKING:
            BLOCKING.events(emitting()).close()  # type: ignore[attr-defined]
