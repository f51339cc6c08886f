"""Values as texts that databases compare as filters do.

Two values have the same code exactly when they are equal to a filter. The first letter of a code is its kind;
within a kind, codes sorted by code points are in the order of the values. The code of a text is the text.
Databases agree on comparing text so, and on little else: they have numbers of other precision, times with
other rules, or no order at all between what JSON can hold.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from math import isinf
from typing import Any, Final

from ..comparing import Comparable, Kind, comparable

_MIRROR: Final = str.maketrans("0123456789", "9876543210")
_LAST: Final = "~"  # after every digit
_WIDTH: Final = 12
_MIDDLE: Final = 5 * 10 ** (_WIDTH - 1)


@dataclass(frozen=True, slots=True)
class Facets:
    """The metadata of a segment as codes, to be filtered by a database.

    `odd` tells that some of it has no code, because not every database can hold it: such a segment is to be
    looked at, whatever is looked for.
    """

    values: Mapping[str, str]
    elements: Mapping[str, list[str]]
    odd: bool


def facets_of(metadata: Mapping[str, Any]) -> Facets:
    """The codes of all values by key, and those of the elements of the lists."""
    values: dict[str, str] = {}
    elements: dict[str, list[str]] = {}
    odd = False
    for key, value in metadata.items():
        found = comparable(value)
        code = None if found is None or is_odd(key) else code_of(found)
        if found is None or code is None:
            odd = True
            continue
        values[key] = code
        if found.kind is Kind.LIST:
            elements[key] = [each for item in found.value if (each := code_of(item)) is not None]
    return Facets(values, elements, odd)


def is_odd(text: str) -> bool:
    """Whether a text holds what not every database can: NUL, and halves of surrogate pairs."""
    return (not text.isascii() and any("\ud800" <= each <= "\udfff" for each in text)) or "\0" in text


def code_of(found: Comparable) -> str | None:
    """The code of a value; `None` where it is odd."""
    kind, value = found
    match kind:
        case Kind.TEXT:
            return None if is_odd(value) else f"{kind}{value}"
        case Kind.NUMBER | Kind.MOMENT:
            return f"{kind}{_number(value)}"
        case Kind.LIST:
            codes = [code_of(each) for each in value]
            return None if None in codes else f"{kind}{json.dumps(codes, ensure_ascii=False)}"
        case _:
            return f"{kind}{_fixed(value)}"


def _fixed(value: bool | date) -> str:
    match value:
        case bool():
            return str(int(value))
        case datetime():
            return value.isoformat(timespec="microseconds")
        case _:
            return value.isoformat()


def _number(value: float) -> str:
    """A finite number in all its digits, behind its exponent; a negative one mirrored."""
    if isinstance(value, float) and isinf(value):
        return "D" if value > 0 else "A"
    if not value:
        return "B0"
    exact = Decimal(value)
    digits = "".join(map(str, exact.as_tuple().digits)).rstrip("0")
    text = f"{_MIDDLE + exact.adjusted():0{_WIDTH}}{digits}"
    return f"C{text}" if value > 0 else f"B-{text.translate(_MIRROR)}{_LAST}"
