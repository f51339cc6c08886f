"""The event loop that serves asynchronous code met by blocking calls."""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from contextvars import Context, ContextVar, copy_context
from typing import Any, TypeVar, cast

from .errands import current_errand

T = TypeVar("T")
EXIT_SECONDS = 1.0


class BackgroundLoop:
    """An event loop in a daemon thread of its own, started when it is first needed."""

    def __init__(self) -> None:
        # Reentrant: the collector may finish an abandoned stream here, which wants to reach its loop.
        self._starting = threading.RLock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self.is_retired = False

    def is_running_here(self) -> bool:
        """Whether the calling thread is the one that runs this loop."""
        return self._loop is not None and asyncio._get_running_loop() is self._loop

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine to its end, in a copy of the caller's context, and wait for it."""
        future = self.submit(_outcome(coroutine), coroutine)
        value, error = self.wait(future)
        if error is not None:
            raise error
        return cast("T", value)

    def submit(self, coroutine: Coroutine[Any, Any, T], *inner: Coroutine[Any, Any, Any]) -> Future[T]:
        """Start a coroutine in a copy of the caller's context; `inner` are those it awaits."""
        with self._starting:
            try:
                loop = self._started()
            except BaseException:
                for never_awaited in (coroutine, *inner):
                    never_awaited.close()
                raise
            return asyncio.run_coroutine_threadsafe(coroutine, loop)

    def wait(self, future: Future[T]) -> T:
        """Wait for something that the loop will do; interrupted, as by Ctrl-C, it is cancelled."""
        if self.is_running_here():
            future.cancel()
            raise RuntimeError(
                "this would wait for its own event loop for ever: a stream begun outside of it "
                "cannot be read here, in an asynchronous function that runs on it"
            )
        errand = current_errand()
        try:
            if errand is None:
                return future.result()
            with errand.waiting_for(future):
                return future.result()
        except CancelledError:
            raise asyncio.CancelledError from None  # what the coroutine itself ended with
        except BaseException:
            future.cancel()
            raise

    def call_soon(self, function: Callable[..., object], *args: object) -> None:
        """Have the loop call a function. Raises `RuntimeError` when it has stopped."""
        with self._starting:
            if self._loop is None:
                raise RuntimeError("the event loop that this belongs to has stopped")
            self._loop.call_soon_threadsafe(function, *args)

    def stop(self) -> None:
        """Close what the loop keeps and end its thread; the next `run` starts it again."""
        with self._starting:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
            if loop is None or thread is None:
                return
            loop.call_soon_threadsafe(loop.stop)
        thread.join(EXIT_SECONDS)

    def retire(self) -> None:
        """Stop for good: contexts that still name this loop use the shared one again."""
        self.is_retired = True
        self.stop()

    def _started(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            loop = asyncio.new_event_loop()
            thread = threading.Thread(target=_serve, args=(loop,), name="aiservices-loop", daemon=True)
            try:
                thread.start()
            except BaseException:  # the interpreter is shutting down, or there are too many threads
                loop.close()
                raise
            self._loop, self._thread = loop, thread
        return self._loop


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    stopping = False
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.get_loop()
        while not stopping:
            try:
                loop.run_forever()
                stopping = True
            except (SystemExit, KeyboardInterrupt):
                continue  # raised by a task that somebody left behind: others still use the loop


async def _outcome(coroutine: Coroutine[Any, Any, T]) -> tuple[T | None, BaseException | None]:
    """Await; `sys.exit()` in the coroutine concerns its caller, and must not end the loop of all."""
    try:
        return await coroutine, None
    except (SystemExit, KeyboardInterrupt) as error:
        return None, error


_shared = BackgroundLoop()
_own: ContextVar[BackgroundLoop | None] = ContextVar("aiservices_own_loop", default=None)


def run_in_background(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end on the background loop, in a copy of the caller's context."""
    with own_loop_where_blocked():
        return current_loop().run(coroutine)


def current_loop() -> BackgroundLoop:
    """The background loop that asynchronous code met here runs on."""
    own = _own.get()
    return _shared if own is None or own.is_retired else own


def would_block_its_loop() -> bool:
    """Whether a wait in this thread would stop the very loop that the work it waits for may need."""
    return asyncio._get_running_loop() is not None and current_loop().is_running_here()


@contextmanager
def own_loop_where_blocked() -> Iterator[None]:
    """Give whatever is called inside, in this thread or in workers, a loop that is not blocked by it."""
    if not would_block_its_loop():
        yield
        return
    fresh = BackgroundLoop()
    token = _own.set(fresh)
    try:
        yield
    finally:
        _own.reset(token)
        fresh.retire()


@contextmanager
def context_of_stream() -> Iterator[Context]:
    """A context for the steps of a stream: they share one loop, which is not blocked by this reader."""
    context = copy_context()
    if not would_block_its_loop():
        yield context
        return
    fresh = BackgroundLoop()
    context.run(_own.set, fresh)
    try:
        yield context
    finally:
        fresh.retire()


def _forget() -> None:
    global _shared  # noqa: PLW0603 - a child process has none of its parent's threads
    _shared = BackgroundLoop()
    _own.set(None)


atexit.register(lambda: _shared.stop())  # noqa: PLW0108 - the one of that time
os.register_at_fork(after_in_child=_forget)
