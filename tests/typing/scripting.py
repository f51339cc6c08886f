"""Tests as type checkers see them: what was asked can be read without narrowing."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_type

from aiservices import ChatMemory, ChatRequest
from aiservices.testing import ScriptedChatModel


def read(scripted_chat_model: Callable[..., ScriptedChatModel], memory: ChatMemory) -> None:
    model = scripted_chat_model("Take a hat.")
    assert_type(model.prompts, list[str])
    assert_type(model.request, ChatRequest)
    assert "sunny" in model.prompts[0]
    assert_type([message.text for message in model.request.messages], list[str | None])
    assert [message.text for message in memory.messages()] == ["hello"]
