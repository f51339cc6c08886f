"""Filters: conditions on metadata, built with `F`, that every store answers alike.

    (F("tenant") == "a") & ~F("tags").contains("draft") & F("year").between(2020, 2024)

A filter is a value: it can be kept, compared, hashed and shown. `Filter.matches` is what it means; stores
translate it as far as they can say the same, and ask `matches` for the rest.
"""

from __future__ import annotations

import operator
from abc import ABC
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Any, Final, NoReturn, TypeAlias, assert_never, cast
from uuid import UUID

from .comparing import Comparable, Kind, comparable

_SCALARS: Final = (str, int, float, date, UUID)  # a bool is an int, a datetime a date
MOST_BITS: Final = 14_000
"""Python writes and reads no much longer integers in decimals, unless told to: 4,300 digits."""


class Filter(ABC):  # noqa: B024 - its nodes are a closed union, see `Node`
    """A condition on metadata; combined with `&`, `|` and `~`, each operand in parentheses.

    A key that is missing fails every comparison except `!=` and `notin`. `!=` and `notin` are the exact
    opposites of `==` and `isin`, and `~` of whatever it stands before: `~(F("n") < 5)` also matches where `n`
    is missing or a text. Values that cannot be compared never match, and are no error; see
    `aiservices.rag.comparing` for what can be.
    """

    __slots__ = ()

    def matches(self, metadata: Mapping[str, Any]) -> bool:
        """Whether metadata fulfils the filter."""
        return _matches(cast("Node", self), metadata)

    def __and__(self, other: Filter) -> Filter:
        return And((*_parts(And, self), *_parts(And, other))) if isinstance(other, Filter) else NotImplemented

    def __or__(self, other: Filter) -> Filter:
        return Or((*_parts(Or, self), *_parts(Or, other))) if isinstance(other, Filter) else NotImplemented

    def __invert__(self) -> Filter:
        return self.filter if isinstance(self, Not) else Not(cast("Node", self))

    def __bool__(self) -> NoReturn:
        raise TypeError(
            f"{self!r} is a filter and neither true nor false: combine filters with & | ~ and parentheses, "
            "not with and, or, not or a < b < c"
        )

    def __eq__(self, other: object) -> bool:
        # By how they are written: to Python 1, 1.0 and True are the same, to a reader they are not.
        return type(self) is type(other) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))


class Order(StrEnum):
    """The comparisons that need an order."""

    LESS = "<"
    AT_MOST = "<="
    GREATER = ">"
    AT_LEAST = ">="


_COMPARE: Final[dict[Order, Callable[[Any, Any], bool]]] = {
    Order.LESS: operator.lt,
    Order.AT_MOST: operator.le,
    Order.GREATER: operator.gt,
    Order.AT_LEAST: operator.ge,
}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Among(Filter):
    """The value is equal to one of these: `==` and `isin`."""

    key: str
    values: tuple[Any, ...]
    wanted: frozenset[Comparable] = field(init=False)

    def __post_init__(self) -> None:
        wanted = frozenset(each for value in self.values if (each := comparable(value)) is not None)
        object.__setattr__(self, "wanted", wanted)

    def accepts(self, found: Comparable) -> bool:
        """Whether a value that is there fulfils it."""
        return found in self.wanted

    def __repr__(self) -> str:
        return self.shown("==", "isin")

    def shown(self, one: str, many: str) -> str:
        """The expression, with the operator for one value and the method for several."""
        if len(self.values) == 1:
            return f"F({self.key!r}) {one} {_shown(self.values[0])}"
        return f"F({self.key!r}).{many}([{', '.join(map(_shown, self.values))}])"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ordered(Filter):
    """The value is before or after another of its kind: `<`, `<=`, `>`, `>=`."""

    key: str
    order: Order
    value: Any
    bound: Comparable | None = field(init=False)

    def __post_init__(self) -> None:
        bound = comparable(self.value)
        unordered = bound is not None and bound.kind is Kind.LIST
        object.__setattr__(self, "bound", None if unordered else bound)

    def accepts(self, found: Comparable) -> bool:
        """Whether a value that is there fulfils it."""
        bound = self.bound
        if bound is None or found.kind is not bound.kind:
            return False
        return _COMPARE[self.order](found.value, bound.value)

    def __repr__(self) -> str:
        return f"F({self.key!r}) {self.order} {_shown(self.value)}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Contains(Filter):
    """The value is a text with this part, or a list with this element: `contains`."""

    key: str
    value: Any
    part: Comparable | None = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "part", comparable(self.value))

    def accepts(self, found: Comparable) -> bool:
        """Whether a value that is there fulfils it."""
        part = self.part
        if part is None:
            return False
        if found.kind is Kind.LIST:
            return part in found.value
        return found.kind is Kind.TEXT is part.kind and part.value in found.value

    def __repr__(self) -> str:
        return f"F({self.key!r}).contains({_shown(self.value)})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Not(Filter):
    """The filter does not match."""

    filter: Node

    def __repr__(self) -> str:
        return self.filter.shown("!=", "notin") if isinstance(self.filter, Among) else f"~({self.filter!r})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class And(Filter):
    """All of the filters match."""

    filters: tuple[Node, ...]

    def __repr__(self) -> str:
        return " & ".join(f"({each!r})" for each in self.filters)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Or(Filter):
    """One of the filters matches, or several."""

    filters: tuple[Node, ...]

    def __repr__(self) -> str:
        return " | ".join(f"({each!r})" for each in self.filters)


