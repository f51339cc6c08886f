"""Stepping coroutines: the part of every drive that sees what a coroutine awaits."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextvars import Context
from functools import partial
from inspect import CORO_CREATED, getcoroutinestate, iscoroutinefunction
from types import FunctionType
from typing import Any

from .emitting import Emit


class Steps:
    """Awaited again and again: gives each emitted event, then `None` when the coroutine has returned.

    What else the coroutine awaits is passed up to the event loop, and what the loop sends or throws
    (a result, a cancellation) is passed down. With a `context` every step runs in it.
    """

    __slots__ = ("_send", "_throw", "error", "value")

    def __init__(self, coroutine: Coroutine[Any, Any, object], context: Context | None = None) -> None:
        self._send: Callable[[Any], Any] = coroutine.send
        self._throw: Callable[[BaseException], Any] = coroutine.throw
        if context is not None:
            run: Callable[..., Any] = context.run
            self._send, self._throw = partial(run, coroutine.send), partial(run, coroutine.throw)
        self.error: BaseException | None = None  # thrown in at the next step
        self.value: object = None

    def __await__(self) -> Generator[Any, Any, Emit | None]:
        send, sent = self._send, None
        error, self.error = self.error, None
        try:
            while True:
                try:
                    yielded = send(sent) if error is None else self._throw(error)
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
        finally:
            del error  # its traceback holds this frame: break the cycle


class Begun:
    """Awaits a coroutine that has taken its first step; what that `awaited` is still to be passed up."""

    __slots__ = ("awaited", "coroutine")

    def __init__(self, coroutine: Coroutine[Any, Any, object], awaited: object) -> None:
        self.coroutine = coroutine
        self.awaited = awaited

    def __await__(self) -> Generator[Any, Any, object]:
        yielded, sent = self.awaited, None
        error: BaseException | None = None
        try:
            while True:
                try:
                    sent = yield yielded
                except BaseException as thrown:
                    error = thrown
                try:
                    yielded = self.coroutine.send(sent) if error is None else self.coroutine.throw(error)
                except StopIteration as end:
                    return end.value
                sent, error = None, None
        finally:
            del error


class InContext:
    """Awaits in a context of its own, so that what is set there stays there."""

    __slots__ = ("awaitable", "context")

    def __init__(self, context: Context, awaitable: Awaitable[Any]) -> None:
        self.context = context
        self.awaitable = awaitable

    def __await__(self) -> Generator[Any, Any, Any]:
        steps, run = self.awaitable.__await__(), self.context.run
        sent: Any = None
        error: BaseException | None = None
        try:
            while True:
                try:
                    if error is not None:
                        yielded = run(steps.throw, error)
                    else:
                        yielded = run(next, steps) if sent is None else run(steps.send, sent)
                except StopIteration as end:
                    return end.value
                sent, error = None, None
                try:
                    sent = yield yielded
                except BaseException as thrown:
                    error = thrown
        finally:
            del error


class Unread:
    """Closes a coroutine that is dropped before its first step: a stream that nobody reads is no mistake."""

    __slots__ = ("coroutine",)

    def __init__(self, coroutine: Coroutine[Any, Any, object]) -> None:
        self.coroutine = coroutine

    def __del__(self) -> None:
        if getcoroutinestate(self.coroutine) == CORO_CREATED:
            self.coroutine.close()


def foreign(yielded: object) -> RuntimeError:
    """The error of a coroutine in a blocking drive that awaited what only an event loop can give."""
    what = "something" if yielded is None else repr(yielded)
    return RuntimeError(
        f"a blocking call awaited {what}, which needs an event loop: "
        "use await driver.call(...) or another method of the driver instead"
    )


def is_asynchronous(function: object) -> bool:
    """Whether calling it gives a coroutine: an `async def`, a partial of one, an object called like one."""
    while isinstance(function, partial):
        function = function.func
    if isinstance(function, FunctionType):  # nearly always, so not asked what only objects can be
        return iscoroutinefunction(function)
    return iscoroutinefunction(function) or iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004
