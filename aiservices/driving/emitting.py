"""Handing an event to whoever reads the stream."""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Generator


class Emit:
    """`await Emit(event)` suspends until the reader asks for more; a call nobody streams drops the event."""

    __slots__ = ("event",)

    def __init__(self, event: object) -> None:
        self.event = event

    def __await__(self) -> Generator[Emit, None, None]:
        yield self


def seen_inside(leaving: BaseException) -> BaseException:
    """What a coroutine is told when its reader leaves with this exception.

    A closed stream is cancelled work. It is no `GeneratorExit`, because Python *closes* what a coroutine
    awaits for that one, instead of raising it there: only the outermost function could then still await
    something while cleaning up. A subclass would not do either: task groups know the class itself.
    """
    return closed() if isinstance(leaving, GeneratorExit) else leaving


def closed() -> CancelledError:
    """What a coroutine is told when its reader has closed the stream."""
    return CancelledError("the reader has closed the stream")
