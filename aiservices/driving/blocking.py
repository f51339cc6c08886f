"""The blocking drive: the coroutine is stepped by hand in the caller's thread."""

from __future__ import annotations

import time
from asyncio import CancelledError
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
from concurrent.futures import Future, wait
from contextlib import asynccontextmanager
from contextvars import copy_context
from inspect import isawaitable
from queue import SimpleQueue
from threading import Event
from typing import Any, Final, TypeVar, TypeVarTuple, cast

from .background import context_of_stream, own_loop_where_blocked, run_in_background, would_block_its_loop
from .driver import ClosableIterator
from .emitting import Emit, closed, seen_inside
from .errands import Errand, check_errand, current_errand, pause, undisturbed
from .gathering import Ended, Report, collect
from .interrupting import interrupts_deferred
from .places import KeyedLocks
from .stepping import InContext, Unread, foreign, is_asynchronous
from .surrounding import Asked, Left, left, serve
from .workers import run_in_worker, wait_for

T = TypeVar("T")
X = TypeVar("X")
Y = TypeVar("Y")
Arguments = TypeVarTuple("Arguments")


class BlockingDriver:
    """Runs the pipeline's text without an event loop; see `Driver` for what each method promises."""

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run to the end and return the value; what is emitted on the way is dropped."""
        if would_block_its_loop():
            with own_loop_where_blocked():
                return cast("T", _run(coroutine))
        return cast("T", _run(coroutine))

    def run_apart(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        """Run in a thread of its own, also where whoever waited for this code has given it up."""
        context = undisturbed()
        return run_in_worker(lambda: context.run(self.run, coroutine))

    def events(self, coroutine: Coroutine[Any, Any, object]) -> Iterator[Any]:
        """Run as far as the reader reads. Closing the iterator cancels the coroutine."""
        return _events(Unread(coroutine))

    async def twin(
        self,
        blocking: Callable[[*Arguments], T],
        asynchronous: Callable[[*Arguments], Awaitable[T]],
        *args: *Arguments,
    ) -> T:
        check_errand()
        return blocking(*args)

    def iterate(
        self,
        blocking: Callable[[*Arguments], Iterable[T]],
        asynchronous: Callable[[*Arguments], AsyncIterable[T]],
        *args: *Arguments,
    ) -> ClosableIterator[T]:
        return _Iterating(blocking(*args))

    async def call(self, function: Callable[[*Arguments], T | Awaitable[T]], *args: *Arguments) -> T:
        check_errand()
        context = copy_context()
        result = context.run(function, *args)
        return context.run(run_in_background, _awaited(result)) if isawaitable(result) else result

    async def gather(self, jobs: Sequence[Coroutine[Any, Any, T]], *, limit: int | None = None) -> list[T]:
        if len(jobs) == 1:
            return [await InContext(copy_context(), jobs[0])]
        reports: SimpleQueue[Report] = SimpleQueue()
        running: list[Future[None]] = []
        errands: list[Errand] = []
        stopping = Event()

        def start(index: int, job: Coroutine[Any, Any, T]) -> None:
            errand = Errand()

            def work() -> None:
                errand.enter()
                reports.put(_report(index, job, reports, stopping))

            errands.append(errand)
            running.append(run_in_worker(work))

        async def receive() -> Report:
            return reports.get()

        async def stop() -> None:
            stopping.set()
            for errand in errands:
                errand.give_up()
            wait(running)

        return await collect(jobs, limit, start=start, receive=receive, stop=stop)

    async def around(
        self,
        function: Callable[..., Any],
        arguments: tuple[Any, ...],
        proceed: Callable[[X], Coroutine[Any, Any, Y]],
    ) -> Any:
        if not is_asynchronous(function):
            return copy_context().run(function, *arguments, lambda argument: self.run(proceed(argument)))
        inbox: SimpleQueue[Asked[X, Y] | Left[Any]] = SimpleQueue()
        errand = Errand()

        async def hopping(argument: X) -> Y:
            asked: Asked[X, Y] = Asked(argument)
            inbox.put(asked)
            try:
                return await wait_for(asked.answer)
            except CancelledError:
                asked.errand.give_up()
                raise

        async def receive() -> Asked[X, Y] | Left[Any]:
            return inbox.get()

        def work() -> Any:
            errand.enter()
            return run_in_background(_awaited(function(*arguments, hopping)))

        outside = run_in_worker(work)
        outside.add_done_callback(lambda future: inbox.put(left(future)))
        try:
            return await serve(receive, proceed)
        except BaseException:
            errand.give_up()  # its task is cancelled, also where it waits for `proceed`
            raise

    async def within(self, seconds: float, job: Coroutine[Any, Any, T]) -> T:
        errand = Errand()

        def work() -> T:
            errand.enter()
            return self.run(job)

        running = run_in_worker(work)
        try:
            done, _ = wait((running,), seconds)
        except BaseException:
            errand.give_up()
            raise
        if not done:
            errand.give_up()
            raise TimeoutError(f"it did not end within {seconds} s")
        return running.result()

    def cut_off(self, seconds: float, job: Coroutine[Any, Any, T]) -> Coroutine[Any, Any, T]:
        return job

    async def finish(self, job: Coroutine[Any, Any, T]) -> T:
        with interrupts_deferred():
            return undisturbed().run(self.run, job)

    async def sleep(self, seconds: float) -> None:
        errand = current_errand()
        if errand is None:
            time.sleep(seconds)
        else:
            pause(errand, seconds)

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


def _run(coroutine: Coroutine[Any, Any, object], error: BaseException | None = None) -> object:
    """Step to the end, dropping events, and give the value; an error is thrown in at the first step."""
    try:
        while True:
            yielded = coroutine.send(None) if error is None else coroutine.throw(error)
            error = None if type(yielded) is Emit else foreign(yielded)
    except StopIteration as end:
        return end.value


def _step(coroutine: Coroutine[Any, Any, object]) -> Emit:
    """Step to the next event, or raise `StopIteration` with the value."""
    yielded = coroutine.send(None)
    while type(yielded) is not Emit:
        yielded = coroutine.throw(foreign(yielded))
    return yielded


def _events(unread: Unread) -> Iterator[Any]:
    coroutine = unread.coroutine
    with context_of_stream() as context:
        run = context.run
        while True:
            try:
                emitted = run(_step, coroutine)
            except StopIteration:
                return
            try:
                yield emitted.event
            except BaseException as leaving:
                run(_finish, coroutine, seen_inside(leaving))
                raise


def _finish(coroutine: Coroutine[Any, Any, object], leaving: BaseException) -> None:
    """Let the coroutine clean up; what it still emits reaches nobody."""
    try:
        with own_loop_where_blocked():
            _run(coroutine, leaving)
    except BaseException as raised:
        if raised is not leaving:
            raise


def _report(
    index: int, job: Coroutine[Any, Any, T], reports: SimpleQueue[Report], stopping: Event
) -> Ended[T]:
    try:
        while not stopping.is_set():
            reports.put(_step(job))
        return Ended(index, cast("T", _run(job, closed())))
    except StopIteration as end:
        return Ended(index, end.value)
    except BaseException as error:
        return Ended(index, error=error)


async def _awaited(awaitable: Awaitable[T]) -> T:
    return await awaitable
