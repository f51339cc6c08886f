"""Growing values: what has arrived of a typed answer, again and again."""

from __future__ import annotations

import asyncio
import json
from itertools import pairwise
from typing import Any

from aiservices import (
    Stream,
    ToolCall,
    tool,
)
from aiservices.testing import Pieces
from aiservices.tools import ReturnBehavior

from .services import HANDLES, Person, asked, calling, now
from .styles import read


def partials(stream: Any) -> list[Any]:
    return read(stream.partials())


@HANDLES
def test_values_never_go_backwards_and_end_with_the_value(kind: Any) -> None:
    text = json.dumps([{"name": "Ada", "age": 36}, {"name": "Tom", "age": 45}])
    stream = asked(kind[list[Person]], Pieces(*text))
    seen = partials(stream)
    assert seen[-1] == [Person(name="Ada", age=36), Person(name="Tom", age=45)]
    sizes = [len(value) for value in seen]
    assert sizes == sorted(sizes)
    names = [value[0].name for value in seen if value and value[0].name]
    assert all(later.startswith(earlier) for earlier, later in pairwise(names))


def test_values_do_not_change_when_later_ones_come() -> None:
    text = json.dumps({"name": "Ada", "age": 36, "tags": ["a", "b"]})

    class Tagged(Person):
        tags: list[str]

    seen, then = [], []
    for value in asked(Stream[Tagged], Pieces(*text)).partials():
        seen.append(value)
        then.append(value.model_dump_json() if value.__pydantic_fields_set__ else repr(value))
    assert [v.model_dump_json() if v.__pydantic_fields_set__ else repr(v) for v in seen] == then


@HANDLES
def test_values_of_a_text_grow(kind: Any) -> None:
    assert partials(asked(kind[str], Pieces("a", "b", "c"))) == ["a", "ab", "abc", "abc"]


@HANDLES
def test_values_begin_anew_after_a_tool_round(kind: Any) -> None:
    seen = partials(asked(kind[str], calling("let me"), Pieces("12", ":00"), tools=[now]))
    assert seen == ["let", "let me", "12", "12:00", "12:00"]


@HANDLES
def test_values_begin_anew_when_the_answer_is_asked_for_again(kind: Any) -> None:
    replies = Pieces('{"name": "Ada"', ', "age": "old"}'), Pieces('{"name": "Bob"', ', "age": 3}')
    seen = partials(asked(kind[Person], *replies))
    names = [value.name for value in seen if value.name]
    assert names == sorted(names)
    assert seen[-1] == Person(name="Bob", age=3)


@HANDLES
def test_values_of_an_immediate_tool_are_none(kind: Any) -> None:
    @tool(returns=ReturnBehavior.IMMEDIATE)
    def person() -> str:
        """A person."""
        return "Ada"

    stream = asked(kind[Person], ToolCall("c1", "person", "{}"), tools=[person])
    assert partials(stream) == []
    result = stream.result() if kind is Stream else asyncio.run(stream.result())
    assert (result.content, result.tool_executions[0].value) == (None, "Ada")
