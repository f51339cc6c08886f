"""Errors carry what recovery needs, and say nothing of the texts that were judged."""

from __future__ import annotations

import copy
import pickle

import pytest

from guardrails import (
    Failure,
    GuardrailError,
    InputGuardrailError,
    ModerationError,
    OutputGuardrailError,
    Reask,
)

FAILURES = (Failure("Polite", "rude"), Failure("Short", "too long", ValueError("99")))
ERRORS = [
    GuardrailError(FAILURES),
    InputGuardrailError(FAILURES),
    OutputGuardrailError(FAILURES, 2, [Reask("Polite", "rude", "Be kind.")]),
    ModerationError(["hate", "violence"]),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("copied", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))])
def test_errors_survive_copying_and_pickling(error: GuardrailError, copied: object) -> None:
    twin = copied(error)  # type: ignore[operator]
    assert type(twin) is type(error)
    assert str(twin) == str(error)
    assert vars(twin) == vars(error)


def test_messages_name_guardrails_and_reasons() -> None:
    assert [str(error) for error in ERRORS] == [
        "Guardrails objected: Polite: rude, Short: too long",
        "The input may not be sent: Polite: rude, Short: too long",
        "No answer was accepted (2 answers judged): Polite: rude, Short: too long",
        "The text violates the content policy: moderation: hate, violence",
    ]


def test_all_are_guardrail_errors() -> None:
    assert all(isinstance(error, GuardrailError) for error in ERRORS)


def test_a_moderation_tells_its_categories() -> None:
    assert ModerationError(["hate"]).categories == ("hate",)
    assert str(ModerationError()).endswith("moderation: flagged")


def test_a_reason_that_quotes_a_whole_prompt_is_shortened_in_the_message_and_whole_in_the_failure() -> None:
    reason = "x" * 10_000
    error = InputGuardrailError([Failure("Polite", reason)] * 20)
    assert len(str(error)) < 3_000
    assert str(error).endswith("and 12 more")
    assert error.failures[0].reason == reason


def test_failures_are_equal_whatever_caused_them() -> None:
    assert Failure("a", "b", ValueError()) == Failure("a", "b")
