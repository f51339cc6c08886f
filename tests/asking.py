"""Services of one question, and the answers they are given."""

from __future__ import annotations

from typing import Any, Protocol

from aiservices.messages import AiMessage, ChatResponse, FinishReason, TokenUsage


def asking(kind: Any) -> Any:
    """A Protocol with `ask` and its twin `aask`, which take a text and return `kind`."""

    class Asker(Protocol):
        def ask(self, text: str) -> kind: ...

        async def aask(self, text: str) -> kind: ...

    for method in (Asker.ask, Asker.aask):
        method.__annotations__["return"] = kind
    return Asker


def answer(
    text: str | None = None,
    reason: FinishReason = FinishReason.STOP,
    *,
    refusal: str | None = None,
    **more: Any,
) -> ChatResponse:
    """A response that used one token of input and two of output."""
    attributes = {"refusal": refusal} if refusal is not None else {}
    return ChatResponse(AiMessage(text, attributes=attributes), TokenUsage(1, 2), reason, **more)
