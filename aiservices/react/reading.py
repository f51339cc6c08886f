"""Handing what a run does to the reader of its stream."""

from __future__ import annotations

from collections.abc import AsyncIterator, Generator, Iterator
from contextlib import ExitStack, closing, contextmanager
from contextvars import ContextVar
from typing import Any

from .running import Outbox
from .state import NodeOutput

_open: ContextVar[tuple[Reading, ...]] = ContextVar("aiservices_react_reading", default=())


class Reading:
    """A stream that somebody reads. Its run holds the thread while the reader has the word.

    So what the reader does then must not wait for the thread: it would wait for itself. A thread is told by
    its `key`, or, by way of another object for the same store, by the `holder` of its lease. Until the run is
    over it has what keeps the thread, whose session nobody else may hold.
    """

    def __init__(self, key: object, keeper: object) -> None:
        self.key = key
        self.keeper = keeper
        self.holder: str | None = None
        self.outbox = Outbox()
        self.has_the_word = False

    @staticmethod
    def is_open(*, key: object = None, holder: str | None = None) -> bool:
        """Whether this is code of the reader of a stream of that thread."""
        open_ones = [reading for reading in _open.get() if reading.has_the_word]
        return any(key == one.key or (holder and holder == one.holder) for one in open_ones)

    @contextmanager
    def the_word(self) -> Iterator[None]:
        """What is done within is done by the reader."""
        before = tuple(reading for reading in _open.get() if reading.has_the_word)
        inside = (*before, self)
        _open.set(inside)
        self.has_the_word = True
        try:
            yield
        finally:
            self.has_the_word = False
            if _open.get() is inside:  # a stream that is dropped may be closed in another context
                _open.set(before)


def read(events: Any, reading: Reading) -> Generator[NodeOutput, None, None]:
    """The outputs of a run, as far as they are read."""
    with closing(events):
        for _ in events:
            while reading.outbox:
                with reading.the_word():
                    yield reading.outbox.popleft()


class AsyncOutputs(AsyncIterator[NodeOutput]):
    """The outputs of a run. Who drops it is its reader no more, though the loop closes the run only later.

    It is no generator around that of the run: a loop that is shut down would close both at once.
    """

    def __init__(self, events: Any, reading: Reading) -> None:
        self._events = events
        self._reading = reading
        self._word = ExitStack()  # dropped with this object, it gives the word back

    async def __anext__(self) -> NodeOutput:
        self._word.close()
        while not self._reading.outbox:
            await anext(self._events)
        output = self._reading.outbox.popleft()
        self._word.enter_context(self._reading.the_word())
        return output

    async def aclose(self) -> None:
        """End the run."""
        self._word.close()
        self._reading.outbox.clear()
        await self._events.aclose()
