"""What both guarding stages share: how our messages read, and whom a verdict is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from guardrails import GuardrailRequest, Judgement

from ..events import GuardrailRan
from ..invocation import Invocation
from ..messages import AiMessage, ChatMessage, Content, TextContent, UserMessage
from ..templates import Template


class UserWording:
    """The text of a user message is its text parts; another text takes the place of the first of them."""

    def text_of(self, subject: UserMessage, /) -> str:
        return subject.text

    def with_text(self, subject: UserMessage, text: str, /) -> UserMessage:
        contents: list[Content] = []
        for content in subject.contents:
            if not isinstance(content, TextContent):
                contents.append(content)
            elif not any(isinstance(item, TextContent) for item in contents):
                contents.append(TextContent(text))
        if not any(isinstance(item, TextContent) for item in contents):
            contents.insert(0, TextContent(text))
        return replace(subject, contents=tuple(contents))


class AnswerWording:
    """The text of an answer."""

    def text_of(self, subject: AiMessage, /) -> str:
        return subject.text or ""

    def with_text(self, subject: AiMessage, text: str, /) -> AiMessage:
        return replace(subject, text=text)


USER_WORDING = UserWording()
ANSWER_WORDING = AnswerWording()


def guardrail_request(
    subject: Any, text: str, call: Invocation, exchange: tuple[ChatMessage, ...]
) -> GuardrailRequest[Any]:
    """What a guardrail may look at."""
    source = call.method.user
    said = [message for message in (call.system, *call.history, call.user, *exchange) if message is not None]
    return GuardrailRequest(
        subject=subject,
        text=text,
        messages=tuple(said),
        template=source.source if isinstance(source, Template) else None,
        variables=call.arguments,
        context=call.context,
    )


def observing(call: Invocation) -> Callable[[Judgement[Any]], object] | None:
    """Tells the listeners of each verdict; nothing where nobody listens."""
    if not call.setup.listeners:
        return None
    return lambda heard: call.notify(
        GuardrailRan, heard.guardrail, heard.verdict, heard.seconds, heard.validation
    )
