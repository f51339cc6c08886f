"""What mypy and pyright infer for users of `guardrails`; read by them, never run."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, assert_type

import aiservices
from aiservices import Result, ToolGuardrails, input_guardrails, moderate, output_guardrails
from aiservices.driving import BLOCKING
from aiservices.models import ChatModel, ModerationModel
from guardrails import (
    PLAIN_TEXT,
    Accept,
    ChainOutcome,
    Guardrail,
    GuardrailLike,
    GuardrailRequest,
    Halt,
    JsonExtractor,
    Link,
    MaxLength,
    ModelPromptInjection,
    Moderated,
    Moderation,
    Passed,
    Reask,
    Refused,
    Reject,
    Reprompt,
    Retry,
    Rewrite,
    Unsatisfied,
    Validated,
    Verdict,
    Wording,
    acheck,
    check,
    enforce_input,
    enforce_output,
    link,
    links,
    scored_by,
)


@dataclass(frozen=True)
class Message:
    text: str


class MessageWording:
    def text_of(self, subject: Message, /) -> str:
        return subject.text

    def with_text(self, subject: Message, text: str, /) -> Message:
        return Message(text)


class NoSecrets:
    def validate(self, request: GuardrailRequest[Message]) -> Verdict[Message]:
        assert_type(request.subject, Message)
        return Rewrite(Message("x"))


class Patient:
    async def validate(self, request: GuardrailRequest) -> Verdict:
        return Accept()


def brief(request: GuardrailRequest[Message]) -> Verdict[Message]:
    return Rewrite("x")


async def ask_again(rejected: Message, reask: Reask) -> GuardrailRequest[Message]:
    return GuardrailRequest(rejected, "")


wording: Wording[Message] = MessageWording()
mixed: Sequence[GuardrailLike[Message]] = [
    NoSecrets(),
    NoSecrets,
    Patient(),
    brief,
    MaxLength(5),
    JsonExtractor,
]
shipped: Guardrail[Message] = MaxLength(5)

assert_type(link(NoSecrets()), Link[Message])
assert_type(link(NoSecrets), Link[Message])
assert_type(link(brief), Link[Message])
assert_type(check([MaxLength(5)], "hello"), ChainOutcome[str])
assert_type(check(mixed, GuardrailRequest(Message("a"), "a"), wording=wording), ChainOutcome[Message])
assert_type(check([MaxLength(5)], GuardrailRequest("a", "a"), wording=PLAIN_TEXT), ChainOutcome[str])


async def enforced(request: GuardrailRequest[Message]) -> None:
    passed = await enforce_input(links(*mixed), request, wording=wording, call=BLOCKING.call)
    assert_type(passed, Passed[Message])
    validated = await enforce_output(
        links(*mixed), request, wording=wording, call=BLOCKING.call, ask_again=ask_again
    )
    assert_type(validated, Validated[Message])
    assert_type(validated.passed.subject, Message)
    assert_type(await acheck([Patient()], "hello"), ChainOutcome[str])


def told(verdict: Verdict[Message]) -> str:
    match verdict:
        case Accept():
            return verdict.remark
        case Rewrite():
            assert_type(verdict.replacement, Message | str)
            return "rewritten"
        case Reject() | Halt() | Retry() | Reprompt():
            return verdict.reason


def ended(outcome: ChainOutcome[Message]) -> Message | None:
    match outcome:
        case Passed():
            return outcome.subject
        case Refused() | Unsatisfied():
            return None


async def moderated(text: str) -> Moderated:
    return Moderated(False)


assert_type(
    Moderation(moderated).validate(GuardrailRequest("a", "a")), Verdict[Any] | Awaitable[Verdict[Any]]
)
anything: GuardrailRequest[Any] = GuardrailRequest(Message("a"), "a")


@moderate
@input_guardrails(NoSecrets, MaxLength(5))
class Guarded(Protocol):
    @output_guardrails(NoSecrets(), JsonExtractor, max_retries=3)
    def ask(self, text: str) -> Result[int]: ...

    @moderate
    @input_guardrails()
    async def aask(self, text: str) -> str: ...


async def decorated(moderation: ModerationModel) -> None:
    service = aiservices.create(
        Guarded,
        chat_model="local",
        input_guardrails=[Patient(), NoSecrets],
        moderation_model=moderation,
        interceptors=[ToolGuardrails(arguments=[MaxLength(9)], results=[NoSecrets])],
    )
    assert_type(service, Guarded)
    assert_type(service.ask("hi"), Result[int])
    assert_type(await service.aask("hi"), str)


def asked(chat: ChatModel, moderation: ModerationModel) -> Sequence[GuardrailLike[Any]]:
    """Models stand where a function of the text does."""
    return [
        ModelPromptInjection(chat),
        ModelPromptInjection(scored_by(chat)),
        Moderation(moderation),
        Moderation(moderation.moderate),
        Moderation(lambda text: 0.5),
    ]
