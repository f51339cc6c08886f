"""What a type is called: as Python would write it, and as a schema may be named."""

from __future__ import annotations

import re
import types
import typing
from enum import Enum
from typing import Any

import typing_extensions

ALIASES = (typing_extensions.TypeAliasType, getattr(typing, "TypeAliasType", typing_extensions.TypeAliasType))
"""The classes of `type X = ...`."""
LITERALS = (typing.Literal, typing_extensions.Literal)

_NAMES = {
    **dict.fromkeys(("list", "deque", "Sequence"), "List_of"),
    **dict.fromkeys(("set", "frozenset", "Set"), "Set_of"),
    **dict.fromkeys(("dict", "Mapping"), "Map_of"),
    "tuple": "Tuple_of",
}
_SCALAR_NAMES = {"int": "integer", "float": "number", "Decimal": "number", "bool": "boolean", "str": "string"}


def type_text(type_: Any) -> str:
    """A type as it would be written, without modules: `dict[str, Person | None]`."""
    if type_ is None or type_ is type(None):
        return "None"
    if type_ is Ellipsis:
        return "..."
    if isinstance(type_, ALIASES):
        return str(type_.__name__)
    origin, args = typing.get_origin(type_), typing.get_args(type_)
    if origin is typing.Annotated:
        return type_text(args[0])
    if origin in (typing.Union, types.UnionType):
        return " | ".join(map(type_text, args))
    if origin in LITERALS:
        return f"Literal[{', '.join(_literal_text(arg) for arg in args)}]"
    if origin is not None and args:
        return f"{type_text(origin)}[{', '.join(map(type_text, args))}]"
    return str(getattr(type_, "__name__", None) or re.sub(r"\b[\w.]+\.(?=\w)", "", str(type_)))


def schema_name(type_: Any) -> str:
    """A name providers accept: `Person`, `integer`, `List_of_Person`."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", _name(type_)).strip("_")
    return name[:64] or "answer"


def _name(type_: Any) -> str:
    origin, args = typing.get_origin(type_), typing.get_args(type_)
    if origin is typing.Annotated:
        return _name(args[0])
    if origin in (typing.Union, types.UnionType):
        return "_or_".join(map(_name, args))
    if origin in LITERALS:
        return "Literal"
    container = _NAMES.get(getattr(origin, "__name__", ""))
    if container and args:
        shown = args[-1:] if container == "Map_of" else args
        return f"{container}_{'_and_'.join(_name(arg) for arg in shown if arg is not Ellipsis)}"
    text = type_text(type_)
    return _SCALAR_NAMES.get(text, text)


def _literal_text(value: object) -> str:
    return f"{type(value).__name__}.{value.name}" if isinstance(value, Enum) else repr(value)
