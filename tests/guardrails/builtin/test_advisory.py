"""A guardrail on trial is heard and changes nothing."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from guardrails import (
    Accept,
    Advisory,
    GuardrailRequest,
    Halt,
    MaxLength,
    Passed,
    Reject,
    Reprompt,
    Retry,
    Rewrite,
    Verdict,
    acheck,
    check,
    link,
)


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        (Reject("bad"), "bad"),
        (Halt("bad"), "bad"),
        (Retry("bad"), "bad"),
        (Reprompt("bad", "better"), "bad"),
        (Rewrite("good"), "would rewrite the text"),
    ],
)
def test_an_objection_becomes_one_finding_and_one_warning(
    verdict: Verdict[str], said: str, caplog: pytest.LogCaptureFixture
) -> None:
    def judge(request: GuardrailRequest[str]) -> Verdict[str]:
        return verdict

    outcome = check([Advisory(judge)], "bad")
    assert isinstance(outcome, Passed)
    assert (outcome.text, outcome.rewritten) == ("bad", False)
    assert [finding.reason for finding in outcome.findings] == [f"judge: {said}"]
    assert [record.levelno for record in caplog.records] == [logging.WARNING]


def test_what_is_accepted_is_no_finding(caplog: pytest.LogCaptureFixture) -> None:
    assert check([Advisory(MaxLength(9))], "fine") == Passed("fine", "fine")
    assert caplog.records == []


def test_a_guardrail_that_breaks_is_a_finding(caplog: pytest.LogCaptureFixture) -> None:
    outcome = check([Advisory(lambda request: 1 // 0)], "x")  # type: ignore[arg-type, return-value]
    assert "ZeroDivisionError" in str(outcome)
    assert len(caplog.records) == 1


@pytest.mark.anyio
async def test_an_asynchronous_guardrail_is_awaited(caplog: pytest.LogCaptureFixture) -> None:
    async def judge(request: GuardrailRequest[Any]) -> Verdict[Any]:
        return Reject("bad")

    async def breaks(request: GuardrailRequest[Any]) -> Verdict[Any]:
        raise ConnectionError

    outcome = await acheck([Advisory(judge), Advisory(breaks)], "x")
    assert isinstance(outcome, Passed)
    assert len(outcome.findings) == len(caplog.records) == 2


def test_it_is_called_directly_where_the_wrapped_one_is() -> None:
    assert link(Advisory(MaxLength(1))).inline
    assert not link(Advisory(lambda _: Accept())).inline
