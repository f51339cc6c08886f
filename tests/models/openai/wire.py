"""What an OpenAI-compatible server says, and a model to ask it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aiservices.messages import ChatRequest, ChatResponse, ModelEvent, ResponseDone, UserMessage
from aiservices.models.openai import OpenAiChatModel
from tests.models.fake_server import Script

KEY = "sk-test-key-1234567890"
USAGE = {"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 3}}
DONE = b"data: [DONE]\n\n"
HELLO = ChatRequest([UserMessage("Hello")])


def model(script: Script, **options: Any) -> OpenAiChatModel:
    return OpenAiChatModel("gpt-test", **({"api_key": KEY, "base_url": script.url} | options))


def completion(text: str | None = None, finish: str | None = "stop", **message: Any) -> dict[str, Any]:
    said = {"role": "assistant", "content": text, **message}
    choice = {"index": 0, "message": said, "finish_reason": finish}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "gpt-test-1",
        "choices": [choice],
        "usage": USAGE,
    }


def chunk(delta: Mapping[str, Any] | None = None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": dict(delta or {}), "finish_reason": finish, **more}
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "gpt-test-1", "choices": [choice]}


def call_part(arguments: str | None = None, **more: Any) -> dict[str, Any]:
    """A delta with a piece of a tool call; `name` goes where it belongs."""
    function = {"arguments": arguments} | ({"name": more.pop("name")} if "name" in more else {})
    return chunk({"tool_calls": [{"function": function, **more}]})


def answered(events: list[ModelEvent]) -> ChatResponse:
    last = events[-1]
    assert isinstance(last, ResponseDone)
    return last.response
