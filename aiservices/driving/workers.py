"""Worker threads: as many as are needed, kept while they are used, never in the way of exit.

A bounded pool deadlocks when its jobs wait for jobs of their own (a tool that calls a service whose tools
need workers). These threads are therefore unbounded in number, reused while warm, and daemons, so that a
tool that hangs cannot keep a finished program alive.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections import deque
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextvars import copy_context
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")
IDLE_SECONDS = 10.0

_idle: deque[_Worker] = deque()


class _Worker:
    """A thread and the queue it waits on."""

    def __init__(self) -> None:
        self.jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()

    def start(self, job: Callable[[], None]) -> None:
        self.jobs.put(job)
        threading.Thread(target=self._work, name="aiservices-worker", daemon=True).start()

    def _work(self) -> None:
        idle = _idle
        while True:
            try:
                job = self.jobs.get(timeout=IDLE_SECONDS)
            except Empty:
                try:
                    idle.remove(self)
                except ValueError:
                    continue  # taken at this very moment: its job is on the way
                return
            job()
            del job  # an idle worker must not keep the last job's objects alive
            idle.append(self)


def run_in_worker(function: Callable[[], T]) -> Future[T]:
    """Run a function in a worker thread, in a copy of the caller's context."""
    future: Future[T] = Future()
    job = partial(_perform, future, partial(copy_context().run, function))
    try:
        worker = _idle.pop()
    except IndexError:
        _start(job)
    else:
        worker.jobs.put(job)
    return future


def wait_for(future: Future[T]) -> Awaitable[T]:
    """Await what a worker does from the running loop."""
    return asyncio.wrap_future(future)


def _start(job: Callable[[], None]) -> None:
    try:
        _Worker().start(job)
    except RuntimeError:  # the interpreter is shutting down, or there can be no more threads
        job()


def _perform(future: Future[T], function: Callable[[], T]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = function()
    except StopIteration as stop:
        # No future can hold it: an event loop's would never be done.
        error = RuntimeError(f"{stop!r} was raised where a value was expected")
        error.__cause__ = stop
        future.set_exception(error)
    except BaseException as error:
        future.set_exception(error)
        del future  # held by the frame that the error's traceback holds: break the cycle
    else:
        future.set_result(result)


def _forget(*_: Any) -> None:
    global _idle  # noqa: PLW0603 - a child process has none of its parent's threads
    _idle = deque()


os.register_at_fork(after_in_child=_forget)
