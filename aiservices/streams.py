"""The handles of streamed answers."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from types import AsyncGeneratorType, GeneratorType, TracebackType
from typing import Any, Generic, Protocol, Self, TypeAlias, TypeVar

from .events import Event, RequestSent
from .messages import ModelEvent, PartialText
from .results import Result

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
StreamEvent: TypeAlias = ModelEvent | Event
"""What `.events()` gives: the model's own events, and those that listeners hear."""


class Told(deque[Event]):
    """What was told and not read yet. A stream hands it over as it is and its reader takes out what is there.

    So the order is that of the telling, also when tools tell from several threads.
    """

    __slots__ = ()

    def taken(self) -> Iterator[Event]:
        while self:
            yield self.popleft()

    def begins_an_answer(self) -> bool:
        """Whether what comes next is another answer of the model; takes out all there is."""
        return RequestSent in [type(event) for event in self.taken()]


class PartialReader(Protocol):
    """Reads a value while its text arrives."""

    def feed(self, text: str, /) -> Any: ...


class Outcome(Generic[T]):
    """What a stream came to, once it has."""

    result: Result[T] | None = None
    error: Exception | None = None

    def taken(self) -> Result[T]:
        """The result. Raises what ended the stream, `RuntimeError` for one that was cancelled."""
        if self.result is not None:
            return self.result
        if self.error is not None:
            raise self.error
        raise RuntimeError("the stream was cancelled before its end, so there is no result")

    def last(self) -> Iterator[T]:
        """The value, unless tools answered or the reader has cancelled. Raises what ended the stream."""
        if self.error is not None or (self.result is not None and not self.result.immediate):
            yield self.taken().content


class Growing(Generic[T]):
    """The growing value of a stream, event by event."""

    def __init__(self, make_reader: Callable[[], PartialReader]) -> None:
        self._make_reader = make_reader
        self._reader = make_reader()

    def after(self, event: object) -> T | None:
        """The value after an event, when there is a new one; each answer of the model begins anew."""
        if isinstance(event, PartialText):
            grown: T | None = self._reader.feed(event.text)
            return grown
        if isinstance(event, Told) and event.begins_an_answer():
            self._reader = self._make_reader()
        return None


class Stream(Generic[T_co]):
    """An answer that is read while it is written. Nothing is sent before the first step.

    Read it once, by `events` or by `partials`; a reader that stops may go on later, and `result` reads on to
    the end. Leaving the `with` block, `cancel`, or dropping the handle ends the call: what tools have done is
    undone as for any call that fails.
    """

    def __init__(
        self,
        events: GeneratorType[Any, None, None],
        outcome: Outcome[T_co],
        reader: Callable[[], PartialReader],
    ) -> None:
        self._events = events
        self._outcome = outcome
        self._reader = reader
        self._cancelled = False

    def events(self) -> Iterator[StreamEvent]:
        """What happens, as it happens. Raises what the call raises."""
        for event in self._steps():
            if isinstance(event, Told):
                yield from event.taken()
            else:
                yield event

    def partials(self) -> Iterator[T_co]:
        """Growing, partly filled values; the last one is the validated value."""
        growing: Growing[T_co] = Growing(self._reader)
        for event in self._steps():
            value = growing.after(event)
            if value is not None:
                yield value
        yield from self._outcome.last()

    def result(self) -> Result[T_co]:
        """The result, after reading to the end. Raises what the call raises."""
        for _ in self._steps():
            pass
        return self._outcome.taken()

    def cancel(self) -> None:
        """End the call; nothing happens when it is over.

        While another thread reads, or called by what the call itself runs, it waits for the next event.
        """
        if self._events.gi_running:
            self._cancelled = True
        else:
            self._events.close()

    def _steps(self) -> Iterator[Any]:
        """Not closed with its reader: it may come back for the rest."""
        for event in self._events:
            if self._cancelled:
                self._events.close()
                return
            yield event

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cancel()


class AsyncStream(Generic[T_co]):
    """The asynchronous twin of `Stream`: iterate with `async for`, await `result` and `cancel`."""

    def __init__(
        self,
        events: AsyncGeneratorType[Any, None],
        outcome: Outcome[T_co],
        reader: Callable[[], PartialReader],
    ) -> None:
        self._events = events
        self._outcome = outcome
        self._reader = reader
        self._cancelled = False

    async def events(self) -> AsyncIterator[StreamEvent]:
        """What happens, as it happens. Raises what the call raises."""
        async for event in self._events:
            if self._cancelled:
                await self._events.aclose()
                return
            if isinstance(event, Told):
                for told in event.taken():
                    yield told
            else:
                yield event

    async def partials(self) -> AsyncIterator[T_co]:
        """Growing, partly filled values; the last one is the validated value."""
        growing: Growing[T_co] = Growing(self._reader)
        async for event in self._events:
            if self._cancelled:
                await self._events.aclose()
                return
            value = growing.after(event)
            if value is not None:
                yield value
        for value in self._outcome.last():
            yield value

    async def result(self) -> Result[T_co]:
        """The result, after reading to the end. Raises what the call raises."""
        async for _ in self._events:
            if self._cancelled:
                await self._events.aclose()
        return self._outcome.taken()

    async def cancel(self) -> None:
        """End the call; nothing happens when it is over.

        While another task reads, or called by what the call itself runs, it waits for the next event.
        """
        if self._events.ag_running:
            self._cancelled = True
        else:
            await self._events.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.cancel()
