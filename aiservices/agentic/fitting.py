"""Whether a value is what an agent wants, and whether what one agent writes is what another reads."""

from __future__ import annotations

import types
import typing
from functools import lru_cache
from inspect import isclass
from typing import Annotated, Any, Final, Literal, TypeVar, Union, get_args, get_origin

from typing_extensions import TypeAliasType

_NUMBERS: Final = {float: (int, float), complex: (int, float, complex)}


def read_as(hint: Any, value: Any) -> Any:
    """The value as the annotation has it: itself where it fits, else what can be made of it without loss.

    A text that is JSON is read for anything but text. Raises `ValueError` saying what does not fit.
    """
    if hint is Any or type(value) is hint:
        return value
    if isclass(hint) and not isinstance(hint, types.GenericAlias):
        try:
            if isinstance(value, hint) and not (isinstance(value, bool) and hint is int):
                return value
        except TypeError:  # a Protocol that is not made for this
            return value
    return _coerced(hint, value)


def _coerced(hint: Any, value: Any) -> Any:
    from pydantic import PydanticUserError, ValidationError

    try:
        adapter = _adapter(hint) if _is_hashable(hint) else _made_adapter(hint)
    except PydanticUserError:
        return value  # nothing is known of such a type
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        if isinstance(value, str) and value.strip():
            try:
                return adapter.validate_json(value)
            except ValidationError:
                pass
        raise ValueError(_first(error)) from error


def _first(error: Any) -> str:
    problem = error.errors(include_url=False, include_input=False, include_context=False)[0]
    where = ".".join(map(str, problem["loc"]))
    return f"{where}: {problem['msg']}" if where else str(problem["msg"])


def _made_adapter(hint: Any) -> Any:
    from pydantic import ConfigDict, PydanticUserError, TypeAdapter

    config = ConfigDict(arbitrary_types_allowed=True, coerce_numbers_to_str=True)
    try:
        return TypeAdapter(hint, config=config)
    except PydanticUserError:  # of a class that has a configuration of its own
        return TypeAdapter(hint)


_adapter = lru_cache(maxsize=1024)(_made_adapter)


def fits(written: Any, read: Any) -> bool:
    """Whether a value of one type may be read as another, as far as annotations tell; unsure is yes."""
    written, read = _plain(written), _plain(read)
    if any(side is Any or side is object or isinstance(side, TypeVar) for side in (written, read)):
        return True
    for side, other in ((written, read), (read, written)):
        members = _members(side)
        if members:
            one = all if side is written else any
            pairs = ((each, other) if side is written else (other, each) for each in members)
            return one(fits(*pair) for pair in pairs)
    return _kinds_fit(written, read)


def _members(hint: Any) -> tuple[Any, ...]:
    """The types of a union but for `None`, for a `None` that is written removes the key."""
    if get_origin(hint) not in (Union, types.UnionType):
        return ()
    return tuple(each for each in get_args(hint) if each is not types.NoneType)


def _kinds_fit(written: Any, read: Any) -> bool:
    if get_origin(read) is Literal:
        return get_origin(written) is not Literal or set(get_args(written)) <= set(get_args(read))
    if get_origin(written) is Literal:
        return all(fits(type(each), read) for each in get_args(written))
    one, other = get_origin(written) or written, get_origin(read) or read
    if not (isclass(one) and isclass(other)):
        return True
    if one in _NUMBERS.get(other, ()):
        return True
    if typing.is_typeddict(one) or typing.is_typeddict(other):
        return (
            one is other or dict in (one, other) or (typing.is_typeddict(one) and typing.is_typeddict(other))
        )
    if getattr(other, "_is_protocol", False) and other.__module__ not in ("collections.abc", "typing"):
        return True
    try:
        if not issubclass(one, other):
            return False
    except TypeError:
        return True
    ours, theirs = get_args(written), get_args(read)
    return len(ours) != len(theirs) or all(map(_parts_fit, ours, theirs))


def _parts_fit(written: Any, read: Any) -> bool:
    return written is ... or read is ... or fits(written, read)


def _plain(hint: Any) -> Any:
    """What stands behind aliases, `Annotated` and `NewType`."""
    while True:
        if isinstance(hint, TypeAliasType):
            hint = hint.__value__
        elif get_origin(hint) is Annotated:
            hint = get_args(hint)[0]
        elif hasattr(hint, "__supertype__"):
            hint = hint.__supertype__
        elif hint is None:
            return types.NoneType
        else:
            return hint


def named(hint: Any) -> str:
    """A type for an error message."""
    if isclass(hint) and not isinstance(hint, types.GenericAlias):
        return str(hint.__name__)
    return str(hint).replace("typing.", "")


def _is_hashable(hint: Any) -> bool:
    try:
        hash(hint)
    except TypeError:
        return False
    return True
