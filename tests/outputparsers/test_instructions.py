"""Instructions for models that take no schema: rows 159 to 174, SCH-02, SCH-12, SCH-28."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import pytest
from pydantic import BaseModel, Field

from outputparsers import output_parser


class Weather(Enum):
    SUNNY = "SUNNY"
    CLOUDY = "CLOUDY"


class Described(Enum):
    A = "A"
    B = "B"

    @property
    def label(self) -> str:
        return self.value


Described.A.description = "first letter"  # type: ignore[attr-defined]


class Status(Enum):
    OPEN = "OPEN"
    CLOSED = "CLOSED"


@dataclass
class Address:
    street: str
    city: str


@dataclass
class Person:
    firstName: str  # noqa: N815 - what the fact sheet calls it
    born: date
    tags: list[str]
    weather: Weather
    states: list[Status]
    address: Address
    K: ClassVar[int] = 9


class Noted(BaseModel):
    """A record with remarks."""

    amount: Annotated[Decimal, Field(ge=0, description="in euros")]
    note: str | None = None
    sizes: dict[str, int] = {}


@dataclass
class Node:
    value: int
    children: list[Node]


@dataclass
class FileInfo:
    name: str
    content: str


class Pair(NamedTuple):
    left: int
    right: str


CONTAINED: list[tuple[Any, list[str]]] = [
    (bool, ["one of [true, false]"]),
    (int, ["integer number"]),
    (Annotated[int, Field(ge=-128, le=127)], ["integer number in range [-128, 127]"]),
    (Annotated[int, Field(ge=-32768, le=32767)], ["integer number in range [-32768, 32767]"]),
    (float, ["floating point number"]),
    (Decimal, ["floating point number"]),
    (date, ["yyyy-MM-dd"]),
    (time, ["HH:mm:ss"]),
    (datetime, ["yyyy-MM-ddTHH:mm:ss"]),
    (Weather, ["\nSUNNY\nCLOUDY"]),
    (Described, ["\nA - first letter\nB"]),
    (Literal["yes", "no"], ["\nyes\nno"]),
    (Person, ['"firstName": (type: string)', "(type: date string", "2023-12-31"]),
    (Person, ['"tags": (type: array of string)']),
    (Person, ['"weather": (type: enum, must be one of [SUNNY, CLOUDY])']),
    (Person, ['"states": (type: array of enum, must be one of [OPEN, CLOSED])']),
    (Person, ['"address": (type: Address: {', '"street": (type: string)']),
    (Person, ["JSON"]),
    (Noted, ['"amount": (in euros; type: floating point number, at least 0']),
    (Noted, ['"note": (type: string or null; may be left out)']),
    (Noted, ["JSON object; type of its values: integer number"]),
    (list[FileInfo], ["JSON", '"name": (type: string)', '"content": (type: string)', '"values"']),
    (list[str], ["JSON", '"values"', "string"]),
    (set[Weather], ["JSON", "[SUNNY, CLOUDY]", "Do not repeat"]),
    (dict[str, int], ["JSON", "integer number"]),
    (tuple[int, str], ["JSON", "array of exactly [integer number, string]"]),
    (Pair, ["JSON", '"left": (type: integer number)', '"right": (type: string)']),
    (FileInfo | Address, ["JSON", '{"value": ...}', '"content"', '"street"']),
    (Weather | None, ["one of [SUNNY, CLOUDY] or null"]),
    (int | FileInfo, ["JSON", "integer number", '"content"']),
]


@pytest.mark.parametrize(("type_", "fragments"), CONTAINED)
def test_instructions_name_fields_types_and_choices(type_: Any, fragments: list[str]) -> None:
    """Row 174: a list of objects has instructions like any other type."""
    instructions = output_parser(type_).format_instructions()
    for fragment in fragments:
        assert fragment in instructions


@pytest.mark.parametrize(
    "type_", [Person, Node, list[FileInfo], list[Weather], FileInfo | Address, dict[str, Node]]
)
def test_instructions_hold_no_python_names(type_: Any) -> None:
    instructions = output_parser(type_).format_instructions()
    for leak in (
        "__main__",
        "test_instructions",
        "$defs",
        "$ref",
        "<class",
        "x-",
        "ClassVar",
        "firstname",
        '"K"',
    ):
        assert leak not in instructions


def test_instructions_begin_on_a_line_of_their_own() -> None:
    assert output_parser(int).format_instructions().startswith("\n")


def test_a_recursive_type_is_explained_once() -> None:
    instructions = output_parser(Node).format_instructions()
    assert '"children": (type: array of Node)' in instructions
    assert instructions.count("Node is {") == 1


def test_plain_text_needs_no_instructions() -> None:
    assert output_parser(str).format_instructions() == ""
