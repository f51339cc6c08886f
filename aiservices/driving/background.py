"""The event loop that serves asynchronous code met by blocking calls."""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T")
EXIT_SECONDS = 1.0


class BackgroundLoop:
    """An event loop in a daemon thread of its own, started when it is first needed."""

    def __init__(self) -> None:
        self._starting = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def is_running_here(self) -> bool:
        """Whether the calling thread is the one that runs this loop."""
        return self._loop is not None and asyncio._get_running_loop() is self._loop

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine to its end, in a copy of the caller's context, and wait for it."""
        future = asyncio.run_coroutine_threadsafe(coroutine, self._started())
        try:
            return future.result()
        except BaseException:
            future.cancel()  # a no-op unless the wait itself was interrupted, as by Ctrl-C
            raise

    def stop(self) -> None:
        """Close what the loop keeps and end its thread; the next `run` starts it again."""
        with self._starting:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            thread.join(EXIT_SECONDS)

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._starting:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=_serve, args=(self._loop,), name="aiservices-loop", daemon=True
                )
                self._thread.start()
            return self._loop


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


_shared = BackgroundLoop()
_own: ContextVar[BackgroundLoop | None] = ContextVar("aiservices_own_loop", default=None)


def run_in_background(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end on the background loop, in a copy of the caller's context."""
    with own_loop_where_blocked():
        return _current().run(coroutine)


def _current() -> BackgroundLoop:
    return _own.get() or _shared


def would_block_its_loop() -> bool:
    """Whether a wait in this thread would stop the very loop that the work it waits for may need."""
    return asyncio._get_running_loop() is not None and _current().is_running_here()


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
        fresh.stop()


def _forget() -> None:
    global _shared  # noqa: PLW0603 - a child process has none of its parent's threads
    _shared = BackgroundLoop()
    _own.set(None)


atexit.register(lambda: _shared.stop())
os.register_at_fork(after_in_child=_forget)
