"""Work in other threads that whoever waits for it may give up.

A thread cannot be stopped. What runs in it is cancelled where it asks the blocking driver for something:
asynchronous code on a background loop is cancelled, a pause ends, and the next step does not begin. As with
a task, the cancellation comes once: what cleans up after it may ask the driver again.
"""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Iterator
from concurrent.futures import CancelledError as Cancelled
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import Context, ContextVar, copy_context
from typing import Any


class Errand:
    """Something that is done elsewhere, and perhaps for nothing; errands within it share its fate."""

    __slots__ = ("_ended", "_outer", "_told", "_waits")

    def __init__(self) -> None:
        self._outer = _current.get()
        self._ended = self._told = False
        self._waits: set[Future[Any]] = set()

    def enter(self) -> None:
        """Belong to this errand from now on, in this context."""
        _current.set(self)

    def give_up(self) -> None:
        """Nobody waits for it any more."""
        self._ended = True
        for future in self._waits.copy():
            future.cancel()

    @property
    def is_given_up(self) -> bool:
        return self._ended or (self._outer is not None and self._outer.is_given_up)

    @property
    def is_to_be_told(self) -> bool:
        """Whether it was given up and has not been cancelled yet."""
        return not self._told and self.is_given_up

    def check(self) -> None:
        """Raise `CancelledError`, once, when it was given up."""
        if self.is_to_be_told:
            self._told = True
            raise CancelledError("whoever waited for this has given up")

    @contextmanager
    def waiting_for(self, future: Future[Any]) -> Iterator[None]:
        """Have the future cancelled when this errand, or one that it is a part of, is given up."""
        errands: list[Errand] = [self]
        while (outer := errands[-1]._outer) is not None:
            errands.append(outer)
        for errand in errands:
            errand._waits.add(future)
        try:
            if self.is_to_be_told:
                future.cancel()
            yield
        finally:
            for errand in errands:
                errand._waits.discard(future)
            self._told = self._told or (future.cancelled() and self.is_given_up)


_current: ContextVar[Errand | None] = ContextVar("aiservices_errand", default=None)


def current_errand() -> Errand | None:
    """The errand that this code is a part of."""
    return _current.get()


def check_errand() -> None:
    """Raise `CancelledError` where nobody waits any more for what this code does."""
    errand = _current.get()
    if errand is not None:
        errand.check()


def pause(errand: Errand, seconds: float) -> None:
    """Do nothing for a while, or until the errand is given up."""
    alarm: Future[None] = Future()
    try:
        with errand.waiting_for(alarm):
            alarm.result(seconds)
    except TimeoutError:
        return
    except Cancelled:
        raise CancelledError("whoever waited for this has given up") from None


def undisturbed() -> Context:
    """A copy of this context for work that is to be finished even when its errand is given up."""
    context = copy_context()
    context.run(_current.set, None)
    return context
