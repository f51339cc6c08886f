"""What mypy and pyright infer for users of `guardrails`; read by them, never run."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import Any, assert_type

from aiservices.driving import BLOCKING
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


async def moderated(texts: Sequence[str]) -> Moderated:
    return Moderated(False)


assert_type(
    Moderation(moderated).validate(GuardrailRequest("a", "a")), Verdict[str] | Awaitable[Verdict[str]]
)
anything: GuardrailRequest[Any] = GuardrailRequest(Message("a"), "a")
