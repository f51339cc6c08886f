"""From the events of a call to what a streaming method gives: texts, items, or a handle."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import aclosing, closing
from functools import partial
from typing import Any

from outputparsers import item_reader, partial_reader

from .driving import ASYNCHRONOUS, BLOCKING, Driver
from .messages import PartialText
from .reading import Answer, Delivery
from .streams import AsyncStream, Outcome, Stream

Run = Callable[[Driver, Outcome[Any]], Coroutine[Any, Any, None]]


def streamed(answer: Answer, run: Run) -> Any:
    """What the method returns; `run` makes the call and puts what it comes to into the outcome."""
    outcome: Outcome[Any] = Outcome()
    assert answer.parser is not None
    reader = partial(partial_reader, answer.parser)
    match answer.delivery, answer.asynchronous:
        case Delivery.PARTS, False:
            return _texts(BLOCKING.events(run(BLOCKING, outcome)))
        case Delivery.PARTS, True:
            return _atexts(ASYNCHRONOUS.events(run(ASYNCHRONOUS, outcome)))
        case Delivery.ITEMS, False:
            return _items(BLOCKING.events(run(BLOCKING, outcome)), answer.item)
        case Delivery.ITEMS, True:
            return _aitems(ASYNCHRONOUS.events(run(ASYNCHRONOUS, outcome)), answer.item)
        case Delivery.HANDLE, False:
            return Stream(BLOCKING.events(run(BLOCKING, outcome)), outcome, reader)
        case Delivery.HANDLE, True:
            return AsyncStream(ASYNCHRONOUS.events(run(ASYNCHRONOUS, outcome)), outcome, reader)
    raise AssertionError(f"{answer.delivery} is no stream")


def _texts(events: Any) -> Iterator[str]:
    with closing(events):
        for event in events:
            if type(event) is PartialText:
                yield event.text


async def _atexts(events: Any) -> AsyncIterator[str]:
    async with aclosing(events):
        async for event in events:
            if type(event) is PartialText:
                yield event.text


def _items(events: Any, kind: Any) -> Iterator[Any]:
    reader = item_reader(kind)
    with closing(events):
        for event in events:
            if type(event) is PartialText:
                yield from reader.feed(event.text)
    yield from reader.close()


async def _aitems(events: Any, kind: Any) -> AsyncIterator[Any]:
    reader = item_reader(kind)
    async with aclosing(events):
        async for event in events:
            if type(event) is PartialText:
                for item in reader.feed(event.text):
                    yield item
    for item in reader.close():
        yield item
