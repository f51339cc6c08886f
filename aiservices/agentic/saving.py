"""Values as a checkpoint keeps them: JSON that is read back equal, or a refusal when they are written.

What JSON has is kept as it is. Everything else is `{"$": kind, "v": form}`: dates, sets, bytes and the like
by a name of ours, messages by their wire form, and enums, dataclasses, named tuples and pydantic models by
the name of their class. A class is looked for among those that the agents declare, then among what is
imported already; nothing is ever imported for the sake of a stored name.
"""

from __future__ import annotations

import dataclasses
import sys
import typing
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import cache
from typing import Any, Final, get_args, get_origin
from uuid import UUID

from ..errors import AgentError
from ..messages import ChatMessage, messages_from_json, messages_to_json

_KIND: Final = "$"
_FORM: Final = "v"
_PLAIN: Final = (str, bool, int, type(None))
_MESSAGES: Final = get_args(ChatMessage)
_BY_ADAPTER: Final = (datetime, date, time, timedelta, Decimal, UUID, bytes, float)


class Codec:
    """Writes and reads values; `classes` are those that the agents of the system declare."""

    def __init__(self, hints: Iterable[Any] = ()) -> None:
        self._classes: dict[str, type] = {}
        for hint in hints:
            for kind in _classes_in(hint, set()):
                self._classes.setdefault(_name(kind), kind)

    def encode(self, value: Any, what: str) -> Any:
        """The stored form. Raises `AgentError` naming `what` holds the value that cannot be stored."""
        try:
            form = self._written(value)
            if not _same(self.decode(form), value):
                raise _UnsavableError(value)
        except _UnsavableError as error:
            kind = type(error.value)
            raise AgentError(
                f"{what} cannot be saved: it holds a {kind.__module__}.{kind.__qualname__}. Use JSON values, "
                "dates, enums, dataclasses and pydantic models of a module, or declare the class in the "
                "annotation of the agent that gives it"
            ) from error
        except RecursionError as error:
            raise AgentError(f"{what} cannot be saved: it holds itself, or is nested too deeply") from error
        return form

    def decode(self, form: Any) -> Any:
        """The value behind a stored form. Raises `AgentError` for a class that is not known here."""
        if isinstance(form, list):
            return [self.decode(item) for item in form]
        if not isinstance(form, dict):
            return form
        kind = form.get(_KIND)
        if kind is None:
            return {key: self.decode(item) for key, item in form.items()}
        return self._read(kind, form[_FORM])

    def _written(self, value: Any) -> Any:
        kind: Any = type(value)
        if kind in _PLAIN:
            return value
        if kind is float and value - value == 0:  # finite
            return value
        if kind is list:
            return [self._written(item) for item in value]
        if kind is dict:
            return self._written_mapping(value)
        if kind in _CONTAINERS:
            return {_KIND: kind.__name__, _FORM: [self._written(item) for item in value]}
        if kind in _BY_ADAPTER:
            return {_KIND: kind.__name__, _FORM: _adapter(kind).dump_python(value, mode="json")}
        if isinstance(value, _MESSAGES):
            return {_KIND: "message", _FORM: messages_to_json([value])}
        return self._written_object(kind, value)

    def _written_mapping(self, value: dict[Any, Any]) -> Any:
        if all(type(key) is str for key in value) and _KIND not in value:
            return {key: self._written(item) for key, item in value.items()}
        pairs = [[self._written(key), self._written(item)] for key, item in value.items()]
        return {_KIND: "dict", _FORM: pairs}

    def _written_object(self, kind: Any, value: Any) -> Any:
        name = _name(kind)
        if not _is_record(kind) or self._class(name) is not kind:
            raise _UnsavableError(value)
        if issubclass(kind, Enum):
            return {_KIND: name, _FORM: value.name}
        try:
            form = _adapter(kind).dump_python(value, mode="json")
        except Exception as error:  # of serializers, which are the user's
            raise _UnsavableError(value) from error
        return {_KIND: name, _FORM: form}

    def _read(self, kind: str, form: Any) -> Any:
        if kind == "dict":
            return {self.decode(key): self.decode(item) for key, item in form}
        if kind == "message":
            return messages_from_json(form)[0]
        if kind in _CONTAINER_OF:
            return _CONTAINER_OF[kind](self.decode(item) for item in form)
        if kind in _ADAPTED:
            return _adapter(_ADAPTED[kind]).validate_python(form)
        found: Any = self._class(kind)
        if found is None or not _is_record(found):
            raise AgentError(f"a saved value is a {kind}, which is not known here: import its module first")
        if issubclass(found, Enum):
            return found[form]
        try:
            return _adapter(found).validate_python(form)
        except Exception as error:
            raise _UnsavableError(form) from error

    def _class(self, name: str) -> Any:
        if name in self._classes:
            return self._classes[name]
        module, _, qualname = name.partition(":")
        found: Any = sys.modules.get(module)
        for part in qualname.split("."):
            found = getattr(found, part, None)
        return found if isinstance(found, type) else None


