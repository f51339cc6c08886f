"""Reading a stream of the other kind: asynchronous iterators in blocking code and the reverse."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from contextvars import copy_context
from functools import partial
from typing import Generic, TypeVar, cast

from .background import context_of_stream, current_loop
from .workers import run_in_worker

T = TypeVar("T")
_END = object()


def iterate_async(source: AsyncIterator[T]) -> Iterator[T]:
    """Read an asynchronous iterator from blocking code, one item when one is asked for.

    All of it runs in one task of one background loop, as time limits and task groups inside of it need.
    """
    with context_of_stream() as context:
        following = context.run(_Following, source)
        try:
            while (item := following.next()) is not _END:
                yield cast("T", item)
        finally:
            following.close()


async def aiterate_blocking(source: Callable[[], Iterator[T]]) -> AsyncIterator[T]:
    """Read a blocking iterator from asynchronous code, one item at a time in a worker thread."""
    context = copy_context()

    def follow() -> object:
        return next(items, _END)

    items = await asyncio.wrap_future(run_in_worker(partial(context.run, source)))
    step: Future[object] | None = None
    try:
        while True:
            step = run_in_worker(partial(context.run, follow))
            item = await asyncio.wrap_future(step)
            if item is _END:
                return
            yield cast("T", item)
    finally:
        close = getattr(items, "close", None)
        if close is not None:
            await _close(partial(context.run, close), step)


async def _close(close: Callable[[], object], step: Future[object] | None) -> None:
    """Close an iterator; one still busy with a step that was not waited for, as soon as that has ended."""
    if step is None or step.done():
        await asyncio.wrap_future(run_in_worker(close))
    else:
        step.add_done_callback(lambda _: run_in_worker(close))


class _Following(Generic[T]):
    """A task that follows an asynchronous iterator, a step whenever one is asked for."""

    def __init__(self, source: AsyncIterator[T]) -> None:
        self._loop = current_loop()
        self._asked: asyncio.Queue[Future[object] | None] = asyncio.Queue()
        self._task = self._loop.submit(_follow(source, self._asked))

    def next(self) -> object:
        reply: Future[object] = Future()
        self._loop.call_soon(self._ask, reply)
        try:
            return self._loop.wait(reply)
        finally:
            if reply.cancelled():  # the wait was interrupted, as by Ctrl-C
                self._task.cancel()

    def close(self) -> None:
        if not self._task.done():
            self._loop.call_soon(self._asked.put_nowait, None)
        if not self._task.cancelled() and not self._loop.is_running_here():
            self._loop.wait(self._task)

    def _ask(self, reply: Future[object]) -> None:
        if self._task.done():
            reply.cancel()
        else:
            self._asked.put_nowait(reply)


async def _follow(source: AsyncIterator[T], asked: asyncio.Queue[Future[object] | None]) -> None:
    try:
        while (reply := await asked.get()) is not None:
            await _answer(source, reply)
    finally:
        close = getattr(source, "aclose", None)
        if close is not None:
            await close()


async def _answer(source: AsyncIterator[T], reply: Future[object]) -> None:
    try:
        item: object = await anext(source)
    except StopAsyncIteration:
        _fulfil(reply, _END)
    except BaseException as error:
        if reply.set_running_or_notify_cancel():
            reply.set_exception(error)
        del reply  # held by the frame that the error's traceback holds: break the cycle
        if isinstance(error, asyncio.CancelledError):
            raise
    else:
        _fulfil(reply, item)


def _fulfil(reply: Future[object], item: object) -> None:
    if reply.set_running_or_notify_cancel():
        reply.set_result(item)
