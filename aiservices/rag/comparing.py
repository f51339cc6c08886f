"""What of metadata can be compared with what: filters, and every store's translation of them, rest on it."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from enum import StrEnum
from math import isnan
from typing import Any, Final, NamedTuple
from uuid import UUID

_EPOCH: Final = datetime(1970, 1, 1)
_MICROSECOND: Final = timedelta(microseconds=1)


class Kind(StrEnum):
    """Values of one kind are equal, smaller or greater than one another; those of two kinds are neither."""

    TEXT = "s"
    NUMBER = "n"
    TRUTH = "b"
    DAY = "d"
    LOCAL_TIME = "l"
    MOMENT = "m"
    LIST = "x"


class Comparable(NamedTuple):
    """A value and its kind. Two of them are equal, and hash alike, exactly when a filter says so."""

    kind: Kind
    value: Any


def comparable(value: object) -> Comparable | None:
    """What a value counts as in comparisons; `None` for what is not equal even to itself.

    Numbers are compared exactly, whichever type they have; a bool is no number. A UUID is its text, in lower
    case and with hyphens. A day is no point in time, and a time with a zone is not comparable with one
    without; two with zones are compared as moments. Lists can be equal, and have no order.
    """
    match value:
        case str():
            return Comparable(Kind.TEXT, str.__str__(value))
        case bool():
            return Comparable(Kind.TRUTH, value)
        case int():
            return Comparable(Kind.NUMBER, value)
        case float():
            return None if isnan(value) else Comparable(Kind.NUMBER, value)
        case datetime():
            return _time(value)
        case date():
            return Comparable(Kind.DAY, value)
        case UUID():
            return Comparable(Kind.TEXT, str(value))
        case list() | tuple():
            return _list(value)
        case _:
            return None


def _time(value: datetime) -> Comparable:
    """A time; one with a zone in microseconds since 1970, which unlike Python also holds across a fold."""
    offset = value.utcoffset()
    if offset is None:
        return Comparable(Kind.LOCAL_TIME, value.replace(tzinfo=None, fold=0))
    return Comparable(Kind.MOMENT, (value.replace(tzinfo=None, fold=0) - _EPOCH - offset) // _MICROSECOND)


def _list(values: list[Any] | tuple[Any, ...]) -> Comparable | None:
    items = tuple(comparable(each) for each in values)
    return None if None in items else Comparable(Kind.LIST, items)
