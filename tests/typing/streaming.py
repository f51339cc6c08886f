"""What type checkers make of streams: the item of an iterator, and the value behind a handle."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Protocol, assert_type

import aiservices
from aiservices import AsyncStream, ModelEvent, Result, Stream
from aiservices.events import Event
from aiservices.serve import server_sent_events


@dataclass
class Person:
    name: str


class Writer(Protocol):
    def texts(self, text: str) -> Iterator[str]: ...

    def people(self, text: str) -> AsyncIterator[Person]: ...

    def person(self, text: str) -> Stream[Person]: ...

    def aperson(self, text: str) -> AsyncStream[Person]: ...


writer = aiservices.create(Writer, chat_model="local")
for text in writer.texts("x"):
    assert_type(text, str)

with writer.person("x") as stream:
    assert_type(stream, Stream[Person])
    for growing in stream.partials():
        assert_type(growing, Person)
    for event in stream.events():
        assert_type(event, ModelEvent | Event)
    assert_type(stream.result(), Result[Person])
    assert_type(stream.result().content, Person)
    assert_type(stream.cancel(), None)

wider: Stream[object] = writer.person("x")


async def reading() -> None:
    async for person in writer.people("x"):
        assert_type(person, Person)
    async with writer.aperson("x") as stream:
        async for growing in stream.partials():
            assert_type(growing, Person)
        async for event in stream.events():
            assert_type(event, ModelEvent | Event)
        assert_type(await stream.result(), Result[Person])
        await stream.cancel()
    async for sent in server_sent_events(writer.aperson("x")):
        assert_type(sent, bytes)
    server_sent_events(writer.people("x"))
