"""How a value reads in a prompt."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Mapping, Sequence, Set, ValuesView
from datetime import date, time
from enum import Enum
from typing import Any, Final


class UnrenderableError(TypeError):
    """A value has no text form that belongs into a prompt."""

    def __init__(self, value: object, reason: str) -> None:
        super().__init__(f"{reason}: pass a str")
        self.value = value
        self.reason = reason


def text_of(value: object) -> str:
    """How a value reads in a prompt, on every version of Python alike.

    Text as it is; `None` as nothing; enum members as their value; true and false in lower case; numbers as
    Python writes them; dates and times in ISO form; collections, dataclasses, typed dictionaries and
    pydantic models as JSON, sets sorted; other objects by their own `__str__`. Raises `UnrenderableError`
    for bytes and for objects without a text form of their own.
    """
    if type(value) is str:
        return value
    try:
        return _text_of_scalar(value)
    except UnrenderableError as error:
        raise UnrenderableError(value, error.reason) from None  # about the value that the caller knows


def _text_of_scalar(value: object) -> str:
    if isinstance(value, Enum):
        return text_of(value.value)
    if isinstance(value, str):
        return str(value)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        return float.__repr__(value)
    return _text_of_object(value)


def json_of(value: object, indent: int | None = None) -> str:
    """The JSON of a value; what JSON has no form for is text, as `text_of` has it."""
    separators = (",", ":") if indent is None else None
    return json.dumps(_data_of(value), ensure_ascii=False, separators=separators, indent=indent)


_WITH_ADDRESS: Final = re.compile(r" at 0x[0-9a-fA-F]+>")
"""How Python writes an object that has nothing to say: functions, generators, most classes' instances."""


def _text_of_object(value: object) -> str:
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, bytes | bytearray | memoryview):
        raise UnrenderableError(value, f"is {type(value).__name__}, which has no text form for a prompt")
    if isinstance(value, Mapping | Sequence | Set | ValuesView) or _is_record(value):
        try:
            return json_of(value)
        except UnrenderableError as error:
            raise UnrenderableError(value, f"holds something that {error.reason}") from None
        except RecursionError:
            raise UnrenderableError(
                value, f"is a {type(value).__name__} that contains itself or is too deep"
            ) from None
    text = str(value)
    if _WITH_ADDRESS.search(text):
        raise UnrenderableError(value, f"is {type(value).__name__}, which has no text form for a prompt")
    return text


def _data_of(value: Any) -> object:
    match value:
        case Enum():
            return _data_of(value.value)
        case float() if not math.isfinite(value):
            return text_of(value)
        case None | bool() | int() | float() | str():
            return value
        case Mapping():
            return {text_of(key): _data_of(item) for key, item in value.items()}
        case Set():
            return [_data_of(item) for item in sorted(value, key=_order)]
        case bytes() | bytearray() | memoryview():
            return text_of(value)
        case tuple() if fields := getattr(value, "_fields", ()):
            return {name: _data_of(getattr(value, name)) for name in fields}
        case Sequence() | ValuesView():
            return [_data_of(item) for item in value]
    return _record_of(value) if _is_record(value) else text_of(value)


def _record_of(value: Any) -> object:
    if hasattr(type(value), "__pydantic_serializer__"):
        from pydantic_core import to_jsonable_python

        return to_jsonable_python(value)
    return {item.name: _data_of(getattr(value, item.name)) for item in dataclasses.fields(value)}


def _order(item: object) -> tuple[str, str]:
    """The same order for the same set, whatever the hashes of a process are."""
    return text_of(item), type(item).__name__


def _is_record(value: object) -> bool:
    kind = type(value)
    return dataclasses.is_dataclass(kind) or hasattr(kind, "__pydantic_serializer__")
