"""Metadata and filters of every kind, made so that many of the filters match something."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from hypothesis import strategies as st

from aiservices.rag import F, Filter

KEYS = ("a", "b", "a.b", "quo\"te's", "日本", "back\\slash", "%", "a[0]", "$a", "\ud800", "nul\0")

ID = UUID("6ba7b810-9dad-11d1-80b4-00c04fd430c8")
TEXTS = (
    *("", "a", "A", "ab", "b", "á", "a\u0301", "a%", "a_", "a'b", 'a"', "日本", "😀", "\ue000", "1", "true"),
    *("null", "a\0b", "\ud800", "n1", "2020-01-01", str(ID), str(ID).upper()),
)
NUMBERS = (
    *(0, -0.0, 1, 1.0, 2, 2.5, -1, -1.5, -2, 0.1, 1e22, 10**22, 1e23, 10**23, 2**53, 2**53 + 1, 2.0**53),
    *(2**64, -(2**70), 10**400, 5e-324, 1.7976931348623157e308, -5e-324, 2**63 - 1, 2**63),
)
TIMES = (
    *(
        date(2020, 1, 1),
        date(1, 1, 1),
        date(9999, 12, 31),
        datetime(2020, 1, 1),
        datetime(2020, 1, 1, 1, 2, 3),
    ),
    *(datetime(2020, 1, 1, 12, tzinfo=timezone(timedelta(hours=h))) for h in (0, 2, -3)),
    *(datetime(2024, 10, 27, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"), fold=f) for f in (0, 1)),
    *(datetime.min.replace(tzinfo=timezone(timedelta(hours=14))), datetime.max),
)


def scalars() -> st.SearchStrategy[Any]:
    return st.one_of(
        st.sampled_from(NUMBERS), st.sampled_from(TEXTS), st.sampled_from(TIMES), st.booleans(), st.just(ID)
    ) | st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(), st.uuids())


def lists() -> st.SearchStrategy[Any]:
    return st.lists(st.sampled_from((*TEXTS, *NUMBERS, *TIMES, True, False)), max_size=3)


def metadata() -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(st.sampled_from(KEYS), scalars() | lists(), max_size=4)


def leaves() -> st.SearchStrategy[Filter]:
    bounds = scalars() | st.sampled_from([float("inf"), float("-inf"), float("nan")])
    values = bounds | lists()
    return st.builds(_leaf, st.sampled_from(KEYS), st.sampled_from(range(10)), values, bounds)


def _leaf(key: str, how: int, value: Any, other: Any) -> Filter:
    f, scalar = F(key), other if isinstance(value, list) else value
    made = (
        lambda: f == value,
        lambda: f != value,
        lambda: f < value,
        lambda: f <= value,
        lambda: f > value,
        lambda: f >= value,
        lambda: f.isin([value, other]),
        lambda: f.notin([value, other]),
        lambda: f.contains(scalar),
        lambda: f.between(value, other),
    )
    return made[how]()


def filters() -> st.SearchStrategy[Filter]:
    def combined(inner: st.SearchStrategy[Filter]) -> st.SearchStrategy[Filter]:
        pairs = st.tuples(inner, inner)
        return st.one_of(pairs.map(lambda p: p[0] & p[1]), pairs.map(lambda p: p[0] | p[1]), inner.map(_not))

    return st.recursive(leaves(), combined, max_leaves=6)


def _not(filter: Filter) -> Filter:
    return ~filter
