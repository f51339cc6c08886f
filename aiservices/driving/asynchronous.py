"""The asynchronous drive: what the coroutine awaits goes to the running event loop."""

from __future__ import annotations

import asyncio
from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Iterable,
    Sequence,
)
from contextlib import AbstractAsyncContextManager
from contextvars import copy_context
from functools import partial
from inspect import CORO_CLOSED, getcoroutinestate, isawaitable
from typing import Any, Final, TypeVar, TypeVarTuple, cast

from .driver import ClosableIterator
from .emitting import seen_inside
from .errands import Errand
from .gathering import Ended, Report, collect
from .places import KeyedLocks
from .stepping import Begun, InContext, Steps, Unread, is_asynchronous
from .surrounding import Asked, Left, left, refuse, serve
from .workers import run_in_worker

T = TypeVar("T")
X = TypeVar("X")
Y = TypeVar("Y")
Arguments = TypeVarTuple("Arguments")


class AsynchronousDriver:
    """Runs the pipeline's text on the running loop; see `Driver` for what each method promises."""

    async def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run to the end and return the value; what is emitted on the way is dropped."""
        steps = Steps(coroutine)
        while await steps is not None:
            pass
        return cast("T", steps.value)

    def events(self, coroutine: Coroutine[Any, Any, object]) -> AsyncIterator[Any]:
        """Run as far as the reader reads. Closing the iterator cancels the coroutine."""
        return _events(Unread(coroutine))

    async def twin(
        self,
        blocking: Callable[[*Arguments], T],
        asynchronous: Callable[[*Arguments], Awaitable[T]],
        *args: *Arguments,
    ) -> T:
        return await asynchronous(*args)

    def iterate(
        self,
        blocking: Callable[[*Arguments], Iterable[T]],
        asynchronous: Callable[[*Arguments], AsyncIterable[T]],
        *args: *Arguments,
    ) -> ClosableIterator[T]:
        return _Iterating(asynchronous(*args))

    async def call(self, function: Callable[[*Arguments], T | Awaitable[T]], *args: *Arguments) -> T:
        context = copy_context()
        if is_asynchronous(function):
            result: T | Awaitable[T] = context.run(function, *args)
        else:
            result = await _in_worker(lambda: context.run(function, *args))
        return cast("T", await InContext(context, result) if isawaitable(result) else result)

    async def gather(self, jobs: Sequence[Coroutine[Any, Any, T]], *, limit: int | None = None) -> list[T]:
        if len(jobs) == 1:
            return [await InContext(copy_context(), jobs[0])]
        reports: asyncio.Queue[Report] = asyncio.Queue()
        tasks: list[asyncio.Task[Ended[T]]] = []

        def start(index: int, job: Coroutine[Any, Any, T]) -> None:
            task = asyncio.create_task(_report(index, job, reports))
            task.add_done_callback(lambda task: reports.put_nowait(_ended(index, job, task)))
            tasks.append(task)

        async def stop() -> None:
            await _stopped(tasks)

        return await collect(jobs, limit, start=start, receive=reports.get, stop=stop)

    async def around(
        self,
        function: Callable[..., Any],
        arguments: tuple[Any, ...],
        proceed: Callable[[X], Coroutine[Any, Any, Y]],
    ) -> Any:
        if is_asynchronous(function):
            return await self.call(partial(function, *arguments, proceed))
        loop = asyncio.get_running_loop()
        inbox: asyncio.Queue[Asked[X, Y] | Left[Any]] = asyncio.Queue()
        gone = False

        def deliver(heard: Asked[X, Y] | Left[Any]) -> None:  # on the loop, as is our leaving
            if gone:
                refuse(heard)
            else:
                inbox.put_nowait(heard)

        def hopping(argument: X) -> Y:
            asked: Asked[X, Y] = Asked(argument)
            if not _heard(loop, deliver, asked):
                raise asyncio.CancelledError
            return asked.answer.result()

        errand = Errand()
        outside = run_in_worker(partial(_on, errand, partial(function, *arguments, hopping)))
        outside.add_done_callback(lambda future: _heard(loop, deliver, left(future)))
        try:
            return await serve(inbox.get, proceed)
        finally:
            gone = True
            errand.give_up()
            while not inbox.empty():
                refuse(inbox.get_nowait())

    async def within(self, seconds: float, job: Coroutine[Any, Any, T]) -> T:
        return await self.cut_off(seconds, self.run(job))

    async def cut_off(self, seconds: float, job: Coroutine[Any, Any, T]) -> T:
        try:
            awaited = job.send(None)
        except StopIteration as end:  # what waits for nothing needs no clock
            return cast("T", end.value)
        begun = Begun(job, awaited)
        if not _in_a_task():  # somebody steps it by hand, without a clock
            return cast("T", await begun)
        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                return cast("T", await begun)
        except TimeoutError as error:
            if not limit.expired():  # the job's own
                raise
            raise TimeoutError(f"it did not end within {seconds} s") from error

    async def finish(self, job: Coroutine[Any, Any, T]) -> T:
        task, cancelled = asyncio.ensure_future(self.run(job)), None
        while not task.done():
            try:
                await asyncio.wait((task,))
            except asyncio.CancelledError as error:
                cancelled = error
        if cancelled is None:
            return task.result()
        if not task.cancelled() and (failure := task.exception()) is not None:
            cancelled.__context__ = failure
        raise cancelled

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


async def _events(unread: Unread) -> AsyncIterator[Any]:
    steps = Steps(unread.coroutine, copy_context())
    while (emitted := await steps) is not None:
        try:
            yield emitted.event
        except BaseException as leaving:
            if getcoroutinestate(unread.coroutine) != CORO_CLOSED:  # the collector may have closed both
                await _finish(steps, seen_inside(leaving))
            raise


async def _finish(steps: Steps, leaving: BaseException) -> None:
    """Let the coroutine clean up, awaiting what it needs; what it still emits reaches nobody."""
    steps.error = leaving
    try:
        while await steps is not None:
            pass
    except BaseException as raised:
        if raised is not leaving:
            raise


async def _report(index: int, job: Coroutine[Any, Any, T], reports: asyncio.Queue[Report]) -> Ended[T]:
    steps = Steps(job)
    try:
        while (emitted := await steps) is not None:
            reports.put_nowait(emitted)
    except BaseException as error:
        return Ended(index, error=error)
    return Ended(index, cast("T", steps.value))


async def _stopped(tasks: Sequence[asyncio.Task[Any]]) -> None:
    impatience: asyncio.CancelledError | None = None
    while running := [task for task in tasks if not task.done()]:
        for task in running:
            task.cancel()
        try:
            await asyncio.wait(running)
        except asyncio.CancelledError as again:  # being cancelled again is no excuse to leave them behind
            impatience = again
    if impatience is not None:
        raise impatience


def _ended(index: int, job: Coroutine[Any, Any, T], task: asyncio.Task[Ended[T]]) -> Ended[T]:
    if not task.cancelled():
        return task.result()
    job.close()  # cancelled before its first step
    return Ended(index, error=asyncio.CancelledError())


def _heard(loop: asyncio.AbstractEventLoop, deliver: Callable[[Any], object], heard: object) -> bool:
    """Whether the loop will be told; where it was closed, nobody waits any more."""
    try:
        loop.call_soon_threadsafe(deliver, heard)
    except RuntimeError:
        return False
    return True


async def _in_worker(function: Callable[[], T]) -> T:
    errand = Errand()
    try:
        return await asyncio.wrap_future(run_in_worker(partial(_on, errand, function)))
    except asyncio.CancelledError:
        errand.give_up()
        raise


def _on(errand: Errand, function: Callable[[], T]) -> T:
    errand.enter()
    return function()


def _in_a_task() -> bool:
    try:
        return asyncio.current_task() is not None
    except RuntimeError:  # there is no running loop
        return False
