"""Nothing is stored that would come back as something else, and who tries is told what it was."""

from __future__ import annotations

from datetime import date
from enum import Enum, StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiservices.errors import StoreError
from aiservices.messages import UserMessage
from aiservices.stores import Entry
from aiservices.stores.encoding import DEEPEST, decode, encode

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
json_values = st.recursive(
    scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20
)


class Color(Enum):
    RED = "red"


class Size(StrEnum):
    LARGE = "large"


@given(json_values)
def test_every_json_value_comes_back_equal(value: Any) -> None:
    assert repr(decode("test", "a", encode("test", "a", value), 7)) == repr(Entry(value, 7))


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        ({"m": UserMessage("hi")}, "value['m'] is a UserMessage, which is no JSON"),
        ({"d": [1, date(2024, 1, 2)]}, "value['d'][1] is a date, which is no JSON"),
        ({"e": Color.RED}, "value['e'] is a Color, which is no JSON"),
        ({"b": b"\0"}, "value['b'] is a bytes, which is no JSON"),
        ({"s": {1, 2}}, "value['s'] is a set, which is no JSON"),
        ((1, 2), "value is a tuple, which is no JSON"),
        ([{1: "a"}], "value[0] has the key 1, which is no string"),
        ([float("nan")], "value[0] is nan, which JSON cannot keep"),
        ({"x": "\ud800"}, "value['x'] holds a lone surrogate"),
        ({"\udfff": 1}, "which holds a lone surrogate"),
        ([10**5000], "value[0] is an integer of too many digits, which JSON cannot keep"),
    ],
)
def test_what_would_not_come_back_is_named(value: Any, complaint: str) -> None:
    with pytest.raises(StoreError) as caught:
        encode("checkpoints", "run 1", value)
    assert str(caught.value).startswith("cannot store 'run 1' in 'checkpoints': ")
    assert complaint in str(caught.value)
    assert (caught.value.namespace, caught.value.key) == ("checkpoints", "run 1")


def test_a_value_that_contains_itself_or_is_too_deep_is_refused() -> None:
    circle: list[Any] = []
    circle.append(circle)
    deep: Any = "innermost"
    for _ in range(DEEPEST):
        deep = [deep]
    assert decode("test", "a", encode("test", "a", deep), 1).value == deep
    for value in (circle, [deep], [[[deep]]]):
        with pytest.raises(StoreError, match="contains itself or is nested more than 200 levels deep"):
            encode("test", "a", value)


def test_a_value_met_twice_is_no_circle() -> None:
    shared = {"a": [1]}
    assert decode("test", "a", encode("test", "a", [shared, shared]), 1).value == [shared, shared]


def test_members_of_string_enums_are_the_strings_they_equal() -> None:
    assert decode("test", "a", encode("test", "a", [Size.LARGE]), 1).value == ["large"]


@pytest.mark.parametrize("text", ["", "{", '{"a": 1} 2', "NaN", b'"\xff"', "nonsense", None, 5])
def test_a_text_that_is_no_json_is_an_error_that_names_the_entry(text: Any) -> None:
    with pytest.raises(StoreError, match="'alice' in 'chat' is damaged") as caught:
        decode("chat", "alice", text, 1)
    assert (caught.value.namespace, caught.value.key) == ("chat", "alice")


@pytest.mark.parametrize("version", [None, 0, -1, "1"])
def test_a_version_that_is_none_is_an_error_too(version: Any) -> None:
    with pytest.raises(StoreError, match="not a positive integer"):
        decode("chat", "alice", "1", version)
