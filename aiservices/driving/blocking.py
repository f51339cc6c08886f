"""The blocking drive: the coroutine is stepped by hand in the caller's thread."""

from __future__ import annotations

import time
from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Iterable,
    Iterator,
    Sequence,
)
from contextlib import asynccontextmanager
from contextvars import copy_context
from inspect import isawaitable
from queue import SimpleQueue
from typing import Any, Final, TypeVar, cast

from typing_extensions import TypeVarTuple, Unpack

from .background import own_loop_where_blocked, run_in_background, would_block_its_loop
from .driver import ClosableIterator
from .emitting import Emit
from .gathering import Ended, Report, collect
from .places import KeyedLocks
from .workers import run_in_worker

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")


class BlockingDriver:
    """Runs the pipeline's text without an event loop; see `Driver` for what each method promises."""

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run to the end and return the value; what is emitted on the way is dropped."""
        if would_block_its_loop():
            with own_loop_where_blocked():
                return _run(coroutine)
        return _run(coroutine)

    def events(self, coroutine: Coroutine[Any, Any, object]) -> Iterator[Any]:
        """Run as far as the reader reads. Closing the iterator ends the coroutine with `GeneratorExit`."""
        step: Callable[[], object] = lambda: coroutine.send(None)  # noqa: E731
        try:
            while True:
                with own_loop_where_blocked():
                    event = _next_event(coroutine, step)
                try:
                    yield event
                except BaseException as error:
                    leaving = error
                    _finish(coroutine, leaving)
                    raise
        except StopIteration:
            return

    async def twin(
        self,
        blocking: Callable[[Unpack[Arguments]], T],
        asynchronous: Callable[[Unpack[Arguments]], Awaitable[T]],
        *args: Unpack[Arguments],
    ) -> T:
        return blocking(*args)

    def iterate(
        self,
        blocking: Callable[[Unpack[Arguments]], Iterable[T]],
        asynchronous: Callable[[Unpack[Arguments]], AsyncIterable[T]],
        *args: Unpack[Arguments],
    ) -> ClosableIterator[T]:
        return _Iterating(blocking(*args))

    async def call(
        self, function: Callable[[Unpack[Arguments]], T | Awaitable[T]], *args: Unpack[Arguments]
    ) -> T:
        result = copy_context().run(function, *args)
        return run_in_background(_awaited(result)) if isawaitable(result) else result

    async def gather(self, jobs: Sequence[Coroutine[Any, Any, T]], *, limit: int | None = None) -> list[T]:
        if len(jobs) == 1:
            return [await jobs[0]]
        reports: SimpleQueue[Report] = SimpleQueue()

        def start(index: int, job: Coroutine[Any, Any, T]) -> None:
            run_in_worker(lambda: reports.put(_report(index, job, reports)))

        async def receive() -> Report:
            return reports.get()

        return await collect(jobs, limit, start=start, receive=receive, stop=lambda: None)

    async def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    @asynccontextmanager
    async def lock(self, locks: KeyedLocks, key: object) -> AsyncIterator[None]:
        with locks.held(key):
            yield


BLOCKING: Final = BlockingDriver()


class _Iterating(ClosableIterator[T]):
    """A blocking iterator in asynchronous dress: it never really suspends."""

    def __init__(self, source: Iterable[T]) -> None:
        self._items = iter(source)

    def __aiter__(self) -> _Iterating[T]:
        return self

    async def __anext__(self) -> T:
        try:
            return next(self._items)
        except StopIteration:
            raise StopAsyncIteration from None

    async def aclose(self) -> None:
        close = getattr(self._items, "close", None)
        if close is not None:
            close()


def _run(coroutine: Coroutine[Any, Any, T]) -> T:
    try:
        while True:
            _check(coroutine, coroutine.send(None))
    except StopIteration as end:
        return cast("T", end.value)


def _next_event(coroutine: Coroutine[Any, Any, object], step: Callable[[], object]) -> object:
    emitted = step()
    _check(coroutine, emitted)
    return cast("Emit", emitted).event


def _finish(coroutine: Coroutine[Any, Any, object], error: BaseException) -> None:
    """Let the coroutine clean up; what it still emits reaches nobody."""
    try:
        coroutine.throw(error)
        _run(coroutine)
    except (StopIteration, GeneratorExit):
        return
    except BaseException as raised:
        if raised is not error:
            raise


def _check(coroutine: Coroutine[Any, Any, Any], yielded: object) -> None:
    if type(yielded) is not Emit:
        coroutine.close()
        raise RuntimeError(
            f"a stage of a blocking call awaited {yielded!r}, which needs an event loop: "
            "await call.driver.call(...) or another method of call.driver instead"
        )


def _report(index: int, job: Coroutine[Any, Any, T], reports: SimpleQueue[Report]) -> Ended[T]:
    try:
        while True:
            emitted = job.send(None)
            _check(job, emitted)
            reports.put(emitted)
    except StopIteration as end:
        return Ended(index, end.value)
    except BaseException as error:
        return Ended(index, error=error)


async def _awaited(awaitable: Awaitable[T]) -> T:
    return await awaitable
