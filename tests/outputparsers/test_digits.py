"""Numbers keep the digits they were written with, wherever a type says that these matter."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from outputparsers import OutputParsingError, output_parser


@dataclass
class Bill:
    amount: Decimal
    rate: float = 0.0
    count: int = 0
    extra: Any = None
    other: Decimal | str | None = None


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (Bill, '{"amount": 1234567890.123456789}', Bill(Decimal("1234567890.123456789"))),
        (Bill, '{"amount": "1234567890.123456789"}', Bill(Decimal("1234567890.123456789"))),
        (Bill, '{"value": {"amount": 0.12345678901234567891}}', Bill(Decimal("0.12345678901234567891"))),
        (Bill, '"{\\"amount\\": 1234567890.123456789}"', Bill(Decimal("1234567890.123456789"))),
        (Bill, 'Sure: ```json\n{"amount": 1e-400}\n```', Bill(Decimal("1e-400"))),
        (Bill, '{"amount": 1, "rate": 0.10000000000000000555}', Bill(Decimal(1), rate=0.1)),
        (
            Bill,
            '{"amount": 1, "other": 0.10000000000000000001}',
            Bill(Decimal(1), other=Decimal("0.10000000000000000001")),
        ),
        (
            Bill,
            '{"amount": 1, "other": "0.10000000000000000001"}',
            Bill(Decimal(1), other="0.10000000000000000001"),
        ),
        (Bill, '{"amount": 1, "count": 9007199254740993.0}', Bill(Decimal(1), count=9007199254740993)),
        (int, "9007199254740993", 9007199254740993),
        (int, '{"value": 9007199254740993.0}', 9007199254740993),
        (int, '{"value": 1e20}', 10**20),
        (int, '{"value": 42.0}', 42),
        (Decimal, '{"value": 0.12345678901234567891}', Decimal("0.12345678901234567891")),
        (list[Decimal], "[0.1, 99999999999999999999.5]", [Decimal("0.1"), Decimal("99999999999999999999.5")]),
    ],
)
def test_decimals_and_whole_numbers_are_exact(kind: Any, text: str, value: Any) -> None:
    assert output_parser(kind).parse(text) == value


def test_numbers_that_become_the_same_float_are_told_apart() -> None:
    written = ["0.12345678901234567891", "0.12345678901234567892", "0.12345678901234568"]
    text = f'{{"values": [{", ".join(written)}]}}'
    assert output_parser(list[Decimal]).parse(text) == [Decimal(number) for number in written]


def test_the_limits_of_a_decimal_count_for_what_was_written() -> None:
    parser = output_parser(Annotated[Decimal, Field(le=Decimal("0.1"))])
    with pytest.raises(OutputParsingError, match=r"less than or equal to 0\.1"):
        parser.parse('{"value": 0.10000000000000000001}')


@pytest.mark.parametrize("text", ['{"value": 12345678901234567.5}', '{"value": 1e400}', '{"value": 1.5}'])
def test_a_number_that_is_not_whole_is_no_int(text: str) -> None:
    with pytest.raises(OutputParsingError, match="value: "):
        output_parser(int).parse(text)


@pytest.mark.parametrize("text", ['{"amount": 1e400}', '{"amount": -1e400, "rate": 1}', '{"amount": NaN}'])
def test_a_number_beyond_all_floats_is_refused_and_not_guessed(text: str) -> None:
    with pytest.raises(OutputParsingError):
        output_parser(Bill).parse(text)


@given(
    st.lists(
        st.decimals(allow_nan=False, allow_infinity=False, places=25, max_value=10**9, min_value=-(10**9))
    )
)
def test_any_decimals_come_back_as_they_were_written(numbers: list[Decimal]) -> None:
    text = f'{{"values": [{", ".join(format(number, "f") for number in numbers)}]}}'
    assert output_parser(list[Decimal]).parse(text) == numbers


@given(st.floats(allow_nan=False, allow_infinity=False), st.text())
def test_floats_and_texts_beside_decimals_stay_as_they_are(number: float, text: str) -> None:
    answer = json.dumps({"amount": 1, "rate": number, "other": text, "extra": [number, text]})
    assert output_parser(Bill).parse(answer) == Bill(Decimal(1), number, 0, [number, text], text)
