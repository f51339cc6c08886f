"""What both guarding stages share: how our messages read, and whom a verdict is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from guardrails import GuardrailRequest, Judgement

from ..events import GuardrailRan
from ..invocation import Invocation, changed
from ..messages import AiMessage, ChatMessage, UserMessage
from ..messages.contents import reworded
from ..templates import Template
from ._render import variables_of


class UserWording:
    """The text of a user message is the user's own: text parts of which another text replaces the first.

    `call` is the call as the guardrails leave it. What was retrieved is put into the new words as it was into
    the old ones; a whole message is taken as it is, for nobody can tell any more what in it was the user's.
    """

    def __init__(self, call: Invocation) -> None:
        self.call = call

    def text_of(self, subject: UserMessage, /) -> str:
        _check(subject, UserMessage, "a UserMessage")
        self.call = changed(self.call, user=subject, knowledge=None)
        return subject.text

    async def with_text(self, subject: UserMessage, text: str, /) -> UserMessage:
        own = self.call.user
        assert own is not None
        user = replace(own, contents=reworded(own.contents, text))
        self.call = changed(self.call, user=user)
        return await self.call.augmented(user)


class AnswerWording:
    """The text of an answer.

    With its text goes what came with it: the thinking that led to it, and the provider's own record of it,
    which would bring back what a guardrail took out.
    """

    def text_of(self, subject: AiMessage, /) -> str:
        _check(subject, AiMessage, "an AiMessage")
        return subject.text or ""

    def with_text(self, subject: AiMessage, text: str, /) -> AiMessage:
        return subject if text == subject.text else AiMessage(text, subject.tool_calls)


ANSWER_WORDING: Final = AnswerWording()


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
        sources=call.journal.sources,
        template=source.source if isinstance(source, Template) else None,
        variables=variables_of(call),
        context=call.context,
    )


def observing(call: Invocation) -> Callable[[Judgement[Any]], object] | None:
    """Tells the listeners and the reader of a stream of each verdict; nothing where nobody hears it."""
    if not call.setup.listeners and not call.is_streamed:
        return None
    # Answers are also asked for again where they do not parse, of which the guardrails know nothing.
    return lambda heard: call.notify(
        GuardrailRan, heard.guardrail, heard.verdict, heard.seconds, len(call.journal.reasks) + 1
    )


def _check(subject: object, kind: type[Any], wanted: str) -> None:
    if not isinstance(subject, kind):
        raise TypeError(f"it was rewritten to a {type(subject).__name__}: give a text or {wanted}")