class _UnsavableError(Exception):
    def __init__(self, value: Any) -> None:
        super().__init__(type(value).__name__)
        self.value = value


_CONTAINERS: Final = (tuple, set, frozenset)
_CONTAINER_OF: Final[Mapping[str, Callable[[Iterable[Any]], Any]]] = {
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
}
_ADAPTED: Final = {kind.__name__: kind for kind in _BY_ADAPTER}


@cache
def _adapter(kind: Any) -> Any:
    from pydantic import TypeAdapter

    return _OWN.get(kind) or TypeAdapter(kind)


class _Bytes:
    """Bytes as base64, whatever they are."""

    @staticmethod
    def dump_python(value: bytes, mode: str) -> str:
        from base64 import b64encode

        return b64encode(value).decode("ascii")

    @staticmethod
    def validate_python(form: str) -> bytes:
        from base64 import b64decode

        return b64decode(form)


class _Float:
    """The floats that JSON has no form for."""

    @staticmethod
    def dump_python(value: float, mode: str) -> str:
        return repr(value)

    @staticmethod
    def validate_python(form: str) -> float:
        return float(form)


_OWN: Final[Mapping[Any, Any]] = {bytes: _Bytes, float: _Float}


def _same(first: Any, second: Any) -> bool:
    """Equal and of one type, where NaN is equal to itself."""
    if type(first) is not type(second):
        return False
    if isinstance(first, list | tuple):
        return len(first) == len(second) and all(map(_same, first, second))
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(_same(first[key], second[key]) for key in first)
    return bool(first == second) or (first != first and second != second)  # noqa: PLR0124 - NaN


def _name(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


def _is_named_tuple(kind: type) -> bool:
    return issubclass(kind, tuple) and hasattr(kind, "_fields")


def _is_record(kind: type) -> bool:
    return (
        issubclass(kind, Enum)
        or dataclasses.is_dataclass(kind)
        or _is_named_tuple(kind)
        or hasattr(kind, "__pydantic_validator__")
    )


def _classes_in(hint: Any, seen: set[int]) -> Iterable[type]:
    """The records that a hint names, in their fields too."""
    if id(hint) in seen:
        return
    seen.add(id(hint))
    value = getattr(hint, "__value__", None)
    if value is not None and not isinstance(hint, type):  # an alias
        yield from _classes_in(value, seen)
    for argument in get_args(hint):
        yield from _classes_in(argument, seen)
    kind = get_origin(hint) or hint
    if isinstance(kind, type) and _is_record(kind):
        yield kind
        try:
            fields = typing.get_type_hints(kind)
        except Exception:  # a name that cannot be found: it is looked for by its module then
            fields = {}
        for field in fields.values():
            yield from _classes_in(field, seen)
