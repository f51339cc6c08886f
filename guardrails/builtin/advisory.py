"""Guardrails on trial: they say what they would do, and nothing happens."""

from __future__ import annotations

import logging
from collections.abc import Awaitable
from functools import partial
from typing import Any, Generic, assert_never

from ..guardrail import GuardrailLike, GuardrailRequest, link
from ..verdicts import Accept, Halt, Reject, Reprompt, Retry, Rewrite, Subject, Verdict
from .continuing import continuing

_log = logging.getLogger("guardrails")


class Advisory(Generic[Subject]):
    """Lets everything through unchanged; what the wrapped guardrail objects to is logged and reported.

    Catches: what the wrapped guardrail does, exceptions in it included. Each becomes one finding of the
    outcome and one warning of the logger `guardrails`.
    Misses: nothing more than the wrapped one; but it stops nothing.
    Costs: about a microsecond more than the wrapped one.
    """

    def __init__(self, guardrail: GuardrailLike[Subject]) -> None:
        self._link = link(guardrail)
        self.inline = self._link.inline

    def validate(self, request: GuardrailRequest[Subject]) -> Verdict[Any] | Awaitable[Verdict[Any]]:
        return continuing(partial(self._link.judge, request), self._softened, self._forgiven)

    def _softened(self, verdict: Verdict[Any]) -> Accept:
        match verdict:
            case Accept():
                return verdict
            case Rewrite():
                return self._remark("would rewrite the text")
            case Reject(reason=reason) | Halt(reason=reason) | Retry(reason=reason) | Reprompt(reason=reason):
                return self._remark(reason)
            case _:
                assert_never(verdict)

    def _forgiven(self, error: Exception) -> Accept:
        return self._remark(f"failed: {type(error).__name__}: {error}")

    def _remark(self, said: str) -> Accept:
        remark = f"{self._link.name}: {said}"
        _log.warning("%s", remark)
        return Accept(remark)
