"""What holds for every type and every text."""

from __future__ import annotations

import json
import time as time_module
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Annotated, Any, Generic, Literal, NamedTuple, TypeVar
from uuid import UUID

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, RootModel
from pydantic.alias_generators import to_camel
from typing_extensions import TypeAliasType, TypedDict

from outputparsers import OutputParser, OutputParsingError, output_parser

T = TypeVar("T")


class Colour(str, Enum):  # noqa: UP042 - how people wrote it before StrEnum
    RED = "red"
    GREEN = "grün"


class Priority(IntEnum):
    LOW = 1
    HIGH = 2


class Place(Enum):
    HOME = (1, 2)
    WORK = (3, 4)


@dataclass(frozen=True)
class Person:
    name: str
    age: int | None = None
    colours: frozenset[Colour] = frozenset()


class Point(NamedTuple):
    x: float
    label: str = ""


class Movie(TypedDict):
    title: str
    places: list[Place]


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"] = "dog"
    bark: str | None = None


class Everything(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel)
    a_flag: bool
    an_amount: Decimal
    at_time: datetime
    for_long: timedelta
    an_id: UUID
    pet: Annotated[Cat | Dog, Field(discriminator="kind")]
    by_place: dict[Place, list[Priority]]
    by_flag: dict[bool, int]
    by_day: dict[date, str]
    pair: tuple[int, str]
    either: int | str | None


class Node(BaseModel):
    value: int
    children: list[Node]


class Box(BaseModel, Generic[T]):
    content: T


Names = RootModel[list[str]]
Small = TypeAliasType("Small", Annotated[int, Field(ge=0, le=9)])

TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
DECIMALS = st.decimals(allow_nan=False, allow_infinity=False)
MOMENTS = st.datetimes() | st.datetimes(timezones=st.just(UTC))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | FLOATS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
PERSONS = st.builds(
    Person, TEXTS, st.none() | st.integers(), st.frozensets(st.sampled_from(Colour), max_size=2)
)
PETS: st.SearchStrategy[Any] = st.builds(Cat, lives=st.integers()) | st.builds(Dog, bark=st.none() | TEXTS)
NODES = st.recursive(
    st.builds(Node, value=st.integers(), children=st.just([])),
    lambda inner: st.builds(Node, value=st.integers(), children=st.lists(inner, max_size=3)),
    max_leaves=5,
)
EVERYTHING = st.fixed_dictionaries(
    {
        "aFlag": st.booleans(),
        "anAmount": DECIMALS,
        "atTime": MOMENTS,
        "forLong": st.timedeltas(timedelta(days=-999), timedelta(days=999)),
        "anId": st.uuids(),
        "pet": PETS,
        "byPlace": st.dictionaries(st.sampled_from(Place), st.lists(st.sampled_from(Priority), max_size=2)),
        "byFlag": st.dictionaries(st.booleans(), st.integers()),
        "byDay": st.dictionaries(st.dates(), TEXTS, max_size=2),
        "pair": st.tuples(st.integers(), TEXTS),
        "either": st.none() | st.integers() | TEXTS,
    },
).map(Everything.model_validate)

