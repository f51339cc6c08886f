"""Handing what a run does to the reader of its stream."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, closing, contextmanager
from contextvars import ContextVar
from typing import Any

from .running import Outbox
from .state import NodeOutput

_open: ContextVar[tuple[Reading, ...]] = ContextVar("aiservices_react_reading", default=())


class Reading:
    """A stream that somebody reads. Its run holds the thread while the reader has the word.

    So what the reader does then must not wait for the thread: it would wait for itself.
    """

    def __init__(self, key: object) -> None:
        self.key = key
        self.has_the_word = False

    @staticmethod
    def is_open(key: object) -> bool:
        """Whether this is code of the reader of a stream of that thread."""
        return any(reading.has_the_word and reading.key == key for reading in _open.get())

    @contextmanager
    def the_word(self) -> Iterator[None]:
        """What is done within is done by the reader."""
        before = _open.get()
        inside = (*before, self)
        _open.set(inside)
        self.has_the_word = True
        try:
            yield
        finally:
            self.has_the_word = False
            if _open.get() is inside:  # a stream that is dropped may be closed in another context
                _open.set(before)


def read(events: Any, outbox: Outbox, reading: Reading) -> Iterator[NodeOutput]:
    """The outputs of a run, as far as they are read."""
    with closing(events):
        for _ in events:
            while outbox:
                with reading.the_word():
                    yield outbox.popleft()


async def aread(events: Any, outbox: Outbox, reading: Reading) -> AsyncIterator[NodeOutput]:
    """See `read`."""
    async with aclosing(events):
        async for _ in events:
            while outbox:
                with reading.the_word():
                    yield outbox.popleft()
