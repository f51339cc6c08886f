"""What the tests of guardrails share: answers to judge, guardrails with a script, and the two drives."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from aiservices.driving import ASYNCHRONOUS, BLOCKING
from guardrails import (
    Accept,
    GuardrailLike,
    GuardrailRequest,
    Judgement,
    OutputGuardrailsConfig,
    Passed,
    Reask,
    Rewrite,
    Validated,
    Verdict,
    enforce_input,
    enforce_output,
    links,
)

T = TypeVar("T")


@dataclass(frozen=True)
class Answer:
    """A subject that is more than its text, as messages are."""

    text: str
    picture: str = "cat.png"


class AnswerWording:
    def text_of(self, subject: Answer, /) -> str:
        return subject.text

    def with_text(self, subject: Answer, text: str, /) -> Answer:
        return replace(subject, text=text)


def asked(text: str, **more: Any) -> GuardrailRequest[Answer]:
    return GuardrailRequest(Answer(text), text, **more)


class Scripted:
    """Gives its verdicts one after the other, the last again and again, and notes the texts that it saw."""

    def __init__(self, *verdicts: Verdict[Answer]) -> None:
        self.verdicts = list(verdicts) or [Accept()]
        self.saw: list[str] = []

    def validate(self, request: GuardrailRequest[Answer]) -> Verdict[Answer]:
        self.saw.append(request.text)
        return self.verdicts.pop(0) if len(self.verdicts) > 1 else self.verdicts[0]


class Appending:
    def __init__(self, text: str) -> None:
        self.text = text

    def validate(self, request: GuardrailRequest[Any]) -> Verdict[Any]:
        return Rewrite(request.text + self.text)


@dataclass
class Model:
    """Has its answers ready, and notes what it was told about the ones before."""

    answers: Sequence[str] = ()
    told: list[tuple[str, Reask]] = field(default_factory=list)

    async def ask_again(self, rejected: Answer, reask: Reask) -> GuardrailRequest[Answer]:
        self.told.append((rejected.text, reask))
        number = len(self.told) - 1
        return asked(self.answers[number] if number < len(self.answers) else f"answer {number + 2}")


class Court:
    """Enforces guardrails with one of the drives of `aiservices`."""

    def __init__(self, *, blocking: bool) -> None:
        self.blocking = blocking
        self.driver = BLOCKING if blocking else ASYNCHRONOUS
        self.heard: list[Judgement[Any]] = []

    def input(self, text: str, *guardrails: GuardrailLike[Answer]) -> Passed[Answer]:
        return self._run(
            enforce_input(
                links(*guardrails),
                asked(text),
                wording=AnswerWording(),
                call=self.driver.call,
                observe=self.heard.append,
            )
        )

    def output(
        self,
        text: str,
        *guardrails: GuardrailLike[Answer],
        model: Model | None = None,
        max_retries: int = 2,
    ) -> Validated[Answer]:
        return self._run(
            enforce_output(
                links(*guardrails),
                asked(text),
                wording=AnswerWording(),
                call=self.driver.call,
                ask_again=(model or Model()).ask_again,
                config=OutputGuardrailsConfig(max_retries=max_retries),
                observe=self.heard.append,
            )
        )

    def _run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return BLOCKING.run(coroutine) if self.blocking else asyncio.run(ASYNCHRONOUS.run(coroutine))
