"""From the bytes of an answer to what they say. Nothing here waits for anything."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from pydantic_core import from_json

from ...errors import ServerError
from ...messages import ChatResponse, ModelEvent, PartialText, PartialThinking, ResponseDone
from ..failures import Failure
from .dialect import Dialect
from .sse import END_MARK, Events

# What comes of reading JSON that is not of the form that it should have.
_MISREAD: Final = (AttributeError, IndexError, KeyError, TypeError, ValueError)


def decoded(data: bytes) -> dict[str, Any]:
    """A JSON object. Raises `Failure` for anything else."""
    try:
        value = from_json(data)
    except ValueError as error:
        raise Failure("its answer is not JSON", kind=ServerError) from error
    if not isinstance(value, dict):
        raise Failure(f"its answer is a JSON {type(value).__name__}, not an object", kind=ServerError)
    return value


def whole_answer(data: bytes, dialect: Dialect) -> ChatResponse:
    """Read an answer that came in one piece."""
    value = decoded(data)
    try:
        return dialect.answer(value)
    except _MISREAD as error:
        raise _strange() from error


def pieces_of(response: ChatResponse) -> Iterator[ModelEvent]:
    """A stream from an answer that came in one piece, as from a server that does not stream."""
    if response.message.thinking:
        yield PartialThinking(response.message.thinking)
    if response.message.text:
        yield PartialText(response.message.text)
    yield ResponseDone(response)


class Reading:
    """Reads the bytes of one stream as they come. `ended` when the whole answer has been told."""

    def __init__(self, dialect: Dialect) -> None:
        self._events = Events()
        self._assembly = dialect.assembly()
        self.ended = False

    def feed(self, received: bytes) -> Iterator[ModelEvent]:
        """What these bytes say."""
        return self._read(self._events.feed(received))

    def finish(self) -> Iterator[ModelEvent]:
        """What remains to be said when no more bytes come. Raises `Failure` when the answer is not whole."""
        yield from self._read(self._events.finish())
        if not self.ended:
            yield from self._end(marked=False)

    def _read(self, events: list[bytes]) -> Iterator[ModelEvent]:
        for data in events:
            if self.ended:
                return
            if data.startswith(END_MARK):
                yield from self._end(marked=True)
                return
            value = decoded(data)
            try:
                said = self._assembly.feed(value)
            except _MISREAD as error:
                raise _strange() from error
            yield from said
            if self._assembly.over:
                yield from self._end(marked=True)

    def _end(self, *, marked: bool) -> Iterator[ModelEvent]:
        self.ended = True
        try:
            said = self._assembly.finish(marked=marked)
        except _MISREAD as error:
            raise _strange() from error
        yield from said


def _strange() -> Failure:
    return Failure("its answer has not the form that the API describes", kind=ServerError)
