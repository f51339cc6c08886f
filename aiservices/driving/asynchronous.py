"""The asynchronous drive: what the coroutine awaits goes to the running event loop."""

from __future__ import annotations

import asyncio
from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Generator,
    Iterable,
    Sequence,
)
from contextlib import AbstractAsyncContextManager
from contextvars import Context, copy_context
from functools import partial
from inspect import isawaitable, iscoroutinefunction
from typing import Any, Final, TypeVar, cast

from typing_extensions import TypeVarTuple, Unpack

from .driver import ClosableIterator
from .emitting import Emit
from .gathering import Ended, Report, collect
from .places import KeyedLocks
from .workers import run_in_worker

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")


class AsynchronousDriver:
    """Runs the pipeline's text on the running loop; see `Driver` for what each method promises."""

    async def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run to the end and return the value; what is emitted on the way is dropped."""
        steps = _Steps(coroutine)
        while await steps is not None:
            pass
        return cast("T", steps.value)

    async def events(self, coroutine: Coroutine[Any, Any, object]) -> AsyncIterator[Any]:
        """Run as far as the reader reads. Closing the iterator ends the coroutine with `GeneratorExit`."""
        steps = _Steps(coroutine)
        while (emitted := await steps) is not None:
            try:
                yield emitted.event
            except BaseException as error:
                await _finish(steps, error)
                raise

    async def twin(
        self,
        blocking: Callable[[Unpack[Arguments]], T],
        asynchronous: Callable[[Unpack[Arguments]], Awaitable[T]],
        *args: Unpack[Arguments],
    ) -> T:
        return await asynchronous(*args)

    def iterate(
        self,
        blocking: Callable[[Unpack[Arguments]], Iterable[T]],
        asynchronous: Callable[[Unpack[Arguments]], AsyncIterable[T]],
        *args: Unpack[Arguments],
    ) -> ClosableIterator[T]:
        return _Iterating(asynchronous(*args))

    async def call(
        self, function: Callable[[Unpack[Arguments]], T | Awaitable[T]], *args: Unpack[Arguments]
    ) -> T:
        if iscoroutinefunction(function) or iscoroutinefunction(getattr(function, "__call__", None)):  # noqa: B004
            context = copy_context()
            result: T | Awaitable[T] = context.run(function, *args)
        else:
            context = copy_context()
            result = await asyncio.wrap_future(run_in_worker(partial(function, *args)))
        return await _InContext(context, result) if isawaitable(result) else result

    async def gather(self, jobs: Sequence[Coroutine[Any, Any, T]], *, limit: int | None = None) -> list[T]:
        if len(jobs) == 1:
            return [await jobs[0]]
        reports: asyncio.Queue[Report] = asyncio.Queue()
        tasks: list[asyncio.Task[None]] = []

        def start(index: int, job: Coroutine[Any, Any, T]) -> None:
            tasks.append(asyncio.create_task(_report(index, job, reports)))

        def stop() -> None:
            for task in tasks:
                task.cancel()

        return await collect(jobs, limit, start=start, receive=reports.get, stop=stop)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def lock(self, locks: KeyedLocks, key: object) -> AbstractAsyncContextManager[None]:
        return locks.aheld(key)


ASYNCHRONOUS: Final = AsynchronousDriver()


class _Iterating(ClosableIterator[T]):
    """An asynchronous iterator of any kind, with `aclose` also where it has none."""

    def __init__(self, source: AsyncIterable[T]) -> None:
        self._items = aiter(source)

    def __aiter__(self) -> _Iterating[T]:
        return self

    async def __anext__(self) -> T:
        return await anext(self._items)

    async def aclose(self) -> None:
        close = getattr(self._items, "aclose", None)
        if close is not None:
            await close()


class _Steps:
    """Awaited again and again: gives each emitted event, then `None` when the coroutine has returned.

    What else the coroutine awaits is passed up to the event loop, and what the loop sends or throws
    (a result, a cancellation) is passed down.
    """

    __slots__ = ("coroutine", "error", "value")

    def __init__(self, coroutine: Coroutine[Any, Any, object]) -> None:
        self.coroutine = coroutine
        self.error: BaseException | None = None  # thrown in at the next step
        self.value: object = None

    def __await__(self) -> Generator[Any, Any, Emit | None]:
        coroutine, sent = self.coroutine, None
        error, self.error = self.error, None
        while True:
            try:
                yielded = coroutine.send(sent) if error is None else coroutine.throw(error)
            except StopIteration as end:
                self.value = end.value
                return None
            if type(yielded) is Emit:
                return yielded
            sent, error = None, None
            try:
                sent = yield yielded
            except BaseException as thrown:
                error = thrown


class _InContext:
    """Awaits in a context of its own, so that what is set there stays there."""

    __slots__ = ("awaitable", "context")

    def __init__(self, context: Context, awaitable: Awaitable[Any]) -> None:
        self.context = context
        self.awaitable = awaitable

    def __await__(self) -> Generator[Any, Any, Any]:
        steps = self.awaitable.__await__()
        run, sent = self.context.run, None
        error: BaseException | None = None
        while True:
            try:
                if error is None:
                    yielded = run(next if sent is None else steps.send, steps if sent is None else sent)
                else:
                    yielded = run(steps.throw, error)
            except StopIteration as end:
                return end.value
            sent, error = None, None
            try:
                sent = yield yielded
            except BaseException as thrown:
                error = thrown


async def _finish(steps: _Steps, error: BaseException) -> None:
    """Let the coroutine clean up, awaiting what it needs; what it still emits reaches nobody."""
    steps.error = error
    try:
        while await steps is not None:
            pass
    except BaseException as raised:
        if raised is not error:
            raise


async def _report(index: int, job: Coroutine[Any, Any, T], reports: asyncio.Queue[Report]) -> None:
    steps = _Steps(job)
    try:
        while (emitted := await steps) is not None:
            reports.put_nowait(emitted)
    except BaseException as error:
        reports.put_nowait(Ended(index, error=error))
    else:
        reports.put_nowait(Ended(index, cast("T", steps.value)))
