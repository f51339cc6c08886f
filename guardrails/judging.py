"""The state of a chain while it runs: the request as it now is, what was found, and who objected."""

from __future__ import annotations

from dataclasses import replace
from inspect import isawaitable
from typing import Any, Generic, assert_never

from .guardrail import GuardrailRequest, Wording
from .verdicts import (
    Accept,
    ChainOutcome,
    Failure,
    Halt,
    Passed,
    Reask,
    Refused,
    Reject,
    Reprompt,
    Retry,
    Rewrite,
    Subject,
    Unsatisfied,
    Verdict,
)


class Judging(Generic[Subject]):
    """Takes verdicts one after the other until one ends the chain."""

    __slots__ = ("failures", "findings", "replaced", "request", "rewritten", "wording")

    def __init__(self, request: GuardrailRequest[Subject], wording: Wording[Subject]) -> None:
        self.request = request
        self.wording = wording
        self.failures: tuple[Failure, ...] = ()
        self.findings: tuple[Failure, ...] = ()
        self.rewritten = self.replaced = False

    def take(self, name: str, verdict: Verdict[Any]) -> Refused | Unsatisfied | None:
        """The outcome when this verdict ends the chain, else None. Rewrites go to `rewrite` first."""
        match verdict:
            case Accept(remark=""):
                return None
            case Accept(remark=remark):
                self.findings += (Failure(name, remark),)
                return None
            case Rewrite():
                return None
            case Reject(reason=reason, cause=cause):
                self.failures += (Failure(name, reason, cause),)
                return None
            case Halt(reason=reason, cause=cause):
                return Refused((*self.failures, Failure(name, reason, cause)))
            case Retry(reason=reason):
                return self._unsatisfied(Reask(name, reason, None))
            case Reprompt(reason=reason, prompt=prompt):
                return self._unsatisfied(Reask(name, reason, prompt))
            case _:
                assert_never(verdict)

    async def rewrite(self, replacement: Subject | str) -> None:
        """Let the guardrails that follow see something else. Raises what the wording raises."""
        if isinstance(replacement, str):
            made, text = self.wording.with_text(self.request.subject, replacement), replacement
            subject = await made if isawaitable(made) else made
        else:
            subject, text = replacement, self.wording.text_of(replacement)
            self.replaced = True
        self.request = replace(self.request, subject=subject, text=text)
        self.rewritten = True

    def outcome(self) -> ChainOutcome[Subject]:
        """What the chain comes to when nothing ended it early."""
        if self.failures:
            return Refused(self.failures)
        request = self.request
        return Passed(request.subject, request.text, self.rewritten, self.replaced, self.findings)

    def _unsatisfied(self, reask: Reask) -> Unsatisfied:
        return Unsatisfied((*self.failures, Failure(reask.guardrail, reask.reason)), reask)
