"""Restating what pydantic takes only in another spelling: before Python 3.12, `typing.TypedDict`."""

from __future__ import annotations

import functools
import operator
import sys
import types
import typing
from typing import Any

import typing_extensions


def restated(type_: Any, seen: frozenset[type] = frozenset()) -> Any:
    """`type_` with each `typing.TypedDict` in its arguments replaced by one of `typing_extensions`."""
    if sys.version_info >= (3, 12):
        return type_
    if typing.is_typeddict(type_) and type_ not in seen:
        return _typed_dict(type_, seen | {type_})
    args = typing.get_args(type_)
    new = tuple(restated(arg, seen) for arg in args)
    if all(one is other for one, other in zip(args, new, strict=True)):
        return type_
    return _with_arguments(type_, new)


def _with_arguments(type_: Any, args: tuple[Any, ...]) -> Any:
    origin = typing.get_origin(type_)
    if origin in (typing.Union, types.UnionType):
        return functools.reduce(operator.or_, args)
    return typing.Annotated[args] if origin is typing.Annotated else origin[args]


def _typed_dict(type_: Any, seen: frozenset[type]) -> Any:
    hints = typing_extensions.get_type_hints(type_, include_extras=True)
    fields = {
        name: _field(restated(hint, seen), name in type_.__required_keys__) for name, hint in hints.items()
    }
    build: Any = typing_extensions.TypedDict
    made = build(type_.__name__, fields)
    made.__module__, made.__doc__ = type_.__module__, type_.__doc__
    if hasattr(type_, "__pydantic_config__"):
        made.__pydantic_config__ = type_.__pydantic_config__
    return made


def _field(hint: Any, required: bool) -> Any:
    marked = typing.get_origin(hint) in (typing.Required, typing.NotRequired)
    return hint if marked or required else typing.NotRequired[hint]
