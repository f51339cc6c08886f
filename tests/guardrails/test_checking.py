"""Guardrails used alone, without a pipeline and without an event loop."""

from __future__ import annotations

import asyncio

import pytest

from guardrails import (
    PLAIN_TEXT,
    Accept,
    Failure,
    GuardrailRequest,
    MaxLength,
    Passed,
    Reask,
    Refused,
    Reprompt,
    Unsatisfied,
    Verdict,
    acheck,
    check,
)

from .courtroom import Answer, AnswerWording, Appending, asked


async def slow(request: GuardrailRequest[str]) -> Verdict[str]:
    await asyncio.sleep(0)
    return Accept()


def needs_z(request: GuardrailRequest[str]) -> Verdict[str]:
    return Accept() if "z" in request.text else Reprompt("need z", "Use a z.")


def test_a_text_is_checked_by_blocking_guardrails() -> None:
    assert check([MaxLength(5), Appending("!")], "hello") == Passed("hello!", "hello!", rewritten=True)
    assert isinstance(check([MaxLength(4)], "hello"), Refused)


def test_asking_again_is_left_to_the_caller() -> None:
    expected = Unsatisfied((Failure("needs_z", "need z"),), Reask("needs_z", "need z", "Use a z."))
    assert check([needs_z], "a") == expected


def test_a_request_is_checked_with_its_wording() -> None:
    outcome = check([Appending("!")], asked("hi"), wording=AnswerWording())
    assert outcome == Passed(Answer("hi!"), "hi!", rewritten=True)
    assert check([needs_z], GuardrailRequest("z", "z"), wording=PLAIN_TEXT) == Passed("z", "z")


def test_check_refuses_asynchronous_guardrails_and_names_the_one() -> None:
    with pytest.raises(TypeError, match=r"use acheck\(\) for slow"):
        check([MaxLength(9), slow], "hello")


@pytest.mark.anyio
async def test_acheck_takes_both_kinds() -> None:
    assert await acheck([slow, Appending("!"), slow], "hi") == Passed("hi!", "hi!", rewritten=True)
