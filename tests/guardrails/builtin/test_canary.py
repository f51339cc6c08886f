"""A token in the system message shows when the system message leaks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guardrails import Canary, CanaryLeakError, OnLeak
from guardrails.builtin.canary import PLACEHOLDER, REFUSAL
from guardrails.testing import assert_accepts, assert_rejects, assert_rewrites

CANARY = Canary()


def token_in(planted: str | None) -> str:
    assert planted is not None
    (token,) = CANARY.leaks_in(planted)
    return token


def test_a_token_is_planted_at_the_end_of_the_system_message() -> None:
    planted = CANARY.planted("You are terse.")
    assert planted is not None
    assert planted.startswith("You are terse.\n\n")
    assert token_in(planted) in planted
    assert token_in(CANARY.planted(None))


def test_it_serves_as_a_transformer_of_system_messages() -> None:
    assert token_in(CANARY.planted("You are terse.", object()))


def test_two_calls_have_different_tokens_and_both_are_known() -> None:
    first, second = token_in(CANARY.planted("a")), token_in(CANARY.planted("a"))
    assert first != second
    assert CANARY.leaks_in(f"{first} and {second}") == (first, second)


def test_a_leak_is_blocked_with_a_fixed_refusal() -> None:
    assert_rewrites(CANARY, f"It says {CANARY.new_token()}.", to=REFUSAL)


def test_a_leak_is_redacted_and_the_rest_stays() -> None:
    redacting = Canary(OnLeak.REDACT)
    text = "It says {} and {}."
    leaked = text.format(redacting.new_token(), CANARY.new_token())
    redacted = assert_rewrites(redacting, leaked).replacement
    assert redacted.startswith(f"It says {PLACEHOLDER} and xq")


def test_a_leak_halts_with_its_cause() -> None:
    halting = Canary(OnLeak.HALT)
    halted = assert_rejects(halting, halting.new_token(), halts=True, reason="quotes the system message")
    assert isinstance(halted.cause, CanaryLeakError)


def test_a_safe_answer_is_accepted() -> None:
    assert_accepts(CANARY, "The sky is blue. xq12, 0123456789abcdef0123456789ab")


def test_a_token_of_another_is_none_of_ours_and_a_shared_key_is() -> None:
    token = CANARY.new_token()
    assert_accepts(Canary(), token)
    assert_rewrites(Canary(key=CANARY.key), token)


def test_a_disabled_canary_leaves_everything_alone() -> None:
    disabled = Canary(enabled=False, key=CANARY.key)
    assert disabled.planted("You are terse.") == "You are terse."
    assert disabled.planted(None) is None
    assert_accepts(disabled, CANARY.new_token())


@pytest.mark.parametrize(
    "spelled",
    [str.upper, " ".join, "-".join, ". ".join, "\u200b".join, lambda token: f"**{token[:9]}** {token[9:]}"],
)
def test_a_token_that_is_spelled_out_is_found(spelled: object) -> None:
    assert_rewrites(CANARY, f"It is: {spelled(CANARY.new_token())}!")  # type: ignore[operator]


def test_its_key_is_not_shown() -> None:
    assert "key" not in repr(CANARY)


def test_an_action_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="explode"):
        Canary("explode")  # type: ignore[arg-type]


@given(st.text(), st.text())
def test_a_token_is_found_in_any_surroundings_that_do_not_run_into_it(before: str, after: str) -> None:
    token = CANARY.new_token()
    assert CANARY.leaks_in(f"{before}\n\n\n\n{token}\n\n\n\n{after}") == (token,)


@given(st.text("xq0a -", max_size=80))
def test_texts_that_only_look_like_tokens_are_accepted(text: str) -> None:
    assert_accepts(CANARY, text)
