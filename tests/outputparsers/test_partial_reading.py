"""Values that grow piece by piece: what is complete is read once."""

from __future__ import annotations

import json
import math
from collections import deque
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, RootModel, model_validator
from typing_extensions import TypedDict

from outputparsers import OutputParser, output_parser, partial_reader

from .chopping import ANSWERS, calls_of, chopped, pieces


class Animal(Enum):
    CAT = "CAT"
    CATTLE = "CATTLE"


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]
    bark: str | None = None
    pups: list[Pet] = []


Pet = Annotated[Cat | Dog, Field(discriminator="kind")]


class Line(BaseModel):
    name: str
    price: Decimal
    tags: list[str] = []


class Order(BaseModel):
    model_config = ConfigDict(extra="allow")
    number: int = Field(alias="orderNumber")
    lines: list[Line] = []
    paid: bool | None = None

    @model_validator(mode="after")
    def never(self) -> Order:
        pytest.fail("user code ran on half an answer")


class Pair(NamedTuple):
    left: str
    right: Line | None = None


class Movie(TypedDict, total=False):
    title: str
    cast: set[str]


@dataclass(frozen=True, slots=True)
class Point:
    x: float
    y: float = math.inf


class Node(BaseModel):
    value: int
    children: list[Node] = []


Names = RootModel[list[str]]
Told = RootModel[Pet]


def snapshots(type_: Any, *parts: str) -> list[Any]:
    """What is said after each piece."""
    reader = partial_reader(output_parser(type_))
    return [reader.feed(part) for part in parts]


def latest(parser: OutputParser[Any], parts: list[str]) -> Any:
    """What was said last."""
    reader = partial_reader(parser)
    said = [value for part in parts if (value := reader.feed(part)) is not None]
    return said[-1] if said else None


def test_a_piece_that_says_nothing_new_is_none() -> None:
    parts = ["He", "re: ", "{", ' "va', 'lue": 1', "2", ",", ' "children"', ": ", "[", " ", "]", "}", " more"]
    said = [node and (node.value, node.children) for node in snapshots(Node, *parts)]
    nothing = None
    assert said == [
        *(nothing, nothing, nothing, (None, None), nothing, nothing, (12, None)),
        *(nothing, nothing, (12, []), nothing, nothing, nothing, nothing),
    ]


def test_an_object_gets_its_defaults_when_it_ends() -> None:
    said = snapshots(list[Node], '[{"value": 1', "}", ", {", '"value": 2, "children": []', "}", "]")
    assert [node and [(n.value, n.children) for n in node] for node in said] == [
        [(None, None)], [(1, [])], [(1, []), (None, None)], [(1, []), (2, [])], None, None,
    ]  # fmt: skip


def test_a_text_grows_and_a_label_comes_whole() -> None:
    class Told(BaseModel):
        text: str
        animal: Animal

    said = snapshots(Told, '{"text": "a', "b", 'c", "animal": "CAT', "T", 'LE"', "}")
    assert [(s.text, s.animal) if s else None for s in said] == [
        ("a", None), ("ab", None), ("abc", None), None, ("abc", Animal.CATTLE), None,
    ]  # fmt: skip


ESCAPED = 'a\\ud83d\\ude00b\\u00e9\\n\\\\\\"c\\ud83d\\ude00'


@pytest.mark.parametrize("size", range(1, 13))
def test_an_escape_that_is_split_waits_for_its_end(size: int) -> None:
    parser = output_parser(list[str])
    reader = partial_reader(parser)
    whole = 'a\U0001f600bé\n\\"c\U0001f600'
    said: list[Any] = [
        value for part in pieces(f'["{ESCAPED}"]', size) if (value := reader.feed(part)) is not None
    ]
    assert said[-1] == [whole]
    assert all(whole.startswith(value[0]) for value in said if value)


@pytest.mark.parametrize(
    "text", ['["a\\ud83d", "b"]', '["a\\ude00bcdefghijkl", "b"]', '["a\\x", "b"]', '["a\ud83d", "b"]']
)
def test_a_broken_escape_ends_what_is_said(text: str) -> None:
    assert latest(output_parser(list[str]), list(text)) == ["a"]


def test_structure_within_texts_is_text() -> None:
    text = json.dumps([{"name": ']}, {"', "price": 1, "tags": ["[,", "}"]}])
    assert latest(output_parser(list[Line]), list(text)) == [
        Line(name=']}, {"', price=Decimal(1), tags=["[,", "}"])
    ]


