"""Items of a list, each as soon as it is complete: STR-11."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, field_validator

from outputparsers import ItemReader, OutputParsingError, item_reader, output_parser
from outputparsers.splitting import ArrayItems

from .chopping import ANSWERS, calls_of, chopped, pieces


class Animal(Enum):
    CAT = "CAT"
    DOG = "DOG"


@dataclass
class Person:
    name: str
    age: int = 0


class Node(BaseModel):
    value: int
    children: list[Node] = []


ANA, BOB = Person("Ana", 1), Person("Bob", 2)
CAT, DOG = Animal.CAT, Animal.DOG
LONG = Decimal("1.23456789012345678901")
DEEP = '[{"value":1,"children":[{"value":2,"children":[{"val'
TWO = '[{"name":"Ana","age":1},{"name":"Bob","age":2}]'


def list_parser(type_: Any) -> Any:
    """The parser of a list of a type that is only known at run time."""
    listed: Any = list.__class_getitem__(type_)
    return output_parser(listed)


def read(type_: Any, parts: list[str]) -> tuple[list[Any], OutputParsingError | None]:
    """The items of an answer in pieces, and the error that ended it."""
    reader = item_reader(type_)
    items: list[Any] = []
    try:
        for part in parts:
            items += reader.feed(part)
        items += reader.close()
    except OutputParsingError as error:
        return items, error
    return items, None


def given_by(type_: Any, *parts: str) -> list[list[Any]]:
    """What each piece gives, and the end."""
    reader = item_reader(type_)
    return [*(reader.feed(part) for part in parts), reader.close()]


def test_an_item_is_given_by_the_piece_that_completes_it() -> None:
    parts = ('[{"name":"Ana","age":1}', ',{"name":"Bob"', ',"age":2}]')
    assert given_by(Person, *parts) == [[ANA], [], [BOB], []]


def test_a_number_is_given_when_it_can_grow_no_more() -> None:
    assert given_by(int, "[1", "2,", "3", " ", "]") == [[], [12], [], [3], [], []]


@pytest.mark.parametrize(
    "text",
    [
        TWO,
        f'{{"values": {TWO}}}',
        f'{{\n "values"\n :\t{TWO}, "note": "x"}}',
        f"Here [1] they are:\n{TWO}\nAny questions? Ask {{me}}.",
        f"```json\n{TWO}\n```",
        f"<think>[1] {{ no</think>\n{TWO}",
        f"<|channel|>analysis<|message|>[{{}}]<|end|><|start|>assistant<|channel|>final<|message|>{TWO}<|return|>",
        "\ufeff" + TWO,
    ],
)
@pytest.mark.parametrize("size", [1, 3, 1000])
def test_what_stands_around_a_list_does_not_matter(text: str, size: int) -> None:
    assert read(Person, pieces(text, size)) == ([ANA, BOB], None)


@pytest.mark.parametrize("text", ["", " ", "[]", "[ \n]", '{"values": []}', "```json\n[]\n```"])
@pytest.mark.parametrize("type_", [Person, str, int, Animal])
def test_an_empty_list_has_no_items(type_: Any, text: str) -> None:
    assert read(type_, pieces(text, 2)) == ([], None)


LINES: list[tuple[Any, list[str], list[list[Any]]]] = [
    (str, ["one", "\nt", "wo\n\n", "three"], [[], ["one"], ["two"], [], ["three"]]),
    (str, ["[1] a\n", "[2] b\n"], [["[1] a"], ["[2] b"], []]),
    (str, ["Here you are:\n", "a\n"], [[], ["Here you are:", "a"], []]),
    (str, ["Here you are:\n", '["a",', ' "b"]'], [[], ["a"], ["b"], []]),
    (str, ["Sure:\n", "```\n", "a\n", "```\n", "Enjoy!"], [[], [], ["a"], [], [], []]),
    (str, ["a\u2028b\r", "\n"], [[], ["a", "b"], []]),
    (str, ["I like", " ", '["a"]', "\n"], [[], [], [], ['I like ["a"]'], []]),
    (str, ['"CAT"\n'], [[], ["CAT"]]),
    (str, ['{"x": 1, ', '"values": ["a"]}\n'], [[], [], ["a"]]),
    (Decimal, ["[1.1, ", f"{LONG}]"], [[Decimal("1.1")], [LONG], []]),
    (Animal, ["CAT\n", " dog"], [[CAT], [], [DOG]]),
    (Animal, ["[CAT]\n[DOG]"], [[CAT], [DOG]]),
    (Animal, ["Sure, here\n", "```\nCAT\n", "```"], [[], [CAT], [], []]),
    (Animal, ["Sure, ", 'these: ["CAT", "DOG"]'], [[], [CAT, DOG], []]),
    (int, ["1\n2", "3\n"], [[1], [23], []]),
    (bool, ["[true, ", "fal", "se]"], [[True], [], [False], []]),
    (
        Decimal,
        ["0.1\n", "1.23456789012345678901\n"],
        [[Decimal("0.1")], [Decimal("1.23456789012345678901")], []],
    ),
    (Literal["yes", "no"], ["Yes\nno\n"], [["yes", "no"], []]),
]


@pytest.mark.parametrize(("type_", "parts", "given_"), LINES)
def test_a_line_is_an_item_when_its_end_has_come(type_: Any, parts: list[str], given_: list[Any]) -> None:
    assert given_by(type_, *parts) == given_


FAILING: list[tuple[Any, str, list[Any], str]] = [
    (Person, TWO[:-1] + ',{"name":"C","age":"x"}]', [ANA, BOB], r"\[2\]\.age: .*integer"),
    (Person, TWO[:-1] + ',{"name":"C","ag', [ANA, BOB], r"\[2\]: .*cut off"),
    (Person, TWO[:-1] + ',{"name":"C","age":3', [ANA, BOB], r"\[2\]\.age: .*cut off"),
    (Person, TWO[:-1], [ANA, BOB], r"\[2\]: .*cut off"),
    (Person, '{"values": ' + TWO, [ANA, BOB], "cut off"),
    (Person, TWO[:-1] + ",]", [ANA, BOB], r"\[2\]: not valid JSON"),
    (Person, TWO[:-1] + "}", [ANA, BOB], r"\[2\]: not valid JSON"),
    (Person, TWO[:-1] + ",{]}]", [ANA, BOB], r"\[2\]: not valid JSON"),
    (Person, f"{TWO} or rather {TWO[:-1]}, {TWO[1:]}", [ANA, BOB], "read instead"),
    (Person, "no list", [], "no valid JSON"),
    (Person, '{"name":"Ana","age":1}', [], "values"),
    (Person, "[", [], "cut off"),
    (Person, '"', [], "no valid JSON"),
    (
        Node,
        '[{"value":1,"children":[{"value":2,"children":[{"val',
        [],
        r"\[0\]\.children\[0\]\.children\[0\]: .*cut",
    ),
    (list[int], "[[1],[2,", [[1]], r"\[1\]\[1\]: .*cut off"),
    (float, "[1, NaN]", [1.0], r"\[1\]: "),
    (float, "[NaN]", [], r"\[0\]: .*finite"),
    (int, "1\n[6]", [1], "read instead"),
    (int, "1\ntwo\n3", [1], r"\[1\]: .*integer"),
    (Animal, "BANANA\nCAT", [], r"\[0\]: .*'CAT' or 'DOG'"),
    (str, '["a"] and more', ["a"], "read instead"),
    (str, 'a\n["b"]', ["a"], "read instead"),
    (str, '{"values": ["a"], "values": ["b"]}', ["a"], "read instead"),
    (str, "a\n```\nb\n```", ["a", "```", "b"], "read instead"),
    (str, "```\na\n", ["a"], "read instead"),
    (str, '["a", "\\ud83d"]', ["a"], r"\[1\]: not valid JSON"),
    (str, '["a", "\ud83d"]', ["a"], r"\[1\]: not valid Unicode"),
    (str, "a\n\ud83d\n", ["a"], r"\[1\]: not valid Unicode"),
    (str, '["a"]\n\ud83d', ["a"], "not valid Unicode"),
]


@pytest.mark.parametrize(("type_", "text", "items", "problem"), FAILING)
@pytest.mark.parametrize("size", [1, 4, 1000])
def test_items_that_were_right_come_before_the_error(
    type_: Any, text: str, items: list[Any], problem: str, size: int
) -> None:
    found, error = read(type_, pieces(text, size))
    assert found == items
    with pytest.raises(OutputParsingError, match=problem):
        raise error or AssertionError("no error")
    assert error is not None
    assert error.text is not None
    assert text.startswith(error.text)


def test_a_wrong_item_raises_at_the_piece_that_completes_it() -> None:
    reader = item_reader(Person)
    assert reader.feed('[{"name":"Ana","age":1},{"name":') == [ANA]
    with pytest.raises(OutputParsingError, match=r"\[1\]\.name: "):
        reader.feed("3}")


def test_right_items_of_the_same_piece_come_first_and_the_error_stays() -> None:
    reader = item_reader(int)
    assert reader.feed('[1, "x", 3]') == [1]
    with pytest.raises(OutputParsingError, match=r"\[1\]: "):
        reader.feed("")
    for _ in range(2):
        with pytest.raises(OutputParsingError, match=r"\[1\]: "):
            reader.close()


def test_items_are_read_as_kindly_as_a_whole_list() -> None:
    text = '[{"value": "1e3", "children": "[{\\"value\\": 2.0}]"}, {"value": 3}]'
    items, error = read(Node, pieces(text, 5))
    assert (items, error) == (output_parser(list[Node]).parse(text), None)


def test_brackets_quotes_and_escapes_within_texts_are_no_structure() -> None:
    values = ["a]", '"', "{[", "\\", "\U0001f600", "line\n", ""]
    for text in (json.dumps(values), json.dumps(values, ensure_ascii=False)):
        for size in (1, 2, 5):
            assert read(str, pieces(text, size)) == (values, None)


def test_a_parser_can_be_kept_for_many_answers() -> None:
    parser = output_parser(list[int])
    for number in range(3):
        assert ItemReader(parser).feed(f"[{number},") == [number]


def test_a_list_that_another_parser_reads_comes_at_the_end() -> None:
    class Csv:
        def parse(self, text: str) -> list[str]:
            return text.split(";")

    reader: ItemReader[str] = ItemReader(Csv())  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    assert (reader.feed("a;"), reader.feed("b"), reader.close()) == ([], [], ["a", "b"])


TYPES: list[Any] = [
    Person, Node, Animal, str, int, float, bool, Decimal, list[int], dict[str, int], Person | Animal,
    int | str, Person | None, str | None, Literal["a", 1, None], Any,
]  # fmt: skip
PARSERS = [list_parser(type_) for type_ in TYPES]


def outcome(parser: Any, parts: list[str]) -> tuple[list[Any], OutputParsingError | None]:
    reader: ItemReader[Any] = ItemReader(parser)
    items: list[Any] = []
    try:
        for part in parts:
            items += reader.feed(part)
        return items + reader.close(), None
    except OutputParsingError as error:
        return items, error


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(PARSERS), ANSWERS, st.data())
def test_no_text_however_chopped_is_read_in_two_ways(parser: Any, text: str, data: st.DataObject) -> None:
    items, error = outcome(parser, data.draw(chopped(text)))
    by_character, same_error = outcome(parser, list(text))
    assert repr(items) == repr(by_character)
    assert str(error) == str(same_error)
    try:
        whole = parser.parse(text)
    except OutputParsingError:
        return
    assert error or repr(items) == repr(whole)


NODES = st.recursive(
    st.builds(Node, value=st.integers()),
    lambda inner: st.builds(Node, value=st.integers(), children=st.lists(inner, max_size=3)),
    max_leaves=5,
)
PEOPLE = st.builds(Person, st.text(st.characters(codec="utf-8")), st.integers())
LISTS: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (str, st.text(st.characters(codec="utf-8"))),
    (Person, PEOPLE),
    (Node, NODES),
    (float, st.floats(allow_nan=False, allow_infinity=False)),
    (Decimal, st.decimals(allow_nan=False, allow_infinity=False)),
    (Animal, st.sampled_from(Animal)),
    (int | str | None, st.none() | st.integers() | st.text(st.characters(codec="utf-8"))),
    (Person | Node, PEOPLE | NODES),
]


@pytest.mark.parametrize(("type_", "values"), LISTS, ids=range(len(LISTS)))
def test_a_rendered_list_gives_its_items_however_it_is_chopped(
    type_: Any, values: st.SearchStrategy[Any]
) -> None:
    parser: Any = list_parser(type_)

    @settings(max_examples=25, deadline=None)
    @given(st.lists(values, max_size=5), st.booleans(), st.data())
    def check(items: list[Any], bare: bool, data: st.DataObject) -> None:
        text = parser.render(items)
        text = text.removeprefix('{"values":').removesuffix("}") if bare else text
        assert outcome(parser, data.draw(chopped(text))) == (items, None)

    check()


def test_each_item_is_validated_once() -> None:
    seen: list[int] = []

    class Counted(BaseModel):
        number: int

        @field_validator("number")
        @classmethod
        def count(cls, value: int) -> int:
            seen.append(value)
            return value

    text = (
        f"Here:\n```json\n{json.dumps([{'number': number} for number in range(50)])}\n```\nThat is {{all}}."
    )
    items, error = read(Counted, pieces(text, 3))
    assert (len(items), error, seen) == (50, None, list(range(50)))


def work(count: int) -> int:
    """Calls for a list of that length, in pieces of four characters."""
    text = json.dumps([{"name": "x" * 20, "age": number} for number in range(1000, 1000 + count)])
    reader: ItemReader[Any] = ItemReader(output_parser(list[Person]))
    reader.feed("")

    def all_pieces() -> None:
        for part in pieces(text, 4):
            reader.feed(part)
        reader.close()

    return calls_of(all_pieces)


def test_twice_the_length_is_twice_the_work() -> None:
    assert 1.8 < work(200) / work(100) < 2.2


def test_a_long_item_is_not_scanned_again_and_again() -> None:
    items: Any = ArrayItems()
    for part in pieces('{"text": "' + "x\\n" * 5_000, 7):
        items.feed(part)
        assert len(items._rest) <= 1
    assert items.feed('"}') == ['{"text": "' + "x\\n" * 5_000 + '"}']


HOSTILE = [
    "[" * 5_000,
    '[{"a":' * 3_000,
    '["' + "\\" * 5_001,
    "[{}" * 3_000,
    "{" * 5_000,
    "[1," * 3_000,
    "```\n" * 2_000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("type_", [Person, str, int, list[int]])
def test_hostile_texts_only_raise_parsing_errors(type_: Any, text: str) -> None:
    items, error = read(type_, pieces(text, 10))
    assert error is not None or items is not None
