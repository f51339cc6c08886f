"""The shipped assertions: what they let through, and what they say when they do not."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from guardrails import Accept, GuardrailRequest, Halt, Reject, Reprompt, Rewrite, Verdict
from guardrails.testing import assert_accepts, assert_rejects, assert_reprompts, assert_rewrites

from .courtroom import Answer


def no_secrets(request: GuardrailRequest[str]) -> Verdict[str]:
    if "secret" in request.text:
        return Reprompt("the answer holds a secret", "Answer again without any secret.")
    return Accept()


async def patient(request: GuardrailRequest[str]) -> Verdict[str]:
    await anyio.sleep(0)
    return Reject("waited")


async def ready(request: GuardrailRequest[str]) -> Verdict[str]:
    return await Strict().validate(request)


class Strict:
    async def validate(self, request: GuardrailRequest[str]) -> Verdict[str]:
        return Reject("at once")


def test_they_judge_a_text_a_request_or_take_a_verdict() -> None:
    assert_accepts(no_secrets, "blue")
    assert_accepts(no_secrets, GuardrailRequest("blue", "blue"))
    assert_accepts(Accept())
    assert_rewrites(Rewrite(Answer("x")), to=Answer("x"))
    assert assert_reprompts(no_secrets, "secret", prompt="without").reason == "the answer holds a secret"


def test_what_is_expected_may_be_given_by_position() -> None:
    assert_accepts(Accept("fine"), "", "fine")
    assert_rewrites(Rewrite("b"), "", "b")
    assert_rejects(Halt("never"), "", "never")
    assert_reprompts(no_secrets, "secret", "holds a secret", "without")


@pytest.mark.parametrize("guardrail", [ready, Strict(), Strict])
def test_an_asynchronous_guardrail_that_waits_for_nothing_needs_no_event_loop(guardrail: Any) -> None:
    assert_rejects(guardrail, "x", reason="at once")


@pytest.mark.anyio
async def test_an_asynchronous_guardrail_that_waits_is_awaited_first() -> None:
    assert_rejects(await patient(GuardrailRequest("", "")), reason="waited")
    with pytest.raises(TypeError, match="await its validate"):
        assert_rejects(patient, "x")


def test_rejecting_and_halting_can_be_told_apart() -> None:
    assert_rejects(Reject("a"))
    assert_rejects(Halt("a"))
    with pytest.raises(AssertionError, match="expected Halt, got Reject"):
        assert_rejects(Reject("a"), halts=True)
    with pytest.raises(AssertionError, match="expected Reject, got Halt"):
        assert_rejects(Halt("a"), halts=False)


def test_they_say_what_was_expected_and_what_came() -> None:
    with pytest.raises(AssertionError, match=r"expected Accept, got Reprompt\(reason='the answer"):
        assert_accepts(no_secrets, "secret")
    with pytest.raises(AssertionError, match="expected Reject or Halt, got Accept"):
        assert_rejects(no_secrets, "blue")
    with pytest.raises(AssertionError, match="expected a prompt with 'please', got 'Answer again"):
        assert_reprompts(no_secrets, "secret", prompt="please")
    with pytest.raises(AssertionError, match="expected rewritten to 'b', got Rewrite"):
        assert_rewrites(Rewrite("a"), to="b")
    with pytest.raises(AssertionError, match="expected a remark with 'x'"):
        assert_accepts(Accept(), remark="x")
