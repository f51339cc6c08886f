"""Creating services in tests: what is wrong with a declaration, what a call asks the model."""

from __future__ import annotations

from typing import Any

import pytest

import aiservices
from aiservices import ChatRequest, ConfigurationError
from aiservices.reading import read_service
from aiservices.testing import ScriptedChatModel


def problems_of(service: Any, **options: Any) -> tuple[str, ...]:
    """Everything that is wrong with a declaration, a sentence each."""
    with pytest.raises(ConfigurationError) as caught:
        aiservices.create(service, chat_model=ScriptedChatModel(), **options)
    return caught.value.problems


def request_of(
    service: Any, *args: Any, method: str = "ask", reply: str = "ok", **options: Any
) -> ChatRequest:
    """The request that a call of the method sends."""
    with ScriptedChatModel(reply) as model:
        getattr(aiservices.create(service, chat_model=model, **options), method)(*args)
    return model.request


def user_text(service: Any, *args: Any, method: str = "ask", **options: Any) -> str:
    """The text of the user message that a call sends; the method returns `str`."""
    return request_of(service, *args, method=method, **options).messages[-1].text or ""


def system_text(service: Any, *args: Any, method: str = "ask", **options: Any) -> str | None:
    """The text of the system message that a call sends, or `None` when there is none."""
    first = request_of(service, *args, method=method, **options).messages[0]
    return first.text if isinstance(first, aiservices.SystemMessage) else None


def calling_the_model(service: Any) -> list[str]:
    """The names of the methods that a model answers."""
    return [method.name for method in read_service(service).methods]
