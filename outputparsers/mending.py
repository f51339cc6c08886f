"""Undoing what models do to right answers: JSON inside texts, a choice inside a list, whole numbers as 1e3.

Guided by the errors of a validation: a text is decoded only at a place where no text is allowed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails, ValidationError

_WANTS_STRUCTURE = frozenset(
    {
        "list_type", "dict_type", "tuple_type", "set_type", "frozen_set_type", "mapping_type",
        "model_type", "model_attributes_type", "dataclass_type", "dataclass_exact_type",
    }
)  # fmt: skip
_WANTS_LABEL = frozenset({"enum", "literal_error"})
_WANTS_WHOLE_NUMBER = frozenset({"int_parsing"})
_WANTS_TEXT = frozenset({"string_type", "string_too_short", "string_too_long", "string_pattern_mismatch"})
_EXPONENT = re.compile(r"\s*([+-]?\d{1,400})(?:\.(\d{0,400}))?[eE]\+?(\d{1,3})\s*")

_UNCHANGED: Any = object()


def mended(data: Any, error: ValidationError) -> tuple[Any, bool]:
    """`data` (changed in place) without the mistakes `error` points at, and whether there were any."""
    changed = False
    for detail in error.errors(include_url=False, include_context=False):
        replacement = _replacement(detail)
        if replacement is not _UNCHANGED:
            data, done = _replaced(data, detail, replacement)
            changed = changed or done
    return data, changed


def _replacement(detail: ErrorDetails) -> Any:
    kind, given = detail["type"], detail["input"]
    if isinstance(given, list) and len(given) == 1 and kind in _WANTS_LABEL and isinstance(given[0], str):
        return given[0]
    if not isinstance(given, str):
        return _UNCHANGED
    if kind in _WANTS_STRUCTURE:
        return _decoded(given)
    if kind in _WANTS_WHOLE_NUMBER and (number := whole_number(given)) is not None:
        return number
    return None if given.strip() == "null" and kind not in _WANTS_TEXT else _UNCHANGED


def _decoded(text: str) -> Any:
    try:
        value = from_json(text, allow_inf_nan=False)
    except ValueError:
        return _UNCHANGED
    return value if value is None or isinstance(value, dict | list) else _UNCHANGED


def whole_number(text: str) -> int | None:
    """The whole number a text like 1e3 or 2.50e1 stands for, or None."""
    match = _EXPONENT.fullmatch(text)
    if not match:
        return None
    whole, fraction, exponent = match.group(1), (match.group(2) or "").rstrip("0"), int(match.group(3))
    if len(fraction) > exponent:
        return None
    return int(whole + fraction + "0" * (exponent - len(fraction)))


def _replaced(data: Any, detail: ErrorDetails, value: Any) -> tuple[Any, bool]:
    """`data` with `value` at the place of `detail`; arms and tags in the location are stepped over."""
    given = detail["input"]
    holder: Any = None
    key: Any = None
    here = data
    for element in detail["loc"]:
        if _holds(here, element):
            holder, key, here = here, element, here[element]
    if type(here) is not type(given) or here != given:
        return data, False
    if holder is None:
        return value, True
    holder[key] = value
    return data, True


def _holds(here: Any, element: int | str) -> bool:
    if isinstance(element, int):
        return isinstance(here, list) and element < len(here)
    return isinstance(here, dict) and element in here
