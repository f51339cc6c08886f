"""What the tests of augmenting share: services with knowledge, and what of it is where."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import aiservices
from aiservices import ChatRequest, MessageWindowChatMemory, Result, UserMessage
from aiservices.testing import ScriptedChatModel
from tests.asking import asking
from tests.rag.looking_up import Source

from .guarded import texts


def service(*replies: Any, returns: Any = Result[str], **options: Any) -> tuple[Any, ScriptedChatModel]:
    """A service that answers from a script, and its model."""
    model = ScriptedChatModel(*replies)
    return aiservices.create(asking(returns), chat_model=model, **options), model


def remembering(*replies: Any, **options: Any) -> tuple[Any, ScriptedChatModel, MessageWindowChatMemory]:
    memory = MessageWindowChatMemory(50)
    asked, model = service(*replies, chat_memory=memory, **options)
    return asked, model, memory


class Numbered(Source):
    """Gives `DOC-1` at the first time it is asked, then `DOC-2` and so on."""

    def retrieve(self, query: Any) -> list[str]:
        super().retrieve(query)
        return [f"DOC-{len(self.queries)}"]


def docs_in(messages: Iterable[Any]) -> list[list[str]]:
    """Which of the numbered documents each of the messages holds."""
    return [[word for word in text.split() if word.startswith("DOC-")] for text in texts(messages)]


def question_of(request: ChatRequest) -> str:
    """The newest message of the user in a request."""
    return next(each.text for each in reversed(request.messages) if isinstance(each, UserMessage))


def first_lines(messages: Iterable[Any]) -> list[str]:
    return [text.split("\n", maxsplit=1)[0] for text in texts(messages)]
