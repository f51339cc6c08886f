"""Counting the tokens of all calls that are made within a piece of work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import reduce
from operator import add

from .messages import NO_USAGE, TokenUsage


class Meter:
    """What has been spent so far."""

    __slots__ = ("_spent",)

    def __init__(self) -> None:
        self._spent: list[TokenUsage] = []  # appended to from several threads

    def add(self, usage: TokenUsage) -> None:
        self._spent.append(usage)

    @property
    def usage(self) -> TokenUsage:
        return reduce(add, self._spent, NO_USAGE)


_running: ContextVar[tuple[Meter, ...]] = ContextVar("aiservices_meters", default=())


@contextmanager
def metered() -> Iterator[Meter]:
    """Count what is spent within this block, also in threads and tasks that begin in it."""
    meter = Meter()
    token = _running.set((*_running.get(), meter))
    try:
        yield meter
    finally:
        _running.reset(token)


def spend(usage: TokenUsage) -> None:
    """Count the tokens of one call for all that it is a part of."""
    for meter in _running.get():
        meter.add(usage)
