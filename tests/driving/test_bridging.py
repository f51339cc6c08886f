"""Streams of one kind read by code of the other kind."""

import asyncio
import gc
import threading
from collections.abc import AsyncIterator, Iterator
from contextvars import ContextVar

import pytest

from aiservices.driving import aiterate_blocking, iterate_async

from .conftest import interrupt

tenant: ContextVar[str] = ContextVar("tenant", default="?")


class Source:
    """Counts to three in both ways, sets its context, and remembers what happens to it."""

    def __init__(self, fails_at: int | None = None) -> None:
        self.log: list[str] = []
        self.fails_at = fails_at

    def blocking(self) -> Iterator[int]:
        token = tenant.set("inside")
        try:
            for i in range(3):
                self._step(i)
                yield i
        finally:
            tenant.reset(token)
            self.log.append("closed")

    async def asynchronous(self) -> AsyncIterator[int]:
        token = tenant.set("inside")
        try:
            for i in range(3):
                await asyncio.sleep(0)
                self._step(i)
                yield i
        finally:
            await asyncio.sleep(0)
            tenant.reset(token)
            self.log.append("closed")

    def _step(self, i: int) -> None:
        self.log.append(f"made {i} for {tenant.get()}")
        if i == self.fails_at:
            raise KeyError(i)


MADE = [f"made {i} for inside" for i in range(3)]


class TestBlockingCodeReadsAnAsynchronousIterator:
    def test_one_item_when_one_is_asked_for(self) -> None:
        source = Source()
        items = iterate_async(source.asynchronous())
        assert source.log == []
        assert next(items) == 0
        assert source.log == MADE[:1]
        assert list(items) == [1, 2]
        assert source.log == [*MADE, "closed"]
        assert tenant.get() == "?"

    def test_and_closes_it_early(self) -> None:
        source = Source()
        for _ in iterate_async(source.asynchronous()):
            break
        gc.collect()
        assert source.log == [*MADE[:1], "closed"]

    def test_and_meets_its_errors(self) -> None:
        source = Source(fails_at=1)
        items = iterate_async(source.asynchronous())
        assert next(items) == 0
        with pytest.raises(KeyError):
            next(items)
        assert source.log == [*MADE[:2], "closed"]
        assert list(items) == []

    def test_and_a_cancellation_of_its_own(self) -> None:
        async def cancelled() -> AsyncIterator[int]:
            yield 0
            raise asyncio.CancelledError

        with pytest.raises(asyncio.CancelledError):
            list(iterate_async(cancelled()))

    def test_and_cancels_it_when_interrupted(self) -> None:
        main, ended = threading.get_ident(), threading.Event()

        async def hanging() -> AsyncIterator[int]:
            interrupt(main, waiting_in="wait")
            try:
                await asyncio.sleep(10)
                yield 0
            finally:
                ended.set()

        with pytest.raises(KeyboardInterrupt):
            next(iterate_async(hanging()))
        assert ended.wait(5)

    def test_also_one_without_an_aclose(self) -> None:
        class Bare:
            def __init__(self) -> None:
                self.left = 2

            def __aiter__(self) -> "Bare":
                return self

            async def __anext__(self) -> int:
                if not self.left:
                    raise StopAsyncIteration
                self.left -= 1
                return self.left

        assert list(iterate_async(Bare())) == [1, 0]


class TestAsynchronousCodeReadsABlockingIterator:
    def test_one_item_when_one_is_asked_for(self) -> None:
        source = Source()

        async def main() -> None:
            items = aiterate_blocking(source.blocking)
            assert await anext(items) == 0
            assert source.log == MADE[:1]
            assert [item async for item in items] == [1, 2]

        asyncio.run(main())
        assert source.log == [*MADE, "closed"]

    def test_and_closes_it_early(self) -> None:
        source = Source()

        async def main() -> None:
            items = aiterate_blocking(source.blocking)
            await anext(items)
            await items.aclose()  # type: ignore[attr-defined]
            assert source.log == [*MADE[:1], "closed"]

        asyncio.run(main())

    def test_and_meets_its_errors(self) -> None:
        async def main() -> None:
            with pytest.raises(KeyError):
                async for _ in aiterate_blocking(Source(fails_at=1).blocking):
                    pass

        asyncio.run(main())

    def test_and_leaves_at_once_when_cancelled_while_the_iterator_is_busy(self) -> None:
        busy, released, closed = threading.Event(), threading.Event(), threading.Event()

        def hanging() -> Iterator[int]:
            try:
                busy.set()
                released.wait(5)
                yield 0
            finally:
                closed.set()

        async def reading() -> None:
            async for _ in aiterate_blocking(hanging):
                pass

        async def main() -> None:
            task = asyncio.create_task(reading())
            await asyncio.to_thread(busy.wait, 5)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        asyncio.run(main())
        assert not closed.is_set()
        released.set()
        assert closed.wait(5)
