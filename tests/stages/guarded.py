"""What the tests of guarding share: services with a script, and guardrails that note what they see."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import aiservices
from aiservices import ChatMessage, MessageWindowChatMemory
from aiservices.events import GuardrailRan
from aiservices.testing import ScriptedChatModel
from guardrails import Accept, GuardrailRequest, Reprompt, Verdict
from tests.asking import asking


def service(*replies: Any, returns: Any = str, **options: Any) -> tuple[Any, ScriptedChatModel]:
    """A service that answers from a script, and its model."""
    model = ScriptedChatModel(*replies)
    return aiservices.create(asking(returns), chat_model=model, **options), model


def remembering(*replies: Any, **options: Any) -> tuple[Any, ScriptedChatModel, MessageWindowChatMemory]:
    """A service with a memory, its model, and the memory."""
    memory = MessageWindowChatMemory(50)
    asked, model = service(*replies, chat_memory=memory, **options)
    return asked, model, memory


class Unless:
    """Accepts a text that has this in it, and else says what it was told to say. It notes what it saw."""

    def __init__(self, wanted: str, otherwise: Verdict[Any]) -> None:
        self.wanted = wanted
        self.otherwise = otherwise
        self.saw: list[GuardrailRequest[Any]] = []

    @property
    def texts(self) -> list[str]:
        return [request.text for request in self.saw]

    def validate(self, request: GuardrailRequest[Any]) -> Verdict[Any]:
        self.saw.append(request)
        return Accept() if self.wanted in request.text else self.otherwise


def unless(wanted: str, prompt: str = "again") -> Unless:
    return Unless(wanted, Reprompt(f"no {wanted}", prompt))


def saying(verdict: Verdict[Any]) -> Callable[[GuardrailRequest[Any]], Verdict[Any]]:
    """A guardrail that always says the same."""

    def fixed(request: GuardrailRequest[Any]) -> Verdict[Any]:
        return verdict

    return fixed


def texts(messages: Any) -> list[str]:
    """The words of each message."""
    found: list[ChatMessage] = list(messages)
    return [str(getattr(message, "text", "") or "") for message in found]


def ran(heard: list[Any]) -> list[tuple[str, str, int]]:
    """The verdicts that listeners were told of: by whom, of which kind, on which answer."""
    return [
        (event.guardrail, type(event.verdict).__name__, event.validation)
        for event in heard
        if isinstance(event, GuardrailRan)
    ]