LINE = Line(name="n", price=Decimal("1.10"))
WHOLE: list[tuple[Any, str, object]] = [
    (Pair, '{"left": "a", "right": {"name": "n", "price": 1.10}}', Pair("a", LINE)),
    (Movie, '{"title": "M", "cast": ["a", "b", "a"]}', {"title": "M", "cast": {"a", "b"}}),
    (Point, '{"y": 2, "x": 1.5}', Point(1.5, 2)),
    (dict[date, Point], '{"2024-01-02": {"x": 1, "y": 1}, "no": 1}', {date(2024, 1, 2): Point(1, 1)}),
    (tuple[int, str], '{"values": [1, "a", 3]}', (1, "a")),
    (tuple[int, ...], "[1, 2]", (1, 2)),
    (frozenset[int], "[1, 1]", frozenset({1})),
    (deque[int], "[1, 1]", deque([1, 1])),
    (Names, '["a", "b"]', Names(["a", "b"])),
    (Told, '{"value": {"kind": "cat", "lives": 1}}', Told(Cat(kind="cat", lives=1))),
    (Names | None, '{"value": null}', None),
    (list[list[int]], "[[1], [], [2, 3]]", [[1], [], [2, 3]]),
    (list[Any], '[1, {"a": [true, null]}, "x"]', [1, {"a": [True, None]}, "x"]),
    (list[Point | list[int] | int | None], '[{"x": 1, "y": 2}, [3], 4, null]', [Point(1, 2), [3], 4, None]),
    (list[Cat | Point], '[{"kind": "cat"}, 5]', [{"kind": "cat"}]),
    (Decimal, '{"value": 1.23456789012345678901}', Decimal("1.23456789012345678901")),
    (int | str, '{"value": "12"}', "12"),
    (list[Decimal | str], '[1.5, "x"]', [Decimal("1.5"), "x"]),
    (list[float], "[1, NaN, 2]", [1.0, 2.0]),
    (list[int], "I found [the] list: [1, true, 2]", [1, 2]),
    (Node, 'See [1] {this}: {"value": 1, "children": []} and {"value": 2}', Node(value=1)),
    (Node, "<|channel|>final<|message|>{\"value\": 1, \"children\": []}<|end|>", Node(value=1)),
]  # fmt: skip


@pytest.mark.parametrize(("type_", "text", "value"), WHOLE)
@pytest.mark.parametrize("size", [1, 4, 1000])
def test_values_of_every_kind_grow_to_their_end(type_: Any, text: str, value: object, size: int) -> None:
    grown = latest(output_parser(type_), pieces(text, size))
    assert grown == value
    assert type(grown) is type(value)


def test_fields_have_their_aliases_and_unknown_ones_are_kept_where_they_are_allowed() -> None:
    class Loose(BaseModel):
        model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)
        one: int = Field(validation_alias=AliasChoices("first", "uno"))

    assert latest(output_parser(Loose), ['{"uno": 1, ']).one == 1
    assert latest(output_parser(Loose), ['{"one": 1, ']).one == 1
    order = latest(output_parser(Order), ['{"orderNumber": 7, "note": {"a": "b'])
    assert (order.number, order.model_extra) == (7, {"note": {"a": "b"}})
    assert snapshots(Node, '{"value": 1, "else": ', '[{"a": "b"}, 1', ", 2]")[1:] == [None, None]


def test_an_arm_is_shown_when_its_tag_has_come_however_late() -> None:
    *nothing, dog = snapshots(Pet, '{"bark": "wo', 'of", ', '"kind": "do', 'g"')
    assert nothing == [None, None, None]
    assert (type(dog), dog.bark, dog.pups) == (Dog, "woof", None)
    late = '{"pups": [{"lives": 3, "kind": "cat"}], "kind": "dog"}'
    pups = latest(output_parser(list[Pet]), list(f"[{late}]"))
    assert pups == [Dog(kind="dog", pups=[Cat(kind="cat", lives=3)])] or pups[0].pups == [
        Cat(kind="cat", lives=3)
    ]
    assert latest(output_parser(Pet), ['{"kind": "bird", "bark": "x"}']) is None


def test_what_is_wrong_so_far_is_as_good_as_absent() -> None:
    node = latest(output_parser(Node), ['{"value": "x", "children": [1, {"value": 2}, "y", []'])
    assert node.value is None
    assert [child.value for child in node.children] == [2]


def test_an_item_of_a_set_comes_whole() -> None:
    assert snapshots(set[str], '["a', 'b"', ', "c', '"]') == [set(), {"ab"}, None, {"ab", "c"}]
    assert snapshots(set[tuple[int, ...]], "[[1,", "2", "]") == [set(), None, {(1, 2)}]


def test_texts_are_told_without_thoughts_and_marks() -> None:
    marked = ["<thi", "nk>a</thi", "nk>\n", "Hel", "", "lo"]
    assert snapshots(str, *marked) == [None, None, None, "Hel", None, "Hello"]
    assert snapshots(str, "<thin", " ice") == [None, "<thin ice"]
    channels = list("<|channel|>analysis<|message|>no<|end|><|channel|>final<|message|>Hi <b>!<|end|>x")
    assert latest(output_parser(str), channels) == "Hi <b>!"


def test_a_registered_parser_is_asked_about_the_text_so_far() -> None:
    class Words:
        def parse_partial(self, text: str) -> object:
            return text.split()[:-1] or None

    reader = partial_reader(Words())  # type: ignore[arg-type, var-annotated]  # pyright: ignore[reportArgumentType]
    assert [reader.feed(part) for part in ("a", " b", "c", " d")] == [None, ["a"], None, ["a", "bc"]]


