"""Methods that stream, as tools of another service: they are read to their end."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any, Literal

import pytest

import aiservices
from aiservices import AsyncStream, Stream, ToolCall
from aiservices.testing import ScriptedChatModel

from .styles import STYLES, asker, call, streaming


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    ("kind", "reply", "value"),
    [
        (Iterator[str], "a b", "a b"),
        (AsyncIterator[str], "a b", "a b"),
        (Iterator[Literal["a", "b"]], '["a", "b"]', ["a", "b"]),
        (AsyncIterator[int], "[1, 2]", [1, 2]),
        (Stream[int], "7", 7),
        (AsyncStream[list[int]], "[7]", [7]),
    ],
    ids=str,
)
def test_a_stream_as_a_tool_gives_its_whole_value(style: str, kind: Any, reply: str, value: Any) -> None:
    inner = aiservices.create(streaming(kind), chat_model=ScriptedChatModel(reply))
    model = ScriptedChatModel(ToolCall("c1", "ask", '{"text": "x"}'), "done")
    result = call(style, aiservices.create(asker(str), chat_model=model, tools=[inner]))
    assert (result.content, result.tool_executions[0].value) == ("done", value)
