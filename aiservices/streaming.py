"""From the events of a call to what a streaming method gives: texts, items, or a handle."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Generator, Iterator, Sequence
from contextlib import aclosing, closing
from functools import partial
from typing import Any, Protocol, TypeAlias

import outputparsers
from outputparsers import ItemReader, OutputParser, Problem, partial_reader
from outputparsers.speaking import Speech

from .driving import ASYNCHRONOUS, BLOCKING, Driver
from .errors import OutputParsingError
from .messages import PartialText
from .reading import Delivery, MethodSpec
from .results import Result
from .streams import AsyncStream, Outcome, Stream, Told

Run = Callable[[Driver, Outcome[Any]], Coroutine[Any, Any, None]]
Events: TypeAlias = Generator[Any, None, None]
AsyncEvents: TypeAlias = AsyncGenerator[Any, None]


class Reading(Protocol):
    """What the reader gets of a call: of each piece of text, and of the result when there are no more.

    `begin` is called for each answer of the model. Raises `outputparsers.OutputParsingError`.
    """

    def begin(self) -> None: ...
    def feed(self, text: str, /) -> Sequence[Any]: ...
    def rest(self, result: Result[Any], /) -> Sequence[Any]: ...


def streamed(method: MethodSpec, run: Run) -> Any:
    """What the method returns; `run` makes the call and puts what it comes to into the outcome."""
    answer, outcome = method.answer, Outcome[Any]()
    driver = ASYNCHRONOUS if answer.asynchronous else BLOCKING
    events: Any = driver.events(run(driver, outcome))
    assert answer.parser is not None
    if answer.delivery is Delivery.HANDLE:
        handle: type[Any] = AsyncStream if answer.asynchronous else Stream
        return handle(events, outcome, partial(partial_reader, answer.parser))
    reading: Reading = Items(answer.parser) if answer.delivery is Delivery.ITEMS else Texts()
    return (_aread if answer.asynchronous else _read)(events, reading, outcome, method.where)


class Texts:
    """The pieces of the text, together what a plain call returns: thoughts are left out of it."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        self._speech = Speech()
        self._said: list[str] = []

    def feed(self, text: str) -> Sequence[str]:
        said = self._speech.feed(text)
        if not said:
            return ()
        self._said.append(said)
        return (said,)

    def rest(self, result: Result[Any]) -> Sequence[str]:
        """What was held back, or all of it where no model said it but a tool or a stage."""
        said, text = "".join(self._said), result.content
        if not isinstance(text, str) or not text.startswith(said) or text == said:
            return ()
        return (text[len(said) :],)


class Items:
    """The items of a list, each as soon as it is complete. What was given cannot be taken back."""

    def __init__(self, parser: OutputParser[list[Any]]) -> None:
        self._parser = parser
        self._given = 0
        self.begin()

    def begin(self) -> None:
        if self._given:
            raise outputparsers.OutputParsingError(
                None,
                str(self._parser.type),
                (Problem("", "another answer came after the one that was read"),),
            )
        self._reader = ItemReader(self._parser)
        self._fed = False

    def feed(self, text: str) -> Sequence[Any]:
        self._fed = True
        items = self._reader.feed(text)
        self._given += len(items)
        return items

    def rest(self, result: Result[Any]) -> Sequence[Any]:
        return self._reader.close() if self._fed else list(result.content or ())


def _read(events: Events, reading: Reading, outcome: Outcome[Any], where: str) -> Iterator[Any]:
    with closing(events):
        for event in events:
            try:
                pieces = _pieces(event, reading)
            except outputparsers.OutputParsingError as error:
                events.throw(_failure(error, where))  # the call fails of it, and is told so
                raise
            yield from pieces
    yield from _rest(reading, outcome.taken(), where)


async def _aread(
    events: AsyncEvents, reading: Reading, outcome: Outcome[Any], where: str
) -> AsyncIterator[Any]:
    async with aclosing(events):
        async for event in events:
            try:
                pieces = _pieces(event, reading)
            except outputparsers.OutputParsingError as error:
                await events.athrow(_failure(error, where))
                raise
            for piece in pieces:
                yield piece
    for piece in _rest(reading, outcome.taken(), where):
        yield piece


def _pieces(event: object, reading: Reading) -> Sequence[Any]:
    if type(event) is PartialText:
        return reading.feed(event.text)
    if type(event) is Told and event.begins_an_answer():
        reading.begin()
    return ()


def _rest(reading: Reading, result: Result[Any], where: str) -> Sequence[Any]:
    try:
        return reading.rest(result)
    except outputparsers.OutputParsingError as error:
        failure = _failure(error, where)
        failure.usage, failure.responses = result.usage, result.responses
        failure.tool_executions = result.tool_executions
        raise failure from error


def _failure(error: outputparsers.OutputParsingError, where: str) -> OutputParsingError:
    return OutputParsingError(error.text, error.expected, error.problems, where=where)
