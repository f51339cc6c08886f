"""Finding personal data in texts: e-mail addresses, phone numbers, accounts, cards, social security numbers.

Where such data carry check digits or follow a numbering plan, a library that knows it decides: `phonenumbers`
and `python-stdnum`, the extra `pii`. Both are plain Python without a model: a number is one or it is none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from types import ModuleType
from typing import Any, Final, TypeAlias

_EMAIL: Final = re.compile(r"(?<![\w.+%-])[\w.+%'-]{1,64}@(?:[\w-]{1,63}\.){1,8}[^\W\d_]{2,24}(?![\w-])")
_IBAN_HEAD: Final = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}(?=[ -]?[A-Za-z0-9])")
_IBAN_TAIL: Final = re.compile(r"(?:[ -]?[A-Za-z0-9]){11,30}")
_CARD: Final = re.compile(r"(?<![\d.,-])[2-6](?:[ -]?\d){12,18}(?![.,-]?\d)")
_SSN: Final = re.compile(r"(?<![\d-])\d{3}-\d{2}-\d{4}(?![\d-])")
_DIGITS: Final = re.compile(r"\d")


class PiiKind(StrEnum):
    """What the shipped recognizers know."""

    EMAIL = "email"
    PHONE = "phone"
    IBAN = "iban"
    CARD = "card"
    """Credit and debit cards."""
    SSN = "ssn"
    """Social security numbers of the United States, written with dashes."""


@dataclass(frozen=True, slots=True)
class Found:
    """Personal data between two positions of a text. `kind` is a `PiiKind` or a word of your own."""

    kind: str
    start: int
    end: int


Recognizer: TypeAlias = Callable[[str], Iterable[Found]]
"""Finds personal data in a text. Finds may overlap."""


def recognizer_of(kind: PiiKind, regions: Sequence[str] = ()) -> Recognizer:
    """The shipped recognizer of a kind. `regions` are the countries whose local phone numbers count (`DE`).

    Raises:
        ImportError: the kind needs the extra `pii`, which is not installed.
    """
    match kind:
        case PiiKind.EMAIL:
            return _emails
        case PiiKind.PHONE:
            return _where_digits(_phones(_needed("phonenumbers"), (None, *regions)))
        case PiiKind.IBAN:
            return _where_digits(_ibans(_needed("stdnum.iban")))
        case PiiKind.CARD:
            return _where_digits(_checked(PiiKind.CARD, _CARD, _needed("stdnum.luhn")))
        case PiiKind.SSN:
            return _where_digits(_checked(PiiKind.SSN, _SSN, _needed("stdnum.us.ssn")))


def presidio_recognizer(analyzer: Any, *, language: str = "en", threshold: float = 0.5) -> Recognizer:
    """Names, places and what else an `AnalyzerEngine` of `presidio-analyzer` knows, as you set it up."""

    def recognize(text: str) -> Iterator[Found]:
        for result in analyzer.analyze(text=text, language=language, score_threshold=threshold):
            yield Found(result.entity_type.lower(), result.start, result.end)

    return recognize


def _where_digits(recognize: Recognizer) -> Recognizer:
    """Most texts hold no number at all: those cost one look."""
    return lambda text: recognize(text) if _DIGITS.search(text) else ()


def _emails(text: str) -> Iterator[Found]:
    if "@" in text:
        yield from (Found(PiiKind.EMAIL, *match.span()) for match in _EMAIL.finditer(text))


def _phones(library: ModuleType, regions: Sequence[str | None]) -> Recognizer:
    def recognize(text: str) -> Iterator[Found]:
        for region in regions:
            if region is not None or "+" in text or "\uff0b" in text:
                matches = library.PhoneNumberMatcher(text, region)
                yield from (Found(PiiKind.PHONE, match.start, match.end) for match in matches)

    return recognize


def _ibans(library: ModuleType) -> Recognizer:
    def recognize(text: str) -> Iterator[Found]:
        for head in _IBAN_HEAD.finditer(text):
            # What follows may be a word or another number, so the longest that checks is taken.
            for end in reversed(tuple(_ends_that_check(text, head))):
                if library.is_valid(text[head.start() : end]):
                    yield Found(PiiKind.IBAN, head.start(), end)
                    break

    return recognize


def _ends_that_check(text: str, head: re.Match[str]) -> Iterator[int]:
    """Where an IBAN may end as far as its check digits go (ISO 7064), read once from left to right."""
    tail = _IBAN_TAIL.match(text, head.end())
    first = int("".join(str(int(each, 36)) for each in head.group()))
    remainder = 0
    for position in range(head.end(), tail.end() if tail else 0):
        if text[position].isalnum():
            value = int(text[position], 36)
            remainder = (remainder * (100 if value > 9 else 10) + value) % 97
            if (remainder * 1_000_000 + first) % 97 == 1:
                yield position + 1


def _checked(kind: PiiKind, pattern: re.Pattern[str], library: ModuleType) -> Recognizer:
    def recognize(text: str) -> Iterator[Found]:
        for match in pattern.finditer(text):
            if library.is_valid(re.sub("[ -]", "", match.group())):
                yield Found(kind, *match.span())

    return recognize


def _needed(module: str) -> ModuleType:
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError("Pii needs more to be installed: pip install 'aiservices[pii]'") from error
