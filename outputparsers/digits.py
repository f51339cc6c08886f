"""Numbers as they were written: a JSON number becomes a float before any validator sees it, and loses digits.

What is lost is looked up again by the float's value, in a table made from the text.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from pydantic_core import PydanticCustomError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic_core.core_schema import ValidationInfo

_MAY_LOSE = re.compile(r"[\d.]{16}|\d[eE][+-]?\d")
"""A float has at least fifteen digits."""
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?', re.DOTALL)
_FLOAT = re.compile(r"-?\d+(?:\.\d+(?:[eE][+-]?\d+)?|[eE][+-]?\d+)")
_FIRST_INEXACT = 2**53
_TOO_LARGE = 1e999


def may_lose_digits(text: str) -> bool:
    """Whether there may be a number in the text that no float holds; quick, and wrong on the safe side."""
    return _MAY_LOSE.search(text) is not None


def told_apart(text: str) -> tuple[str, Mapping[float, Decimal]]:
    """The text, and what the numbers in it were that are no float, by the float they become.

    Of two numbers that become the same float, the second is written as the next one. Numbers within strings
    count, as a string may turn out to be JSON that was quoted once too often, and stay as they are.
    """
    written: dict[float, Decimal] = {}

    def keep(match: re.Match[str]) -> str:
        token = match.group()
        if token.startswith('"'):
            for number in _FLOAT.findall(token):
                if (value := _decimal(number)) is not None:
                    written.setdefault(float(number), value)
            return token
        value = _decimal(token) if _FLOAT.fullmatch(token) else None
        return token if value is None else _distinct(token, value, written)

    rewritten = _TOKEN.sub(keep, text)
    return rewritten, {key: value for key, value in written.items() if value != Decimal(repr(key))}


def _decimal(number: str) -> Decimal | None:
    """Its exact value; None for one so large that no float is near it."""
    if math.isinf(float(number)):
        return None
    try:
        return Decimal(number)
    except InvalidOperation:
        return None


def _distinct(number: str, value: Decimal, written: dict[float, Decimal]) -> str:
    key = float(number)
    while written.setdefault(key, value) != value:
        key = math.nextafter(key, math.inf)
        number = repr(key) if math.isfinite(key) else str(_TOO_LARGE)
    return number


def as_written(value: Any, info: ValidationInfo[Any]) -> Any:
    """The number that was written where `value` stands, for a decimal."""
    return info.context.get(value, value) if info.context and type(value) is float else value


def whole_as_written(value: Any, info: ValidationInfo[Any]) -> Any:
    """The whole number that was written as `value`, such as 1e20 or 12345678901234567.0.

    A float of this size is whole whatever was written; without the table of the text it is refused.
    """
    if type(value) is not float or not _FIRST_INEXACT <= abs(value) < math.inf:
        return value
    written = None if info.context is None else info.context.get(value, Decimal(repr(value)))
    if written is None or written != int(written):
        raise PydanticCustomError(
            "int_from_float", "Input should be a valid integer, written without a point"
        )
    return int(written)