TYPES: list[Any] = [
    Node, list[Node], list[str], list[int], set[str], dict[str, Point], dict[str, Any], Pet, list[Pet],
    Cat | Dog,    Point | None, list[list[int]], tuple[int, str], str, int | str, Animal, Names,
]  # fmt: skip
PARSERS = [output_parser(type_) for type_ in TYPES]


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(PARSERS), ANSWERS, st.data())
def test_any_text_in_any_pieces_grows_to_the_same(parser: Any, text: str, data: st.DataObject) -> None:
    reader = partial_reader(parser)
    news = (reader.feed(part) for part in data.draw(chopped(text)))
    said = [(value, repr(value)) for value in news if value is not None]
    assert [repr(value) for value, _ in said] == [shown for _, shown in said]
    last = said[-1][1] if said else "None"
    assert last == repr(latest(parser, list(text))) == repr(parser.parse_partial(text))


def goes_on(before: Any, after: Any) -> bool:
    """Whether `after` is `before`, grown."""
    match before, after:
        case None, _:
            return True
        case str(), str():
            return after.startswith(before)
        case BaseModel(), BaseModel():
            return type(before) is type(after) and goes_on(dict(before), dict(after))
        case list(), list():
            return len(before) <= len(after) and all(map(goes_on, before, after))
        case dict(), dict():
            return all(key in after and goes_on(value, after[key]) for key, value in before.items())
        case _:
            return bool(before == after)


TEXTS = st.text(st.characters(codec="utf-8"), max_size=8)
LINES = st.builds(
    Line, name=TEXTS, price=st.decimals(allow_nan=False, allow_infinity=False), tags=st.lists(TEXTS)
)
NODES = st.recursive(
    st.builds(Node, value=st.integers()),
    lambda inner: st.builds(Node, value=st.integers(), children=st.lists(inner, max_size=3)),
    max_leaves=5,
)
PETS = st.recursive(
    st.builds(Cat, kind=st.just("cat"), lives=st.integers()),
    lambda inner: st.builds(
        Dog, kind=st.just("dog"), bark=st.none() | TEXTS, pups=st.lists(inner, max_size=2)
    ),
    max_leaves=4,
)
GROWING: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (list[Line], st.lists(LINES, max_size=3)),
    (Node, NODES),
    (Pet, PETS),
    (list[Pet], st.lists(PETS, max_size=3)),
    (dict[str, Line], st.dictionaries(TEXTS, LINES, max_size=3)),
    (list[int | str | None], st.lists(st.none() | TEXTS)),
]


@pytest.mark.parametrize(("type_", "values"), GROWING, ids=range(len(GROWING)))
def test_a_value_never_goes_backwards_and_ends_as_what_is_parsed(
    type_: Any, values: st.SearchStrategy[Any]
) -> None:
    parser = output_parser(type_)

    @settings(max_examples=25, deadline=None)
    @given(values, st.data())
    def check(value: Any, data: st.DataObject) -> None:
        text = parser.render(value)
        reader = partial_reader(parser)
        last = None
        for part in data.draw(chopped(text)):
            if (grown := reader.feed(part)) is not None:
                assert goes_on(last, grown)
                last = grown
        assert last == parser.parse(text) == value

    check()


def order(lines: int) -> str:
    """An answer of 8,000 characters for 150 lines."""
    made = [{"name": f"item {n:5}", "price": 1.5, "tags": ["a"]} for n in range(lines)]
    return json.dumps({"orderNumber": 1, "lines": made})


def work(lines: int) -> int:
    parser = output_parser(Order)
    latest(parser, [order(1)])  # places are planned when they are first met
    parts = pieces(order(lines), 4)
    return calls_of(lambda: latest(parser, parts))


def test_twice_the_length_is_twice_the_work() -> None:
    assert 1.8 < work(100) / work(50) < 2.2


def test_complete_parts_are_shared_and_never_read_again() -> None:
    reader = partial_reader(output_parser(Order))
    said: list[Any] = [value for part in pieces(order(20), 5) if (value := reader.feed(part)) is not None]
    first = [value.lines[0] for value in said if value.lines and len(value.lines) > 1]
    assert len(first) > 100
    assert all(line is first[0] for line in first)


def test_a_long_text_is_not_scanned_again_and_again() -> None:
    reader: Any = partial_reader(output_parser(list[str]))
    for part in pieces('["' + "x\\n" * 5_000, 7):
        reader.feed(part)
        assert len(reader._growth._rest) < 12


HOSTILE = [
    mark * 3_000
    for mark in ("[", '{"a":', '{"children": [', '["', '"\\', "[1,", '["\\ud83d', "{", "<think>", "-")
]


@pytest.mark.parametrize("text", [*HOSTILE, '{"' + "k" * 20_000, '[{"value": ' + "1" * 20_000], ids=range(12))
@pytest.mark.parametrize("type_", [Node, list[Any], dict[str, Any], list[Pet], str])
def test_hostile_texts_raise_nothing(type_: Any, text: str) -> None:
    latest(output_parser(type_), pieces(text, 20))
