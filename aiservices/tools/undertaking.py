"""Invocations that are parts of something larger, and are undone together when that fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ..driving import Driver
from .compensating import because_of, undo_all
from .ledger import Done, Ledger


class Undertaking:
    """What the tools of invocations have done that succeeded within it."""

    def __init__(self) -> None:
        self._parts: list[tuple[Ledger, Callable[[Done], None]]] = []  # appended to from several threads

    def add(self, ledger: Ledger, report: Callable[[Done], None]) -> None:
        self._parts.append((ledger, report))

    async def undo(self, driver: Driver, error: BaseException) -> None:
        """Undo what still stands, the last invocation to end first.

        What cannot be undone is noted on the error.
        """
        for ledger, report in reversed(self._parts.copy()):
            ledger.undoing = reason = because_of(error)
            await undo_all(driver, ledger, reason=reason, report=report)
            for effect in ledger.effects:
                if effect.compensation is not None and effect.compensation.error is not None:
                    why = type(effect.compensation.error).__name__
                    error.add_note(f"what the tool {effect.tool.name!r} did could not be undone: {why}")


_running: ContextVar[tuple[Undertaking, ...]] = ContextVar("aiservices_undertakings", default=())


@contextmanager
def undertaken() -> Iterator[Undertaking]:
    """Collect what succeeds within this block, also in threads and tasks that begin in it."""
    undertaking = Undertaking()
    token = _running.set((*_running.get(), undertaking))
    try:
        yield undertaking
    finally:
        _running.reset(token)


def take_part(ledger: Ledger, report: Callable[[Done], None]) -> None:
    """Tell all that an invocation is a part of that it has succeeded."""
    for undertaking in _running.get():
        undertaking.add(ledger, report)
