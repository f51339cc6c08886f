"""Answers for enums and literals: rows 73 to 83, PAR-18, PAR-20, PAR-30 and the wire values of TPL-14."""

from __future__ import annotations

from enum import Enum, IntEnum, StrEnum
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from outputparsers import OutputParsingError, output_parser


class Animal(Enum):
    CAT = "CAT"
    DOG = "DOG"
    BIRD = "BIRD"


class Colour(str, Enum):  # noqa: UP042 - how people wrote it before StrEnum
    RED = "red"
    GREEN = "grün"


class Priority(IntEnum):
    LOW = 1
    HIGH = 2


class Place(Enum):
    """Values that are no plain words: names travel instead."""

    HOME = (1, 2)
    WORK = (3, 4)


class Shown(Enum):
    A = 1.5
    B = 2.5

    def __str__(self) -> str:
        return f"[{self.name}]"


class ByCase(Enum):
    lower = "x"
    LOWER = "y"


class Crossed(Enum):
    A = "b"
    B = "c"


class Grade(StrEnum):
    GOOD = "good"
    BAD = "bad"
    AWFUL = "bad"


class Model9(Enum):
    NOTE_9 = "NOTE 9"


READ: list[tuple[Any, str, object]] = [
    *((Animal, text, Animal.CAT) for text in ("CAT", "cat", "Cat", " CAT ", "[CAT]", "  [ CAT ]  ", "CAT.")),
    *(
        (Animal, text, Animal.CAT)
        for text in ('{"value":"CAT"}', ' {"value": "CAT"} ', '  {"value":["CAT"]}  ')
    ),
    *((Animal, text, Animal.CAT) for text in ('"CAT"', '["cat"]', "```\ncat\n```")),
    *((Colour, text, Colour.RED) for text in ("red", "RED", "Red", '{"value": "RED"}')),
    (Colour, "GRÜN", Colour.GREEN),
    (Colour, "green", Colour.GREEN),
    *(
        (Priority, text, Priority.HIGH)
        for text in ("2", "HIGH", "high", '{"value": 2}', '{"value": "2"}', "2.0")
    ),
    *((Place, text, Place.WORK) for text in ("WORK", "work", '{"value": "WORK"}')),
    *((Shown, text, Shown.A) for text in ("A", "a")),
    (ByCase, "lower", ByCase.lower),
    (ByCase, "LOWER", ByCase.LOWER),
    (Crossed, "b", Crossed.A),
    (Crossed, "A", Crossed.A),
    (Grade, "awful", Grade.BAD),
    *((Literal["yes", "no"], text, "yes") for text in ("Yes", " YES.\n", '"yes"', "yes", "yes!")),
    *((Literal[1, 2, 3, 4, 5], text, 3) for text in ("3", '"3"', '{"value": 3}', '{"value": "3"}', "3.0")),
    *((Animal, text, Animal.CAT) for text in ("**cat**", "`CAT`", "_cat_.", "*Cat.*", "'cat'")),
    (Literal["_a_", "a"], "_a_", "_a_"),
    (Literal["*", "**"], "**", "**"),
    *((bool, text, True) for text in ("Yes.", "**true**", '{"value": "TRUE!"}')),
    *((bool | None, text, False) for text in ("no.", "`False`")),
    (Literal["a", "A"], "A", "A"),
    (Literal["a", "A"], "a", "a"),
    (Literal["1", "2"], "1", "1"),
    (Literal[True, "maybe"], "true", True),
    (Model9 | None, "null", None),
    (Model9 | None, "note 9", Model9.NOTE_9),
    (Literal["x", None], "null", None),
]

