"""The handles of streamed answers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from types import TracebackType
from typing import Any, Generic, Protocol, Self, TypeAlias, TypeVar

from .events import Event, Restarted
from .messages import ModelEvent, PartialText
from .results import Result

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
StreamEvent: TypeAlias = ModelEvent | Event
"""What `.events()` gives: the model's own events, and those that listeners hear."""


class PartialReader(Protocol):
    """Reads a value while its text arrives."""

    def feed(self, text: str, /) -> Any: ...


class Outcome(Generic[T]):
    """What a stream came to, once it has."""

    result: Result[T] | None = None
    error: BaseException | None = None

    def taken(self) -> Result[T]:
        """The result. Raises what ended the stream, `RuntimeError` for one that was cancelled."""
        if self.error is not None:
            raise self.error
        if self.result is None:
            raise RuntimeError("the stream was cancelled before its end, so there is no result")
        return self.result


class Growing(Generic[T]):
    """The growing value of a stream, event by event."""

    def __init__(self, make_reader: Callable[[], PartialReader]) -> None:
        self._make_reader = make_reader
        self._reader = make_reader()

    def after(self, event: StreamEvent) -> T | None:
        """The value after an event, when there is a new one."""
        if isinstance(event, PartialText):
            grown: T | None = self._reader.feed(event.text)
            return grown
        if isinstance(event, Restarted):
            self._reader = self._make_reader()
        return None


class Stream(Generic[T_co]):
    """An answer that is read while it is written. Nothing is sent before the first step.

    Read it once, by `events` or by `partials`; `result` reads on to the end. Leaving the `with` block, or
    `cancel`, ends the call: what tools have done is undone as for any call that fails.
    """

    def __init__(
        self, events: Iterator[Any], outcome: Outcome[T_co], reader: Callable[[], PartialReader]
    ) -> None:
        self._events = events
        self._outcome = outcome
        self._reader = reader

    def events(self) -> Iterator[StreamEvent]:
        """What happens, as it happens. Raises what the call raises."""
        yield from self._events

    def partials(self) -> Iterator[T_co]:
        """Growing, partly filled values; the last one is the validated value."""
        growing: Growing[T_co] = Growing(self._reader)
        for event in self._events:
            value = growing.after(event)
            if value is not None:
                yield value
        yield self._outcome.taken().content

    def result(self) -> Result[T_co]:
        """The result, after reading to the end. Raises what the call raises."""
        for _ in self._events:
            pass
        return self._outcome.taken()

    def cancel(self) -> None:
        """End the call; nothing happens when it is over."""
        self._events.close()  # type: ignore[attr-defined]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cancel()


class AsyncStream(Generic[T_co]):
    """The asynchronous twin of `Stream`: iterate with `async for`, await `result` and `cancel`."""

    def __init__(
        self, events: AsyncIterator[Any], outcome: Outcome[T_co], reader: Callable[[], PartialReader]
    ) -> None:
        self._events = events
        self._outcome = outcome
        self._reader = reader

    async def events(self) -> AsyncIterator[StreamEvent]:
        """What happens, as it happens. Raises what the call raises."""
        async for event in self._events:
            yield event

    async def partials(self) -> AsyncIterator[T_co]:
        """Growing, partly filled values; the last one is the validated value."""
        growing: Growing[T_co] = Growing(self._reader)
        async for event in self._events:
            value = growing.after(event)
            if value is not None:
                yield value
        yield self._outcome.taken().content

    async def result(self) -> Result[T_co]:
        """The result, after reading to the end. Raises what the call raises."""
        async for _ in self._events:
            pass
        return self._outcome.taken()

    async def cancel(self) -> None:
        """End the call; nothing happens when it is over."""
        await self._events.aclose()  # type: ignore[attr-defined]

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.cancel()
