"""What may be listed as a guardrail, and how it is called."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from guardrails import Accept, GuardrailRequest, Verdict, link, links


class Polite:
    def validate(self, request: GuardrailRequest) -> Verdict:
        return Accept("polite")


def brief(request: GuardrailRequest, limit: int = 9) -> Verdict:
    return Accept("brief")


async def patient(request: GuardrailRequest) -> Verdict:
    return Accept()


class Calling:
    def __call__(self, request: GuardrailRequest) -> Verdict:
        return Accept()


@pytest.mark.parametrize(
    ("given", "name"),
    [
        (Polite(), "Polite"),
        (Polite, "Polite"),
        (brief, "brief"),
        (patient, "patient"),
        (partial(brief, limit=3), "brief"),
        (Calling(), "Calling"),
        (lambda _: Accept(), "<lambda>"),
    ],
)
def test_a_guardrail_is_named_for_its_class_or_function(given: Any, name: str) -> None:
    assert link(given).name == name


def test_a_link_calls_what_was_given() -> None:
    assert [each.judge(GuardrailRequest("", "")) for each in links(Polite, brief)] == [
        Accept("polite"),
        Accept("brief"),
    ]


@pytest.mark.parametrize("given", [None, "Polite", 3, {"validate": 1}])
def test_what_is_no_guardrail_is_refused_when_the_chain_is_made(given: Any) -> None:
    with pytest.raises(TypeError, match=r"a guardrail has validate\(request\), or is a function"):
        links(Polite, given)


def test_a_class_without_validate_is_refused() -> None:
    with pytest.raises(TypeError, match="int has none"):
        link(int)  # type: ignore[arg-type]


def test_a_class_that_needs_arguments_is_refused_by_name() -> None:
    class Strict:
        def __init__(self, level: int) -> None: ...
        def validate(self, request: GuardrailRequest) -> Verdict:
            return Accept()

    with pytest.raises(TypeError, match=r"Strict needs arguments, give an instance: .*level"):
        link(Strict)
