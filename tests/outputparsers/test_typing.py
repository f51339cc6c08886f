"""What type checkers infer; run for the values, read by mypy and pyright for the types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, assert_type

from pydantic import Field

from outputparsers import ItemReader, OutputParser, PartialReader, item_reader, output_parser, partial_reader


@dataclass
class Person:
    name: str


def test_the_type_of_a_value_is_the_type_that_was_asked_for() -> None:
    assert_type(output_parser(int), OutputParser[int])
    assert_type(output_parser(str).parse("x"), str)
    assert_type(output_parser(Person).parse('{"name":"A"}'), Person)
    assert_type(output_parser(list[Person]).parse("[]"), list[Person])
    assert_type(output_parser(Person | None).parse("null"), Person | None)
    assert_type(output_parser(int | str).parse("x"), int | str)
    assert_type(output_parser(Literal["a", "b"]).parse("a"), Literal["a", "b"])
    assert_type(output_parser(Annotated[int, Field(ge=0)]).parse("3"), int)
    assert_type(output_parser(dict[str, Any]).parse("{}"), dict[str, Any])
    assert_type(output_parser(bool).labels, tuple[str, ...] | None)


def test_items_are_of_the_type_that_was_asked_for() -> None:
    assert_type(item_reader(Person), ItemReader[Person])
    assert_type(item_reader(int | None).feed("[1,"), list[int | None])
    assert_type(ItemReader(output_parser(list[Person])).feed("["), list[Person])
    assert_type(partial_reader(output_parser(Person)), PartialReader[Person])
