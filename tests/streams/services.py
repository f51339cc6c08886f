"""What the tests of reading streams share: a method that streams, its answers, and reading up to an error."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from enum import Enum
from typing import Any

import pytest
from pydantic import BaseModel

import aiservices
from aiservices import AsyncStream, ChatModel, Stream, TokenUsage, ToolCall, tool
from aiservices.messages import AiMessage, ChatResponse, FinishReason
from aiservices.testing import ScriptedChatModel

from .styles import streaming

KINDS = pytest.mark.parametrize("kind", [Iterator, AsyncIterator])
HANDLES = pytest.mark.parametrize("kind", [Stream, AsyncStream])
ADA = '{"name": "Ada", "age": 36}'
TOM = '{"name": "Tom", "age": 45}'


class Person(BaseModel):
    name: str
    age: int


class Color(Enum):
    RED = "red"
    BLUE = "blue"


@tool
def now() -> str:
    """The time."""
    return "12:00"


def calling(text: str | None = None) -> ChatResponse:
    """An answer that asks for the time."""
    message = AiMessage(text, (ToolCall("c1", "now", ""),))
    return ChatResponse(message, TokenUsage(1, 1), FinishReason.TOOL_CALLS)


def asked(kind: Any, *replies: Any, **options: Any) -> Any:
    """What a method of this kind returns, when its model answers this."""
    given = replies[0] if replies and isinstance(replies[0], ChatModel) else ScriptedChatModel(*replies)
    return aiservices.create(streaming(kind), chat_model=given, **options).ask("hi")


def read_until_it_fails(stream: Any, error: type[BaseException]) -> tuple[list[Any], Any]:
    """What an iterator of either kind gives before it raises, and what it raises."""
    seen: list[Any] = []

    async def reading() -> None:
        async for item in stream:
            seen.append(item)  # noqa: PERF401 - what came before the error counts

    with pytest.raises(error) as caught:
        asyncio.run(reading()) if hasattr(stream, "__aiter__") else seen.extend(stream)
    return seen, caught.value
