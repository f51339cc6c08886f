"""What a method may return, and what is said of a return type that cannot be answered."""

from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Literal, Never, NoReturn, Optional, Protocol

import pytest
from pydantic import BaseModel
from typing_extensions import TypeAliasType

import aiservices
from aiservices import (
    AiMessage,
    AudioContent,
    ChatRequest,
    ChatResponse,
    Content,
    FinishReason,
    ImageContent,
    InvocationContext,
    Result,
    TokenUsage,
    UserMessage,
)
from aiservices.testing import ScriptedChatModel
from tests.asking import answer, asking
from tests.declarations import problems_of, request_of


class Letter(Enum):
    A = "a"
    B = "b"


class Person(BaseModel):
    name: str
    age: int


Words = TypeAliasType("Words", list[str])
Told = TypeAliasType("Told", Result[str])
Tree = TypeAliasType("Tree", "list[Tree] | int")


def asked(kind: Any, *replies: Any) -> Any:
    with ScriptedChatModel(*replies) as model:
        return aiservices.create(asking(kind), chat_model=model).ask("x")


@pytest.mark.parametrize(
    ("kind", "reply", "value"),
    [
        (str, "hi", "hi"),
        (AiMessage, "hi", AiMessage("hi")),
        (ChatResponse, answer("hi"), answer("hi")),
        (None, "hi", None),
        (type(None), "hi", None),
        (int, "3", 3),
        (Optional[int], "3", 3),  # noqa: UP045 - the old spelling counts too
        (Annotated[str, "a comment"], "hi", "hi"),
        (Annotated[AiMessage, "a comment"], "hi", AiMessage("hi")),
        (Words, '["a"]', ["a"]),
        (Tree, "[[1], 2]", [[1], 2]),
        (Literal["a", "b"], "b", "b"),
        (Person, '{"name":"A","age":1}', Person(name="A", age=1)),
    ],
    ids=str,
)
def test_the_caller_gets_what_the_annotation_says(kind: Any, reply: Any, value: Any) -> None:
    assert asked(kind, reply) == value


def test_a_result_holds_the_value_and_how_it_came_about() -> None:
    """TYP-06"""
    text = asked(Result[str], answer("hi"))
    assert isinstance(text, Result)
    assert (text.content, text.usage, text.finish_reason) == ("hi", TokenUsage(1, 2), FinishReason.STOP)
    assert asked(Result[list[int]], "[1,2]").content == [1, 2]
    assert asked(Told, "hi").content == "hi"
    assert asked(Annotated[Result[str], "a comment"], "hi").content == "hi"
    assert asked(Result[AiMessage], "hi").content == AiMessage("hi")
    assert asked(Result[ChatResponse], answer("hi")).content == answer("hi")
    assert asked(Result[None], answer("hi")).usage == TokenUsage(1, 2)


def test_a_result_keeps_the_item_type_of_its_list() -> None:
    """SCH-11"""
    assert asked(Result[list[Letter]], '["a","b"]').content == [Letter.A, Letter.B]
    instructions = request_of(asking(Result[list[Letter]]), "x", reply='["a"]').messages[-1].text
    assert "must be one of [a, b]" in str(instructions)


def some_function() -> None: ...


@dataclass
class Holder:
    service: Callable[[], str]


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        (Result, "Result names no type: write Result[str]"),
        (Result[Result[str]], "a Result of a Result: write Result[...] once"),
        (Result[Told], "a Result of a Result: write Result[...] once"),
        (list[Result[str]], "Result belongs to the framework"),
        (Result[str] | None, "Result belongs to the framework"),
        (Awaitable[str], "write `async def` and the type itself"),
        (Coroutine[Any, Any, str], "write `async def` and the type itself"),
        (Awaitable, "write `async def` and the type itself"),
        (Any, "says nothing: name the type you want"),
        (object, "says nothing: name the type you want"),
        (Result[Any], "says nothing: name the type you want"),
        (Annotated[Any, "x"], "says nothing: name the type you want"),
        (NoReturn, "says nothing: name the type you want"),
        (Never, "says nothing: name the type you want"),
        (ChatRequest, "ChatRequest belongs to the framework"),
        (TokenUsage, "TokenUsage belongs to the framework"),
        (InvocationContext, "InvocationContext belongs to the framework"),
        (UserMessage, "UserMessage belongs to the framework"),
        (AudioContent, "AudioContent belongs to the framework"),
        (list[ImageContent] | None, "ImageContent belongs to the framework"),
        (Content, "TextContent belongs to the framework"),
        (list[AiMessage], "AiMessage belongs to the framework"),
        (AiMessage | None, "AiMessage belongs to the framework"),
        (dict[str, ChatResponse], "ChatResponse belongs to the framework"),
        (some_function, "some_function is a function, not a type"),
        (Callable[[], str], "a function is no answer"),
        (bytes, "bytes do not travel as JSON: write str"),
        (type, "no answer can become an instance of it"),
        (Holder, "a function is no answer"),
    ],
    ids=str,
)
def test_a_return_type_that_no_model_can_answer_is_named_with_what_to_write(kind: Any, why: str) -> None:
    (problem, twin) = problems_of(asking(kind))
    assert problem.startswith("Asker.ask: ")
    assert twin.startswith("Asker.aask: ")
    assert why in problem


def test_a_tuple_of_classes_is_no_union() -> None:
    """SCH-14"""
    kinds = (int, str)
    (problem, _) = problems_of(asking(list[kinds]))  # type: ignore[valid-type]
    assert problem.startswith("Asker.ask: ")
    assert "(int, str)" in problem
    assert "int | str" in problem


def test_an_annotation_that_is_no_type_is_named() -> None:
    class Asker(Protocol):
        def ask(self, text: "[].nope") -> "1 +": ...  # type: ignore  # noqa: F722

    problems = problems_of(Asker)
    assert problems[0].startswith("Asker.ask, parameter 'text': the annotation '[].nope' is not a type")
    assert problems[1].startswith("Asker.ask: the annotation '1 +' is not a type")


def test_methods_of_one_type_share_its_parser() -> None:
    from aiservices.reading import read_service

    first, second = read_service(asking(Person)).methods
    assert first.answer.parser is second.answer.parser is not None
