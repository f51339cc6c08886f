"""Personal data is redacted or refused, and what only looks like it is left alone."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guardrails import Found, OnPii, Pii, PiiKind, presidio_recognizer
from guardrails.testing import assert_accepts, assert_rejects, assert_rewrites


@pytest.fixture
def extra() -> None:
    pytest.importorskip("phonenumbers", reason="needs the extra pii")
    pytest.importorskip("stdnum", reason="needs the extra pii")


@pytest.mark.usefixtures("extra")
@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("write to jane.doe+news@mail.example.co.uk!", "write to [EMAIL]!"),
        ("Grüße an müller@exämple.de.", "Grüße an [EMAIL]."),
        ("ring +49 30 901820 today", "ring [PHONE] today"),
        ("ring (650) 253-0000 today", "ring [PHONE] today"),
        ("to DE89 3704 0044 0532 0130 00 and more", "to [IBAN] and more"),
        ("to gb82west12345698765432, DE89370400440532013000", "to [IBAN], [IBAN]"),
        ("card 4111 1111 1111 1111.", "card [CARD]."),
        ("card 3782-822463-10005", "card [CARD]"),
        ("SSN 536-90-4399", "SSN [SSN]"),
        ("a@b.org, a@b.org", "[EMAIL], [EMAIL]"),
    ],
)
def test_personal_data_is_redacted_by_kind(text: str, redacted: str) -> None:
    assert_rewrites(Pii(regions=["US"]), text, to=redacted)


@pytest.mark.usefixtures("extra")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "The sky is blue.",
        "order 1234567890123456",  # no card: its check digit is wrong
        "DE88 3704 0044 0532 0130 00",  # no account: its check digits are wrong
        "SSN 000-12-3456",  # none was ever given out
        "version 1.2.3, 2024-11-30 10:11:12, 3.14159265358979",
        "me @ home, @handle, a@b",
        "call 112",
    ],
)
def test_what_only_looks_like_it_is_left_alone(text: str) -> None:
    assert_accepts(Pii(regions=["US"]), text)


@pytest.mark.usefixtures("extra")
def test_local_phone_numbers_count_where_their_region_is_named() -> None:
    assert_accepts(Pii(), "030 901820")
    assert_rewrites(Pii(regions=["DE"]), "030 901820", to="[PHONE]")


@pytest.mark.usefixtures("extra")
def test_a_text_with_personal_data_can_be_refused_without_quoting_it() -> None:
    rejected = assert_rejects(Pii(OnPii.BLOCK), "a@b.org and +49 30 901820", reason="email, phone")
    assert "a@b" not in rejected.reason


@pytest.mark.usefixtures("extra")
@given(st.integers(0, 10**18 - 1))
def test_every_german_account_with_right_check_digits_is_found(number: int) -> None:
    account = f"{number:018}"
    check_digits = 98 - int(f"{account}131400") % 97
    iban = f"DE{check_digits:02}{account}"
    assert_rewrites(Pii(kinds=[PiiKind.IBAN]), f"to {iban} now", to="to [IBAN] now")


def test_addresses_need_no_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "phonenumbers", None)
    monkeypatch.setitem(sys.modules, "stdnum.iban", None)
    assert_rewrites(Pii(kinds=[PiiKind.EMAIL]), "a@b.org", to="[EMAIL]")


@pytest.mark.parametrize("kind", [PiiKind.PHONE, PiiKind.IBAN, PiiKind.CARD, PiiKind.SSN])
def test_without_the_extra_the_error_names_it(kind: PiiKind, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("phonenumbers", "stdnum.iban", "stdnum.luhn", "stdnum.us.ssn"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=r"pip install 'aiservices\[pii\]'"):
        Pii(kinds=[kind])


def test_the_mask_can_be_worded() -> None:
    assert_rewrites(Pii(kinds=[PiiKind.EMAIL], mask="<{kind}>"), "a@b.org", to="<EMAIL>")
    assert_rewrites(Pii(kinds=[PiiKind.EMAIL], mask="***"), "a@b.org", to="***")


def names(text: str) -> Iterator[Found]:
    start = text.find("Ada")
    if start >= 0:
        yield Found("person", start, start + 3)


def test_recognizers_of_your_own_join_in() -> None:
    guardrail = Pii(kinds=[PiiKind.EMAIL], recognizers=[names])
    assert_rewrites(guardrail, "Ada: ada@b.org", to="[PERSON]: [EMAIL]")


def test_finds_that_overlap_are_covered_by_one_mask() -> None:
    def twice(text: str) -> list[Found]:
        return [Found("a", 2, 5), Found("b", 0, 3), Found("c", 1, 2)]

    assert_rewrites(Pii(kinds=[], recognizers=[twice]), "0123456789", to="[B]56789")


def test_an_engine_of_presidio_is_a_recognizer() -> None:
    class Engine:  # answers as `presidio_analyzer.AnalyzerEngine` does
        def analyze(self, *, text: str, language: str, score_threshold: float) -> list[Any]:
            assert (language, score_threshold) == ("de", 0.7)
            return [SimpleNamespace(entity_type="PERSON", start=0, end=3, score=0.8)]

    recognizer = presidio_recognizer(Engine(), language="de", threshold=0.7)
    assert_rewrites(Pii(kinds=[], recognizers=[recognizer]), "Ada!", to="[PERSON]!")


def test_an_action_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="explode"):
        Pii("explode", kinds=[])  # type: ignore[arg-type]


@given(st.text(), st.lists(st.tuples(st.integers(0, 40), st.integers(1, 9)), max_size=6))
def test_redacting_hides_exactly_what_was_found(text: str, spans: list[tuple[int, int]]) -> None:
    within = [(start, min(start + length, len(text))) for start, length in spans if start < len(text)]
    finds = [Found("x", start, end) for start, end in within]
    guardrail = Pii(kinds=[], recognizers=[lambda _: finds], mask="")
    hidden = {position for each in finds for position in range(each.start, each.end)}
    left = "".join(char for position, char in enumerate(text) if position not in hidden)
    if finds:
        assert_rewrites(guardrail, text, to=left)
    else:
        assert_accepts(guardrail, text)
