"""Answers for bool, int, float and Decimal: rows 1 to 62 of the fact sheet, and PAR-18."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from outputparsers import OutputParsingError, output_parser

Byte = Annotated[int, Field(ge=-128, le=127)]
Short = Annotated[int, Field(ge=-32768, le=32767)]

VALUES: list[tuple[Any, str, object]] = [
    (bool, "true", True),
    (bool, "false", False),
    (bool, "TRUE", True),
    (bool, "False", False),
    (bool, "    true    ", True),
    (bool, '{"value": true}', True),
    (bool, '{"value": "TRUE"}', True),
    (bool, '{"value": false}', False),
    (bool, '  {"value": "False"}  ', False),
    (int, "42", 42),
    (int, "   42   ", 42),
    (int, " 42\n", 42),
    (int, "-5", -5),
    (int, "0", 0),
    (int, "123.0", 123),
    (int, "42.0", 42),
    (int, "2147483647", 2147483647),
    (int, "-2147483648", -2147483648),
    (int, '{"value": 123}', 123),
    (int, '{"value": "-7"}', -7),
    (int, '   {"value": 77}   ', 77),
    (int, '{"value":"1e3"}', 1000),
    (int, '{"value":"1.50e2"}', 150),
    (int, "1e3", 1000),
    (int, '"42"', 42),
    (int, "```\n42\n```", 42),
    (int, 'The answer is {"value": 42}.', 42),
    (Byte, "12.0", 12),
    (Short, "123.0", 123),
    (int, "123456789012345678901234567890", 123456789012345678901234567890),
    (int, '{"value": "123456789012345678901234567890"}', 123456789012345678901234567890),
    (float, "3.14", 3.14),
    (float, "   3.14   ", 3.14),
    (float, "-2.718", -2.718),
    (float, "42", 42.0),
    (float, "1e3", 1000.0),
    (float, '{"value": 1.23}', 1.23),
    (float, '{"value": "-4.56"}', -4.56),
    (float, '{"value": "42"}', 42.0),
    (Decimal, "   3.14   ", Decimal("3.14")),
    (Decimal, "1e3", Decimal(1000)),
    (Decimal, '{"value": "-2.5"}', Decimal("-2.5")),
    (Decimal, "0.12345678901234567890123", Decimal("0.12345678901234567890123")),
]

REFUSED: list[tuple[Any, str | None]] = [
    *((bool, text) for text in (None, "", " ", "{}", '{"value": null}', '{"value": ""}', "banana")),
    *((bool, text) for text in ("Answer: true", "Sorry, I cannot answer", '{"value": "banana"}')),
    (bool, '{"banana": true}'),
    *((int, text) for text in (None, "", "  ", "{}", '{"value": null}', '{"value": ""}')),
    *((int, text) for text in ('{"value":"xyz"}', '{"value": 3.14}', '{"foo":"2.71"}', "abc", "42abc")),
    *((int, text) for text in ("4.5", "-3.1", '{"value": 1', "{oops}", "{", "1,234", "42 apples", "\u22125")),
    *((int, text) for text in ("true", '{"value": true}', '{"value":"1.5e0"}', '{"value":"1e999"')),
    *((Byte, text) for text in ("128", "-129", '{"value": 1.5}', "1.5")),
    *((Short, text) for text in ("32768", "-32769")),
    *((int, text) for text in ("1.5", '{"value":"xyz"}', "42abc")),
    *((float, text) for text in ("abc", "4.5.6", "123,4", '{"value": "4.5.6"}', "true")),
    *((float, text) for text in ("1e309", "-1e309", "NaN", "Infinity", "-Infinity", "inf", '{"value": NaN}')),
    *((float, text) for text in ('{"value": "inf"}', '{"value": "NaN"}', '{"value": 1e309}')),
    *((Decimal, text) for text in ("1.2.3", "3.14.15", "42abc", "NaN", "Infinity", '{"value": "NaN"}')),
]


@pytest.mark.parametrize(("type_", "text", "value"), VALUES)
def test_an_answer_is_read_as_the_value_it_means(type_: Any, text: str, value: object) -> None:
    parsed = output_parser(type_).parse(text)
    assert parsed == value
    assert type(parsed) is type(value)


@pytest.mark.parametrize(("type_", "text"), REFUSED)
def test_an_answer_that_means_no_value_is_refused_by_name(type_: Any, text: str | None) -> None:
    """Row 54 (1e309 as infinity) is refused: non-finite numbers are no answers. Row 48 (42.0 for a big
    integer) is accepted: Python has one int. Rows 37 and 41 (32 and 64 bit limits) do not apply, hence."""
    parser = output_parser(type_)
    with pytest.raises(OutputParsingError, match="Failed to parse") as caught:
        parser.parse(text)
    assert caught.value.expected in str(caught.value)
    assert caught.value.text == text
    assert caught.value.problems


def test_whole_numbers_are_not_limited_to_32_or_64_bits() -> None:
    assert output_parser(int).parse("2147483648") == 2147483648
    assert output_parser(int).parse("92233720368547758070") == 92233720368547758070


class Score(BaseModel):
    """A number inside an object."""

    v: float
    n: str = ""
    more: dict[str, Any] = {}


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e309", '"inf"', '"nan"', "true"])
def test_numbers_inside_objects_are_finite(number: str) -> None:
    """A literal NaN makes the answer no JSON; what turns out not to be finite is a problem of the field."""
    with pytest.raises(OutputParsingError, match=r"v: |no valid JSON"):
        output_parser(Score).parse(f'{{"v": {number}, "n": "a"}}')


@pytest.mark.parametrize("number", ["NaN", "1e309", "[[1, -1e400]]", '{"deep": Infinity}'])
def test_free_form_parts_are_finite_too(number: str) -> None:
    with pytest.raises(OutputParsingError):
        output_parser(Score).parse(f'{{"v": 1, "more": {{"x": {number}}}}}')


def test_words_like_nan_inside_texts_are_harmless() -> None:
    assert output_parser(Score).parse('{"v": 1, "n": "NaN and Infinity"}').n == "NaN and Infinity"
