"""Handing an event to whoever reads the stream."""

from __future__ import annotations

from collections.abc import Generator


class Emit:
    """`await Emit(event)` suspends until the reader asks for more; a call nobody streams drops the event."""

    __slots__ = ("event",)

    def __init__(self, event: object) -> None:
        self.event = event

    def __await__(self) -> Generator[Emit, None, None]:
        yield self
