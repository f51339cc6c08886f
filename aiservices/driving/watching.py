"""Learning how a user's function ended, also when nobody waits for it any more."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from inspect import isawaitable
from threading import Lock
from typing import Any, NoReturn, TypeAlias

from .errands import current_errand
from .stepping import is_asynchronous

End: TypeAlias = Callable[[Any, "BaseException | None"], object]
"""Told of a value, or of an error."""


class Watch:
    """Watches one run of a function.

    `ended` is told how it ended while it is waited for, and `late` once nobody does, both in the thread
    where it ran. Whatever `ended` notes has been noted when `leave` returns.
    """

    __slots__ = ("_begun", "_ended", "_guard", "_is_over", "_late", "_left")

    def __init__(self, ended: End, late: End) -> None:
        self._guard = Lock()
        self._ended = ended
        self._late = late
        self._begun = self._is_over = self._left = False

    def leave(self) -> bool:
        """Wait no more, and say whether it is still running. If it has not begun yet, it never will."""
        with self._guard:
            self._left = True
            return self._begun and not self._is_over

    def over(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, watched; it is blocking or asynchronous as before."""
        if is_asynchronous(function):

            async def awaited(*arguments: Any) -> Any:
                self._begin()
                return await self._awaited(function(*arguments))

            return awaited

        def called(*arguments: Any) -> Any:
            self._begin()
            try:
                value = function(*arguments)
            except BaseException as error:
                self._fail(error)
            if isawaitable(value):
                return self._awaited(value)
            self._end(value, None)
            return value

        return called

    async def _awaited(self, awaitable: Awaitable[Any]) -> Any:
        try:
            value = await awaitable
        except BaseException as error:
            self._fail(error)
        self._end(value, None)
        return value

    def _begin(self) -> None:
        with self._guard:
            if self._left:
                raise asyncio.CancelledError("nobody waits for this any more")
            self._begun = True

    def _fail(self, error: BaseException) -> NoReturn:
        if isinstance(error, asyncio.CancelledError) and not _is_cancelled():
            # A task or loop of its own was cancelled. That is its failure and no wish of our caller's.
            own = RuntimeError("it was cancelled from within")
            own.__cause__ = error
            error = own
        self._end(None, error)
        raise error

    def _end(self, value: Any, error: BaseException | None) -> None:
        with self._guard:
            self._is_over = True
            ended, late = self._ended, self._late
            self._ended = self._late = (
                _nobody  # who is told holds this, and would be freed by the collector only
            )
            if not self._left:
                ended(value, error)
                return
        late(value, error)


def _nobody(value: Any, error: BaseException | None) -> None:
    """Is told of an end that has been told."""


def _is_cancelled() -> bool:
    """Whether what runs here was cancelled from outside."""
    if asyncio._get_running_loop() is not None:
        task = asyncio.current_task()
        return task is None or task.cancelling() > 0
    errand = current_errand()
    return errand is not None and errand.is_given_up
