"""Letting a user's function surround a part of the pipeline, whichever kind it is.

The function may run elsewhere (a worker thread, the background loop), but what it surrounds belongs to the
invocation: each `proceed` hops back and runs where the invocation is driven, in the function's context, so
that the part sees the context variables that the function has set.
"""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from typing import Any, Generic, TypeAlias, TypeVar

from .errands import Errand
from .stepping import InContext

X = TypeVar("X")
Y = TypeVar("Y")
Proceed: TypeAlias = Callable[[X], Coroutine[Any, Any, Y]]


@dataclass(frozen=True, slots=True)
class Asked(Generic[X, Y]):
    """The function calls `proceed`: run it with this argument and complete the answer.

    The errand is given up when the function waits for the answer no more.
    """

    argument: X
    answer: Future[Y] = field(default_factory=Future)
    context: Context = field(default_factory=copy_context)
    errand: Errand = field(default_factory=Errand)


@dataclass(frozen=True, slots=True)
class Left(Generic[Y]):
    """The function has ended, with a value or an error."""

    value: Any = None
    error: BaseException | None = None


def left(future: Future[Any]) -> Left[Any]:
    """How the function ended."""
    if future.cancelled():
        return Left(error=CancelledError())
    error = future.exception()
    return Left(error=error) if error is not None else Left(future.result())


def refuse(heard: Asked[Any, Any] | Left[Any]) -> None:
    """Let a function that still waits for `proceed` go, since the invocation has left."""
    if isinstance(heard, Asked) and heard.answer.set_running_or_notify_cancel():
        heard.answer.set_exception(CancelledError())


async def serve(receive: Callable[[], Awaitable[Asked[X, Y] | Left[Any]]], proceed: Proceed[X, Y]) -> Any:
    """Run what the function asks for until it ends, and give its value."""
    while True:
        heard = await receive()
        if isinstance(heard, Left):
            if heard.error is not None:
                raise heard.error
            return heard.value
        await _answer(heard, proceed)


async def _answer(asked: Asked[X, Y], proceed: Proceed[X, Y]) -> None:
    answer = asked.answer
    if not answer.set_running_or_notify_cancel():
        return  # it was given up before its turn came
    asked.context.run(asked.errand.enter)
    try:
        value = await InContext(asked.context, proceed(asked.argument))
    except BaseException as error:
        answer.set_exception(error)  # the function must not wait for ever
        if not isinstance(error, Exception) and not asked.errand.is_given_up:
            raise  # and we must leave
    else:
        answer.set_result(value)
