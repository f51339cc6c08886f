"""Attributes are read-only, hold JSON only, and refuse early what a store could not keep."""

import pickle
from enum import IntEnum, StrEnum
from typing import Any

import pytest

from aiservices.messages import FrozenMapping, ToolCall, UserMessage


class Level(IntEnum):
    HIGH = 3


class Colour(StrEnum):
    RED = "red"


def test_they_are_a_copy_to_any_depth() -> None:
    inner = {"list": [1]}
    message = UserMessage("hello", attributes={"inner": inner})
    inner["list"].append(2)
    assert message.attributes == {"inner": {"list": [1]}}


def test_they_hold_every_kind_of_json_value() -> None:
    values = {"a": None, "b": True, "c": 10**40, "d": 0.1, "e": "é\u2028😀", "f": [[], {}], "": Level.HIGH}
    assert UserMessage("hello", attributes=values).attributes == values


def test_tuples_become_lists_and_mappings_objects() -> None:
    given = {"a": (1, 2), "b": FrozenMapping({"c": Colour.RED})}
    assert UserMessage("hello", attributes=given).attributes == {"a": [1, 2], "b": {"c": "red"}}


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"a": {"b": [0, object()]}}, r"UserMessage.attributes\['a'\]\['b'\]\[1\] is a object"),
        ({"a": b"bytes"}, "is a bytes: only JSON values"),
        ({"a": {1, 2}}, "is a set"),
        ({"a": {1: 2}}, "has the key 1: JSON objects have text keys"),
        ({1: 2}, "UserMessage.attributes has the key 1"),
        (FrozenMapping({"a": object()}), "is a object"),
    ],
)
def test_what_is_not_json_is_a_type_error_that_names_the_place(values: Any, complaint: str) -> None:
    with pytest.raises(TypeError, match=complaint):
        UserMessage("hello", attributes=values)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_json_has_no_number_that_is_not_finite(number: float) -> None:
    with pytest.raises(ValueError, match=r"ToolCall.attributes\['a'\]\[0\] is -?(nan|inf)"):
        ToolCall("c1", "look", "{}", {"a": [number]})


def test_what_holds_itself_is_refused() -> None:
    endless: dict[str, Any] = {}
    endless["again"] = [endless]
    with pytest.raises(ValueError, match="nested deeper than 100 levels, or in itself"):
        UserMessage("hello", attributes=endless)


def test_they_pass_from_message_to_message_without_another_copy() -> None:
    first = UserMessage("hello", attributes={"a": [1]})
    assert UserMessage("again", attributes=first.attributes).attributes is first.attributes


class TestFrozenMapping:
    def test_compares_by_value_with_any_mapping(self) -> None:
        assert FrozenMapping({"a": [1]}) == FrozenMapping({"a": [1]}) == {"a": [1]}
        assert FrozenMapping({"a": 1}) != FrozenMapping({"a": 2})
        assert FrozenMapping() == FrozenMapping({}) == {}

    def test_has_a_hash_though_its_values_may_have_none(self) -> None:
        assert hash(FrozenMapping({"a": [1]})) == hash(FrozenMapping({"a": [1]}))

    def test_is_read_only(self) -> None:
        mapping = FrozenMapping({"a": 1})
        with pytest.raises(AttributeError, match="FrozenMapping is read-only"):
            mapping._items = {}
        with pytest.raises(TypeError):
            mapping["a"] = 2  # type: ignore[index]

    def test_survives_pickling(self) -> None:
        assert pickle.loads(pickle.dumps(FrozenMapping({"a": [1]}))) == {"a": [1]}