Leaf: TypeAlias = Among | Ordered | Contains
Node: TypeAlias = Leaf | Not | And | Or


def checked_filter(filter: object) -> Node | None:
    """The filter as a node of the union, or `None` for none. Raises `TypeError` for anything else."""
    if filter is None or isinstance(filter, Among | Ordered | Contains | Not | And | Or):
        return filter
    raise TypeError(f"the filter is a {type(filter).__name__}: build one with F, as in F('tenant') == 'a'")


def _matches(node: Node, metadata: Mapping[str, Any]) -> bool:
    match node:
        case Among() | Ordered() | Contains():
            found = comparable(metadata.get(node.key))
            return found is not None and node.accepts(found)
        case Not(filter=inner):
            return not _matches(inner, metadata)
        case And(filters=filters):
            return all(_matches(each, metadata) for each in filters)
        case Or(filters=filters):
            return any(_matches(each, metadata) for each in filters)
        case _:
            assert_never(node)


def _parts(kind: type[And] | type[Or], filter: Filter) -> tuple[Node, ...]:
    return filter.filters if isinstance(filter, kind) else (cast("Node", filter),)


@dataclass(frozen=True, slots=True, eq=False)
class F:
    """A key of the metadata, to be compared with a value: text, number, bool, date, UUID, or a list of these.

    `==` and `!=` take any of them; `<`, `<=`, `>`, `>=` and `between`, which includes both ends, make a
    condition on values of the same kind. Raises `ValueError` for `None` and for a choice of no values,
    `TypeError` for values of other types.
    """

    key: str

    def __post_init__(self) -> None:
        if not isinstance(self.key, str):
            raise TypeError(f"the key of a filter is a {type(self.key).__name__}: give a text")
        if not self.key.strip():
            raise ValueError("the key of a filter is blank: give the name of a metadata entry")

    def __eq__(self, value: object) -> Filter:  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]
        return Among(self.key, (_value(self.key, value),))

    def __ne__(self, value: object) -> Filter:  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]
        return Not(Among(self.key, (_value(self.key, value),)))

    __hash__ = None  # type: ignore[assignment]  # it has no equality to go with

    def __lt__(self, value: object) -> Filter:
        return Ordered(self.key, Order.LESS, _value(self.key, value))

    def __le__(self, value: object) -> Filter:
        return Ordered(self.key, Order.AT_MOST, _value(self.key, value))

    def __gt__(self, value: object) -> Filter:
        return Ordered(self.key, Order.GREATER, _value(self.key, value))

    def __ge__(self, value: object) -> Filter:
        return Ordered(self.key, Order.AT_LEAST, _value(self.key, value))

    def isin(self, values: Iterable[object]) -> Filter:
        """The value is equal to one of these."""
        return Among(self.key, _choice(self.key, values))

    def notin(self, values: Iterable[object]) -> Filter:
        """The value is equal to none of these, or there is none."""
        return Not(Among(self.key, _choice(self.key, values)))

    def contains(self, value: object) -> Filter:
        """The value is a text with this part, case and all, or a list with this element."""
        part = _value(self.key, value)
        if isinstance(part, tuple):
            raise TypeError(f"F({self.key!r}).contains looks for one element: combine several with & or |")
        return Contains(self.key, part)

    def between(self, first: object, last: object) -> Filter:
        """The value is not before the first nor after the last."""
        return (self >= first) & (self <= last)

    def __bool__(self) -> NoReturn:
        raise TypeError(f"F({self.key!r}) is no condition yet: compare it, as in F({self.key!r}) == 'a'")


def _choice(key: str, values: Iterable[object]) -> tuple[Any, ...]:
    if isinstance(values, str):
        raise TypeError(f"F({key!r}) is to be among the letters of a text: give a list of values")
    choice = tuple(_value(key, each) for each in values)
    if not choice:
        raise ValueError(f"F({key!r}) is to be among no values at all: give at least one, or leave it out")
    return choice


def _value(key: str, value: object) -> Any:
    if value is None:
        raise ValueError(f"F({key!r}) is compared with None, which is no value: a missing key has none")
    if isinstance(value, list | tuple):
        return tuple(_value(key, each) for each in value)
    if not isinstance(value, _SCALARS):
        raise TypeError(
            f"F({key!r}) is compared with a {type(value).__name__}: "
            "give str, int, float, bool, date, UUID or a list of these"
        )
    return value


def _shown(value: object) -> str:
    match value:
        case tuple():
            return f"[{', '.join(map(_shown, value))}]"
        case int() if value.bit_length() > MOST_BITS:
            return hex(value)
        case _:
            return repr(value)
