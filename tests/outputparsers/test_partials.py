"""Values that grow while an answer arrives."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, field_validator
from typing_extensions import TypedDict

from outputparsers import output_parser


class Animal(Enum):
    CAT = "CAT"
    DOG = "DOG"


class Person(BaseModel):
    name: str = Field(min_length=3)
    age: int
    pets: list[Pet] = []
    born: date | None = None
    favourite: Animal = Animal.CAT

    @field_validator("name")
    @classmethod
    def never(cls, value: str) -> str:
        pytest.fail("user code ran on half an answer")


class Pet(BaseModel):
    kind: Literal["cat", "dog"]
    name: str


@dataclass(frozen=True, slots=True)
class Point:
    x: int
    y: int

    def __post_init__(self) -> None:
        pytest.fail("user code ran on half an answer")


class Pair(NamedTuple):
    left: str
    right: str


class Movie(TypedDict):
    title: str
    year: int


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]
    bark: str


class Node(BaseModel):
    value: int
    children: list[Node]


def grown(type_: Any, text: str) -> Any:
    return output_parser(type_).parse_partial(text)


@pytest.mark.parametrize(
    "text", ["", " ", "Sure, here", "<think>{", '<think>so {"name": ', "<|channel|>final", "[1"]
)
def test_nothing_is_none(text: str) -> None:
    assert grown(Person, text) is None


def test_an_instance_has_none_for_what_has_not_arrived() -> None:
    person = grown(Person, '{"name": "An')
    assert isinstance(person, Person) is True
    assert (person.name, person.age, person.pets, person.favourite) == ("An", None, None, None)


def test_nested_instances_grow_too() -> None:
    text = 'Here: ```json\n{"name": "Ana", "age": 3, "pets": [{"kind": "cat", "name": "Tom"}, {"kind": "do'
    person = grown(Person, text)
    assert isinstance(person.pets[0], Pet)
    assert [(pet.kind, pet.name) for pet in person.pets] == [("cat", "Tom"), (None, None)]


def test_a_number_is_shown_when_it_can_grow_no_more() -> None:
    assert grown(Person, '{"age": 12').age is None
    assert grown(Person, '{"age": 12,').age == 12
    assert grown(Person, '{"age": 12}').age == 12
    assert grown(list[int], "[1, 23, -") == [1, 23]
    assert grown(list[float], "[1, 2.5, 3") == [1.0, 2.5]


def test_digits_inside_a_text_are_shown_at_once() -> None:
    assert grown(Person, '{"name": "route: 66').name == "route: 66"
    assert grown(Person, '{"name": "a \\" b, 12').name == 'a " b, 12'


def test_choices_and_dates_are_shown_when_they_are_complete() -> None:
    assert grown(Person, '{"favourite": "DO').favourite is None
    assert grown(Person, '{"favourite": "DOG').favourite is None
    assert grown(Person, '{"favourite": "DOG"').favourite is Animal.DOG
    assert grown(Person, '{"born": "2024-01').born is None
    assert grown(Person, '{"born": "2024-01-02", ').born == date(2024, 1, 2)


def test_records_of_every_kind_grow() -> None:
    point = grown(Point, '{"x": 1, "y"')
    assert (type(point), point.x, point.y) == (Point, 1, None)
    assert grown(Pair, '{"left": "a') == Pair("a", None)  # type: ignore[arg-type]
    assert grown(Movie, '{"title": "M", "ye') == {"title": "M"}
    assert grown(dict[str, int], '{"a": 1, "b": 2') == {"a": 1}
    assert grown(dict[Animal, Person], '{"cat": {"name": "Ana"').get(Animal.CAT).name == "Ana"


def test_collections_hold_what_has_arrived() -> None:
    assert grown(list[str], '{"values": ["a", "b') == ["a", "b"]
    assert grown(list[str], '["a", "b') == ["a", "b"]
    assert grown(list[Animal], '["CAT", "DO') == [Animal.CAT]
    assert grown(set[int], "[1, 1, 2,") == {1, 2}
    assert grown(list[Pet], '{"values": []}') == []
    assert grown(tuple[int, str], '[1, "a') == (1, "a")
    assert grown(list[str], '{"valu') is None


def test_scalars_are_read_from_their_wrapper() -> None:
    assert grown(Animal, '{"value": "CAT"') is Animal.CAT
    assert grown(Animal, '{"value": "C') is None
    assert grown(Animal, '{"value"') is None
    assert grown(Person | None, '{"value": {"name": "Ana"').name == "Ana"
    assert grown(Person | None, '{"name": "Ana"').name == "Ana"


def test_a_union_of_records_is_a_dictionary_until_the_arm_is_certain() -> None:
    assert grown(Cat | Dog, '{"kind": "dog", "bark": "wo') == {"kind": "dog", "bark": "wo"}
    pet = Annotated[Cat | Dog, Field(discriminator="kind")]
    assert grown(pet, '{"kind": "do') is None
    assert grown(pet, '{"kind": "dog", "bark": "wo').bark == "wo"


def test_recursive_values_grow() -> None:
    node = grown(Node, '{"value": 1, "children": [{"value": 2, "children": [{"value": 3,')
    assert node.children[0].children[0].value == 3


def test_text_is_the_text_so_far() -> None:
    parser = output_parser(str)
    assert parser.parse_partial("Hel") == "Hel"
    assert parser.parse_partial("") is None
    assert parser.parse_partial("<thi") is None
    assert parser.parse_partial("<think>hm") is None
    assert parser.parse_partial("<think>hm</think>\n\nHel") == "Hel"


def size(value: Any) -> int:
    """How much a partial value holds."""
    match value:
        case dict():
            return 1 + sum(map(size, value.values()))
        case list():
            return 1 + sum(map(size, value))
        case BaseModel():
            return 1 + sum(size(part) for _, part in value)
        case None:
            return 0
        case _:
            return 1


TREES = st.recursive(
    st.builds(lambda value: {"value": value, "children": []}, st.integers()),
    lambda inner: st.builds(
        lambda v, c: {"value": v, "children": c}, st.integers(), st.lists(inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(max_examples=40, deadline=None)
@given(TREES)
def test_a_partial_value_never_loses_what_it_had(tree: dict[str, Any]) -> None:
    parser = output_parser(Node)
    text = json.dumps(tree)
    sizes = [size(parser.parse_partial(text[:end])) for end in range(len(text) + 1)]
    assert sizes == sorted(sizes)
    assert parser.parse_partial(text) == parser.parse(text)


TYPES: list[Any] = [Person, Node, list[str], str, Animal, Cat | Dog]
PARSERS = [output_parser(type_) for type_ in TYPES]


@settings(deadline=None)
@given(st.text(), st.text())
def test_partial_values_never_raise(before: str, after: str) -> None:
    for parser in PARSERS:
        parser.parse_partial(before + '{"name": [' + after)
        parser.parse_partial(before)
