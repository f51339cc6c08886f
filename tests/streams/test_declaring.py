"""Which annotations are streams, and what is said of those that only look like one."""

from __future__ import annotations

import collections.abc
import typing
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Generator,
    Iterable,
    Iterator,
    Sequence,
)
from typing import Annotated, Any, Protocol

import pytest
from pydantic import BaseModel
from typing_extensions import TypeAliasType

import aiservices
from aiservices import AiMessage, AsyncStream, ChatResponse, Result, Stream
from aiservices.testing import ScriptedChatModel
from tests.declarations import problems_of

from .styles import read, streaming

Words = TypeAliasType("Words", Iterator[str])
Text = TypeAliasType("Text", str)


class Person(BaseModel):
    name: str
    age: int


ONE = '[{"name": "A", "age": 1}]'
A = Person(name="A", age=1)
ALONE = "stands alone"
EITHER = "whether it is a list or a stream: write list[T]"
ITSELF = "a stream is of the value itself"


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        (Iterator, ALONE),
        (AsyncIterator, ALONE),
        (typing.Iterator, ALONE),
        (typing.AsyncIterator, ALONE),
        (Stream, ALONE),
        (AsyncStream, ALONE),
        (Iterable[Person], EITHER),
        (AsyncIterable[str], EITHER),
        (typing.Iterable[str], EITHER),
        (Iterable, EITHER),
        (Generator, ALONE),
        (AsyncGenerator, ALONE),
        (Generator[str, str, None], "is sent nothing"),
        (Generator[str, None, int], "is sent nothing"),
        (AsyncGenerator[str, str], "is sent nothing"),
        (list[Iterator[str]], ALONE),
        (Iterator[str] | None, ALONE),
        (Iterator[Iterator[str]], ALONE),
        (Iterator[Stream[str]], ALONE),
        (Stream[Stream[str]], ITSELF),
        (Stream[Iterator[str]], ITSELF),
        (Stream[Result[str]], ITSELF),
        (Stream[AiMessage], ITSELF),
        (Stream[ChatResponse], ITSELF),
        (Stream[None], ITSELF),
        (Stream[Any], "says nothing"),
        (Iterator[Any], "name their type"),
        (AsyncIterator[None], "name their type"),
        (Iterator[Result[str]], "Result belongs to the framework"),
        (Iterator[AiMessage], "AiMessage belongs to the framework"),
        (Result[Stream[str]], "write Stream[T]"),
        (Result[Iterator[str]], "write Stream[T]"),
    ],
    ids=str,
)
def test_what_is_no_stream_is_refused_with_what_to_write(kind: Any, why: str) -> None:
    """STR-14"""
    (problem,) = problems_of(streaming(kind))
    assert problem.startswith("Streaming.ask: ")
    assert why in problem


@pytest.mark.parametrize(
    "kind", [Iterator[str], AsyncIterator[Person], Stream[str], AsyncStream[Person], Words]
)
def test_a_stream_is_not_awaited(kind: Any) -> None:
    class Awaiting(Protocol):
        async def ask(self, text: str) -> Any: ...

    Awaiting.ask.__annotations__["return"] = kind
    (problem,) = problems_of(Awaiting)
    assert problem == "Awaiting.ask: a stream is returned at once, not awaited: write `def` without async"


@pytest.mark.parametrize(
    ("kind", "reply", "given"),
    [
        (typing.Iterator[Person], ONE, [A]),
        (collections.abc.Iterator[Person], ONE, [A]),
        (typing.AsyncIterator[Person], ONE, [A]),
        (typing.Generator[Person, None, None], ONE, [A]),
        (Generator[str, None, None], "hi", ["hi"]),
        (AsyncGenerator[Person, None], ONE, [A]),
        (typing.AsyncGenerator[str, None], "hi", ["hi"]),
        (Annotated[Iterator[str], "a comment"], "hi", ["hi"]),
        (Words, "hi", ["hi"]),
        (Iterator[Text], "hi", ["hi"]),
    ],
    ids=str,
)
def test_all_spellings_of_a_stream_are_equal(kind: Any, reply: str, given: list[Any]) -> None:
    service = aiservices.create(streaming(kind), chat_model=ScriptedChatModel(reply))
    assert read(service.ask("x")) == given


@pytest.mark.parametrize("kind", [list[Person], Sequence[Person]])
def test_lists_are_no_streams(kind: Any) -> None:
    """STR-14: they are read before the call returns, and so are their errors."""
    service = aiservices.create(streaming(kind), chat_model=ScriptedChatModel(ONE, "?"), parse_retries=0)
    assert len(service.ask("x")) == 1
    with pytest.raises(aiservices.OutputParsingError):
        service.ask("x")


class Mixed(Protocol):
    def plain(self, text: str) -> str: ...
    async def aplain(self, text: str) -> str: ...
    def texts(self, text: str) -> Iterator[str]: ...
    def own(self, text: str) -> Iterator[str]:
        yield "mine"
        yield from self.texts(text)


def test_all_styles_stand_in_one_service_beside_methods_of_its_own() -> None:
    service = aiservices.create(Mixed, chat_model=ScriptedChatModel("a", "b c"))
    assert service.plain("x") == "a"
    assert list(service.own("x")) == ["mine", "b", " c"]


def test_wrong_arguments_are_told_at_the_call() -> None:
    service: Any = aiservices.create(Mixed, chat_model=ScriptedChatModel())
    with pytest.raises(TypeError):
        service.texts()


def test_generics_bind_the_value_of_a_stream() -> None:
    T = typing.TypeVar("T", covariant=True)

    class Base(Protocol[T]):
        def ask(self, text: str) -> Stream[T]: ...

    class Persons(Base[Person], Protocol): ...

    service = aiservices.create(Persons, chat_model=ScriptedChatModel('{"name": "A", "age": 1}'))
    assert service.ask("x").result().content == A


def test_a_model_whose_stream_is_no_iterator_is_named() -> None:
    class Wrong(aiservices.ChatModel):
        async def achat(self, request: Any) -> Any:
            raise AssertionError

        async def astream(self, request: Any) -> Any:  # type: ignore[override]
            return []

        def stream(self, request: Any) -> Any:
            return None

    for kind in (Iterator[str], AsyncIterator[str]):
        service = aiservices.create(streaming(kind), chat_model=Wrong())
        with pytest.raises(aiservices.ServerError, match="Wrong"):
            read(service.ask("x"))
