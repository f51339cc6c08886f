"""Assertions about guardrails, for the tests of those who write them.

    assert_accepts(NoSecrets(), "The sky is blue.")
    assert_reprompts(NoSecrets(), "The secret is 42.", prompt="without any secret")
    assert_rejects(await moderation.validate(request), reason="violence")       # one that waits for something

The first argument is a guardrail, with the text or request it is to judge, or a verdict. Each assertion
returns the verdict, for a closer look.
"""

from __future__ import annotations

from collections.abc import Awaitable
from inspect import isawaitable
from typing import Any, NoReturn, TypeVar

from .guardrail import GuardrailLike, GuardrailRequest, link
from .verdicts import VERDICTS, Accept, Halt, Reject, Reprompt, Rewrite, Verdict

__all__ = ["assert_accepts", "assert_rejects", "assert_reprompts", "assert_rewrites"]

VerdictT = TypeVar("VerdictT")


def assert_accepts(
    judged: GuardrailLike[Any] | Verdict[Any], request: str | GuardrailRequest[Any] = "", remark: str = ""
) -> Accept:
    """It is accepted as it is. `remark` must be part of what the guardrail remarks."""
    verdict = _of_kind(Accept, _verdict(judged, request))
    _must_hold("remark", verdict.remark, remark)
    return verdict


def assert_rewrites(
    judged: GuardrailLike[Any] | Verdict[Any],
    request: str | GuardrailRequest[Any] = "",
    to: object = None,
) -> Rewrite[Any]:
    """It is rewritten: to exactly `to`, a text or a subject, where that is given."""
    verdict: Rewrite[Any] = _of_kind(Rewrite, _verdict(judged, request))
    if to is not None and verdict.replacement != to:
        _fail(f"rewritten to {to!r}", verdict)
    return verdict


def assert_rejects(
    judged: GuardrailLike[Any] | Verdict[Any],
    request: str | GuardrailRequest[Any] = "",
    reason: str = "",
    *,
    halts: bool | None = None,
) -> Reject | Halt:
    """It may not pass: `Reject` or `Halt`; `halts` says which. `reason` must be part of the reason."""
    verdict = _verdict(judged, request)
    if not isinstance(verdict, (Reject, Halt)) or halts not in {None, isinstance(verdict, Halt)}:
        _fail({None: "Reject or Halt", True: "Halt", False: "Reject"}[halts], verdict)
    _must_hold("reason", verdict.reason, reason)
    return verdict


def assert_reprompts(
    judged: GuardrailLike[Any] | Verdict[Any],
    request: str | GuardrailRequest[Any] = "",
    reason: str = "",
    prompt: str = "",
) -> Reprompt:
    """It is asked for again. `reason` and `prompt` must be parts of the guardrail's."""
    verdict = _of_kind(Reprompt, _verdict(judged, request))
    _must_hold("reason", verdict.reason, reason)
    _must_hold("prompt", verdict.prompt, prompt)
    return verdict


def _verdict(judged: GuardrailLike[Any] | Verdict[Any], request: str | GuardrailRequest[Any]) -> object:
    if type(judged) in VERDICTS:
        return judged
    asked = GuardrailRequest(request, request) if isinstance(request, str) else request
    judge: Any = link(judged).judge  # type: ignore[arg-type]
    verdict = judge(asked)
    return _without_waiting(verdict) if isawaitable(verdict) else verdict


def _without_waiting(coming: Awaitable[object]) -> object:
    """What an asynchronous guardrail says that has nothing to wait for: there is no event loop here."""
    steps: Any = coming.__await__()
    try:
        next(steps)
    except StopIteration as end:
        return end.value
    getattr(steps, "close", lambda: None)()
    raise TypeError("this guardrail waits for something: await its validate(request), and give the verdict")


def _of_kind(kind: type[VerdictT], verdict: object) -> VerdictT:
    if not isinstance(verdict, kind):
        _fail(kind.__name__, verdict)
    return verdict


def _must_hold(name: str, said: str, part: str) -> None:
    if part not in said:
        raise AssertionError(f"expected a {name} with {part!r}, got {said!r}")


def _fail(expected: str, verdict: object) -> NoReturn:
    raise AssertionError(f"expected {expected}, got {verdict!r}")
