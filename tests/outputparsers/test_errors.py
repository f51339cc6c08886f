"""What errors say and carry."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass

import pytest
from pydantic import BaseModel

from outputparsers import OutputParsingError, Problem, output_parser


class Item(BaseModel):
    name: str
    price: float


class Order(BaseModel):
    id: int
    items: list[Item]
    by_name: dict[str, Item] = {}


@dataclass
class Wide:
    a: int
    b: int


def error_of(type_: type, text: str) -> OutputParsingError:
    with pytest.raises(OutputParsingError) as caught:
        output_parser(type_).parse(text)
    return caught.value


def test_problems_say_where_and_what() -> None:
    items = '[{"name":"a","price":1},{"name":"b","price":2},{"name":"c","price":"much"}]'
    error = error_of(Order, f'{{"id":1,"items":{items},"by_name":{{"x y":{{"name":"a"}}}}}}')
    assert [problem.path for problem in error.problems] == ["items[2].price", "by_name.x y.price"]
    assert str(error.problems[0]).startswith("items[2].price: Input should be a valid number")
    assert error.problems[1] == Problem("by_name.x y.price", "Field required")


def test_the_message_can_be_sent_back_to_a_model() -> None:
    error = error_of(Order, '{"id":"x","items":3}')
    assert str(error) == (
        "Failed to parse the answer as Order: id: Input should be a valid integer, unable to parse string as "
        'an integer, got "x"; items: Input should be a valid array, got 3'
    )


def test_a_problem_without_a_place_is_its_message() -> None:
    assert str(Problem("", "the answer is empty")) == "the answer is empty"


def test_messages_are_bounded_and_do_not_hold_the_answer() -> None:
    long = "word " * 10_000
    error = error_of(Order, f'{{"id": "{long}", "items": {["x"] * 500}}}'.replace("'", '"'))
    assert len(error.problems) == 501
    assert len(str(error)) < 2_500
    assert "and 493 more" in str(error)
    assert long not in str(error)
    assert long in str(error.text)


def test_errors_survive_pickling_and_copying() -> None:
    error = error_of(Wide, '{"a":1}')
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert (twin.text, twin.expected, twin.problems) == (error.text, error.expected, error.problems)
        assert str(twin) == str(error)


def test_the_cause_is_what_pydantic_said() -> None:
    assert type(error_of(Wide, '{"a":1}').__cause__).__name__ == "ValidationError"


def test_errors_are_value_errors() -> None:
    assert issubclass(OutputParsingError, ValueError)


def test_an_error_can_be_subclassed_with_context() -> None:
    class RootError(Exception):
        """The root of a framework's errors."""

    class MineError(RootError, OutputParsingError):
        """What the framework raises."""

    mine = MineError("text", "Person", [Problem("a", "b")])
    assert str(mine) == "Failed to parse the answer as Person: a: b"
    assert mine.problems == (Problem("a", "b"),)