REFUSED: list[tuple[Any, str | None]] = [
    *((Animal, text) for text in (None, "", " ", "{}", '{"value": null}', '{"value": ""}', "BANANA")),
    *((Animal, text) for text in ('{"value":"BANANA"}', '{"value":1}', '["CAT", "DOG"]', "CAT or DOG", "CA")),
    *((Animal, text) for text in ("**cat** or dog", "**", "*cat", "**cat*dog**")),
    *((bool, text) for text in ("yes, it is", "maybe.", ".", "**")),
    *((Literal["yes", "no"], text) for text in ("yes, it is grounded", "yes/no", "nope", "n", "", "yes no")),
    (Literal["yes", "YES"], "Yes"),
    (ByCase, "Lower"),
    (Crossed, "B"),
    (Literal[1, 2, 3, 4, 5], "6"),
    (Literal[1, 2], "true"),
    (Priority, "true"),
    (Priority, "1.5"),
    (Model9 | None, "Note 9 Pro"),
    (Model9 | None, "Note"),
]


@pytest.mark.parametrize(("type_", "text", "value"), READ)
def test_values_and_names_are_read_in_any_case(type_: Any, text: str, value: object) -> None:
    parsed = output_parser(type_).parse(text)
    assert parsed == value
    assert type(parsed) is type(value)


@pytest.mark.parametrize(("type_", "text"), REFUSED)
def test_nothing_is_matched_in_part_or_when_two_members_could_be_meant(type_: Any, text: str | None) -> None:
    with pytest.raises(OutputParsingError, match="Failed to parse"):
        output_parser(type_).parse(text)


@pytest.mark.parametrize(
    ("type_", "labels", "wire"),
    [
        (bool, ("true", "false"), None),
        (Colour, ("red", "grün"), ["red", "grün"]),
        (Priority, ("1", "2"), [1, 2]),
        (Place, ("HOME", "WORK"), ["HOME", "WORK"]),
        (Shown, ("A", "B"), ["A", "B"]),
        (Grade, ("good", "bad"), ["good", "bad"]),
        (Literal["yes", "no"], ("yes", "no"), ["yes", "no"]),
        (Literal[1, 2], ("1", "2"), [1, 2]),
        (Literal[Colour.RED], ("red",), ["red"]),
    ],
)
def test_labels_are_the_wire_values_in_the_order_of_the_schema(
    type_: Any, labels: tuple[str, ...], wire: list[object] | None
) -> None:
    """Row 83: names travel where values are not plain, whatever `str()` shows; plain ones do themselves."""
    parser = output_parser(type_)
    schema = parser.json_schema()
    assert schema is not None
    assert parser.labels == labels
    assert schema["properties"]["value"].get("enum") == wire
    for label in labels:
        assert parser.label_of(parser.parse(label)) == label


def test_open_types_have_no_labels() -> None:
    assert output_parser(int).labels is None
    assert output_parser(str).labels is None
    assert output_parser(int).label_of(3) is None
    assert output_parser(Colour).label_of("red") is None
    assert output_parser(bool).label_of(1) is None


class Graded(BaseModel):
    """A yes/no grader (PAR-30)."""

    binary_score: Literal["yes", "no"]
    p: float = Field(ge=0, le=1)
    place: Place = Place.HOME


def test_choices_inside_objects_follow_the_rules_of_bare_ones() -> None:
    parser = output_parser(Graded)
    assert parser.parse('{"binary_score":"Yes","p":1.0}') == Graded(binary_score="yes", p=1.0)
    assert parser.parse('{"binary_score":"NO.","p":0,"place":"work"}').place is Place.WORK
    with pytest.raises(OutputParsingError, match=r"p: .*less than or equal to 1, got 1.2"):
        parser.parse('{"binary_score":"no","p":1.2}')
    with pytest.raises(OutputParsingError, match="binary_score: Input should be 'yes' or 'no', got \"nope\""):
        parser.parse('{"binary_score":"nope","p":1}')
    with pytest.raises(OutputParsingError, match="place: Input should be 'HOME' or 'WORK', got \"gym\""):
        parser.parse('{"binary_score":"no","p":1,"place":"gym"}')


def test_a_name_is_read_as_a_key_of_a_map() -> None:
    assert output_parser(dict[Colour, int]).parse('{"RED": 2, "grün": 3}') == {Colour.RED: 2, Colour.GREEN: 3}
    assert output_parser(dict[Priority, str]).parse('{"1": "a", "high": "b"}') == {
        Priority.LOW: "a",
        Priority.HIGH: "b",
    }