SUPPORTED: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (bool, st.booleans()),
    (int, st.integers()),
    (Small, st.integers(0, 9)),
    (float, FLOATS),
    (Decimal, DECIMALS),
    (date, st.dates()),
    (time, st.times()),
    (datetime, MOMENTS),
    (timedelta, st.timedeltas(timedelta(days=-9999), timedelta(days=9999))),
    (UUID, st.uuids()),
    (Colour, st.sampled_from(Colour)),
    (Priority, st.sampled_from(Priority)),
    (Place, st.sampled_from(Place)),
    (Literal["a", "A", 3, True, None], st.sampled_from(["a", "A", 3, True, None])),
    (Annotated[str, Field(max_length=30)], TEXTS),
    (list[str], st.lists(TEXTS)),
    (list[float], st.lists(FLOATS)),
    (set[int], st.sets(st.integers())),
    (frozenset[Colour], st.frozensets(st.sampled_from(Colour))),
    (tuple[int, ...], st.lists(st.integers()).map(tuple)),
    (tuple[int, str, Colour], st.tuples(st.integers(), TEXTS, st.sampled_from(Colour))),
    (dict[str, int], st.dictionaries(TEXTS, st.integers())),
    (dict[Place, Person], st.dictionaries(st.sampled_from(Place), PERSONS)),
    (dict[str, Any], st.dictionaries(TEXTS, JSON, max_size=3)),
    (Person, PERSONS),
    (Point, st.builds(Point, FLOATS, TEXTS)),
    (Movie, st.fixed_dictionaries({"title": TEXTS, "places": st.lists(st.sampled_from(Place))})),
    (Everything, EVERYTHING),
    (Node, NODES),
    (Box[int], st.builds(Box[int], content=st.integers())),
    (Names, st.builds(Names, st.lists(TEXTS))),
    (Person | None, st.none() | PERSONS),
    (Annotated[Cat | Dog, Field(discriminator="kind")], PETS),
    (Cat | Dog | Person, PETS | PERSONS),
    (list[Person | Cat], st.lists(PERSONS | st.builds(Cat, lives=st.integers()), max_size=3)),
    (int | float | bool | None, st.integers() | FLOATS | st.booleans() | st.none()),
    (int | str, st.integers() | TEXTS),
    (list[int] | list[str], st.lists(st.integers(), min_size=1) | st.lists(TEXTS, min_size=1)),
]
IDS = [str(number) for number in range(len(SUPPORTED))]


@pytest.mark.parametrize(("type_", "values"), SUPPORTED, ids=IDS)
def test_what_is_rendered_is_parsed_back(type_: Any, values: st.SearchStrategy[Any]) -> None:
    parser = output_parser(type_)

    @settings(max_examples=25, deadline=None)
    @given(values)
    def check(value: Any) -> None:
        parsed = parser.parse(parser.render(value))
        assert parsed == value
        assert type(parsed) is type(value)

    check()


@pytest.mark.parametrize(("type_", "values"), SUPPORTED, ids=IDS)
def test_what_is_rendered_is_valid_by_the_schema(type_: Any, values: st.SearchStrategy[Any]) -> None:
    parser = output_parser(type_)
    schema = parser.json_schema()
    assert schema is not None
    validator = jsonschema.Draft202012Validator(schema)

    @settings(max_examples=8, deadline=None)
    @given(values)
    def check(value: Any) -> None:
        validator.validate(json.loads(parser.render(value)))

    check()


def test_text_is_rendered_as_itself() -> None:
    assert output_parser(str).render('{"x"}') == '{"x"}'


PARSERS = [output_parser(type_) for type_, _ in SUPPORTED]
MARKS = """{"value": |{"values": [|[|]|}|"|{|null|1e999|~~~json|~~~|<think>|\\ud800|,|:|NaN|"name"|-|\\|'"""
FRAGMENTS = st.sampled_from(
    [*MARKS.split("|"), "<|channel|>", "<|message|>", "</think>", "\n", "\x00", "\ud800", "```"]
)


def refusal(parser: OutputParser[Any], text: str) -> OutputParsingError | None:
    """The error a text is refused with, if it is."""
    try:
        parser.parse(text)
    except OutputParsingError as error:
        return error
    return None


@given(st.sampled_from(PARSERS), st.lists(FRAGMENTS | st.text(max_size=5), max_size=12).map("".join))
@settings(max_examples=400, deadline=None)
def test_no_text_raises_anything_but_a_parsing_error(parser: Any, text: str) -> None:
    parser.parse_partial(text)
    error = refusal(parser, text)
    assert error is None or (error.problems and len(str(error)) < 3_000)


HOSTILE = [
    *(mark * 5_000 for mark in ("{", "[", '{"a":', "{x", '"', "[{}", "{ ", "{a}", '{"a":1}', "{'", '"\\')),
    *(
        mark * 5_000
        for mark in ("```\n", "```x\n", "<think>", "</think>", "<|channel|>", "<|channel|>final", "-")
    ),
    "1" * 50_000,
    f'{{"value": "{"1" * 5_000}e3"}}',
    f"{' ' * 50_000}x",
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("type_", [Person, list[str], int, int | str])
def test_hostile_texts_are_refused_quickly(type_: Any, text: str) -> None:
    parser = output_parser(type_)
    start = time_module.process_time()
    parser.parse_partial(text)
    refusal(parser, text)
    assert time_module.process_time() - start < 10
