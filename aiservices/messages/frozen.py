"""Read-only mappings: what attributes, metadata and invocation parameters are kept in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any, Final, TypeAlias, TypeVar

Value = TypeVar("Value", covariant=True)
JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"


class FrozenMapping(Mapping[str, Value]):
    """An immutable mapping with text keys that compares by value and can be pickled."""

    __slots__ = ("_items",)
    _items: dict[str, Value]

    def __init__(self, items: Mapping[str, Value] | None = None, /) -> None:
        object.__setattr__(self, "_items", dict(items) if items else {})

    def __getitem__(self, key: str) -> Value:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset(self._items))  # values may be lists; equal mappings have equal keys

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is read-only")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._items,)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._items!r})"


class Attributes(FrozenMapping[Any]):
    """A frozen mapping that is known to hold JSON values only."""

    __slots__ = ()


NO_ATTRIBUTES: Final = Attributes()
DEEPEST: Final = 100  # parsers of JSON give up not far beyond
_PLAIN: Final = (str, int, type(None))  # and bool, which is an int


def attributes_of(values: Mapping[str, Any] | None, *, owner: str) -> Attributes:
    """Freeze a copy of `values`, refusing what JSON cannot hold so that no store fails later.

    Raises `TypeError` naming the owner and the path of the first value that is not JSON, `ValueError` for
    a number that is not finite and for what is nested deeper than 100 levels, or in itself.
    """
    if type(values) is Attributes:
        return values
    if not values:
        return NO_ATTRIBUTES
    return Attributes(_json_object(values, owner, DEEPEST))


def _json_object(values: Mapping[Any, Any], path: str, levels: int) -> dict[str, Any]:
    for key in values:
        if not isinstance(key, str):
            raise TypeError(f"{path} has the key {key!r}: JSON objects have text keys")
    return {key: _json_copy(item, f"{path}[{key!r}]", levels - 1) for key, item in values.items()}


def _json_copy(value: object, path: str, levels: int) -> object:
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, float):
        if not isfinite(value):
            raise ValueError(f"{path} is {value!r}: JSON has finite numbers only")
        return value
    if levels < 0:
        raise ValueError(f"{path[:80]}... is nested deeper than {DEEPEST} levels, or in itself")
    if isinstance(value, Mapping):
        return _json_object(value, path, levels)
    if isinstance(value, list | tuple):
        return [_json_copy(item, f"{path}[{index}]", levels - 1) for index, item in enumerate(value)]
    raise TypeError(f"{path} is a {type(value).__name__}: only JSON values can be kept here")
