"""Streams of items: each validated and handed over as soon as it is complete."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Annotated, Any

import pytest
from pydantic import Field

import aiservices
from aiservices import (
    CallFailed,
    ChatModel,
    ChatRequest,
    MessageWindowChatMemory,
    OutputParsingError,
    PartialText,
    TokenUsage,
    ToolCall,
    tool,
)
from aiservices.testing import ScriptedChatModel
from aiservices.tools import ReturnBehavior
from tests.asking import answer

from .models import Watched
from .services import ADA, KINDS, TOM, Color, Person, asked, calling, now, read_until_it_fails
from .styles import read


@KINDS
def test_items_are_handed_over_when_they_are_complete(kind: Any) -> None:
    """STR-11"""
    pieces = f"[{ADA}", ',{"name":"Tom"', ',"age":45}', "]"
    model, made = Watched(*pieces), []

    async def reading() -> None:
        async for item in asked(kind[Person], model):
            made.append((item.name, len(model.log)))

    if kind is Iterator:
        made = [(item.name, len(model.log)) for item in asked(kind[Person], model)]
    else:
        asyncio.run(reading())
    assert made == [("Ada", 1), ("Tom", 3)]


def test_items_reach_the_reader_while_the_model_waits() -> None:
    read_first = threading.Event()

    class Waiting(ChatModel):
        def stream(self, request: ChatRequest) -> Iterator[Any]:
            yield PartialText(f"[{ADA},")
            assert read_first.wait(5)
            yield PartialText(f"{TOM}]")
            yield aiservices.ResponseDone(answer(f"[{ADA},{TOM}]"))

    async def reading() -> list[str]:
        names = []
        async for item in asked(AsyncIterator[Person], Waiting()):
            names.append(item.name)
            read_first.set()
        return names

    assert asyncio.run(reading()) == ["Ada", "Tom"]


@KINDS
@pytest.mark.parametrize(
    ("item", "reply", "items"),
    [
        (Person, f"```json\n[{ADA}]\n```", [Person(name="Ada", age=36)]),
        (int, "[1, 2]", [1, 2]),
        (Color, '["red", "blue"]', [Color.RED, Color.BLUE]),
        (list[str], '[["a"], []]', [["a"], []]),
        (Annotated[str, Field(max_length=3)], '["a", "b"]', ["a", "b"]),
        (Person, "[]", []),
    ],
    ids=str,
)
def test_items_are_of_any_type(kind: Any, item: Any, reply: str, items: list[Any]) -> None:
    assert read(asked(kind[item], reply)) == items


@KINDS
def test_items_that_are_wrong_name_their_place_and_are_not_asked_for_again(kind: Any) -> None:
    model, heard = Watched(f"[{ADA}", ',{"name": 1}', f",{TOM}]"), list[Any]()
    memory = MessageWindowChatMemory(10)
    stream = asked(kind[Person], model, listeners=[heard.append], chat_memory=memory)
    seen, error = read_until_it_fails(stream, OutputParsingError)
    assert [item.name for item in seen] == ["Ada"]
    assert {problem.path for problem in error.problems} == {"[1].name", "[1].age"}
    assert "Streaming.ask" in str(error)
    assert error.usage == TokenUsage()
    assert (len(model.requests), model.freed, len(model.log)) == (1, 1, 2)
    assert [event.error for event in heard if isinstance(event, CallFailed)] == [error]
    assert list(memory.messages()) == []


@KINDS
def test_items_of_a_cut_answer_come_before_its_error(kind: Any) -> None:
    stream = asked(kind[Person], f'[{ADA}, {TOM}, {{"name": "Eve')
    seen, error = read_until_it_fails(stream, OutputParsingError)
    assert [item.name for item in seen] == ["Ada", "Tom"]
    assert "cut off" in str(error)


@KINDS
def test_items_that_are_none_at_all_are_an_error(kind: Any) -> None:
    model = ScriptedChatModel("I have no list")
    with pytest.raises(OutputParsingError):
        read(asked(kind[Person], model))
    assert len(model.requests) == 1


def test_items_of_an_immediate_tool_are_its_value() -> None:
    @tool(returns=ReturnBehavior.IMMEDIATE)
    def numbers() -> list[int]:
        """Numbers."""
        return [1, 2]

    assert read(asked(Iterator[int], ToolCall("c1", "numbers", "{}"), tools=[numbers])) == [1, 2]


def test_items_are_of_the_answer_and_not_of_words_before_a_tool_round() -> None:
    assert read(asked(Iterator[int], calling("I look [up"), "[1, 2]", tools=[now])) == [1, 2]


def test_items_that_another_answer_follows_are_not_mixed_with_its_own() -> None:
    stream = asked(Iterator[int], calling("[1, 2]"), "[3]", tools=[now])
    seen, error = read_until_it_fails(stream, OutputParsingError)
    assert seen == [1, 2]
    assert "another answer came" in str(error)
