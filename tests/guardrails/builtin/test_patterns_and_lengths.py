"""Regular expressions and limits as guardrails."""

from __future__ import annotations

import re
from typing import Any

import pytest

from guardrails import Halt, MaxLength, Pattern, Reprompt
from guardrails.testing import assert_accepts, assert_rejects, assert_reprompts, assert_rewrites


def test_a_text_that_holds_the_pattern_is_rejected_in_any_case() -> None:
    guardrail = Pattern(r"\bproject x\b")
    assert_accepts(guardrail, "the project")
    assert_rejects(guardrail, "about PROJECT X", halts=False, reason=r"\bproject x\b")


def test_a_compiled_pattern_keeps_its_own_flags() -> None:
    assert_accepts(Pattern(re.compile("x")), "X")


def test_the_verdict_for_what_is_found_can_be_chosen() -> None:
    assert assert_rejects(Pattern("x", found=Halt("no x")), "x") == Halt("no x")


def test_a_text_without_the_pattern_can_be_asked_for_again() -> None:
    guardrail = Pattern(r"^\{", missing=Reprompt("no JSON", "Give JSON."))
    assert_accepts(guardrail, "{}")
    assert_reprompts(guardrail, "sure: {}", prompt="Give JSON.")


def test_what_is_found_can_be_replaced() -> None:
    guardrail = Pattern(r"\b\d{3}-(\d{2})-\d{4}\b", replacement=r"***-\1-****")
    assert_accepts(guardrail, "no number")
    assert_rewrites(guardrail, "SSN 536-90-4399", to="SSN ***-90-****")
    assert_rewrites(Pattern("x", replacement=""), "axb", to="ab")


def test_only_one_thing_can_be_done_with_a_pattern() -> None:
    with pytest.raises(ValueError, match="one of found, missing and replacement"):
        Pattern("x", found=Halt("a"), replacement="b")


def test_a_pattern_that_is_none_is_refused_at_once() -> None:
    with pytest.raises(re.error):
        Pattern("(")


def test_a_text_up_to_the_limit_is_accepted_and_a_longer_one_rejected() -> None:
    assert_accepts(MaxLength(5), "hello")
    assert_rejects(MaxLength(5), "hello!", reason="6, the limit is 5")


def test_the_verdict_for_a_longer_text_can_be_chosen() -> None:
    assert_reprompts(MaxLength(1, Reprompt("long", "Shorter.")), "long text", prompt="Shorter.")


def test_something_else_than_characters_can_be_counted() -> None:
    words = MaxLength(2, count=lambda text: len(text.split()))
    assert_accepts(words, "two words")
    assert_rejects(words, "now three words")


def test_a_longer_text_can_be_cut() -> None:
    assert_accepts(MaxLength.cutting(5), "hello")
    assert_rewrites(MaxLength.cutting(5), "hello!", to="hello")


def test_a_negative_limit_is_refused() -> None:
    with pytest.raises(ValueError, match="-1"):
        MaxLength(-1)
    with pytest.raises(ValueError, match="-1"):
        MaxLength.cutting(-1)


@pytest.mark.parametrize("regex", [None, 3, b"a", re.compile(b"a")])
def test_what_searches_no_text_is_refused_at_once(regex: Any) -> None:
    with pytest.raises(TypeError, match="a text or a compiled expression"):
        Pattern(regex)


@pytest.mark.parametrize("limit", ["3", None, 2.5, float("nan"), True])
@pytest.mark.parametrize("make", [MaxLength, MaxLength.cutting])
def test_a_limit_is_a_whole_number(make: Any, limit: Any) -> None:
    with pytest.raises(TypeError, match="a whole number"):
        make(limit)
