"""Answers for dates, times, durations and UUIDs: rows 63 to 72."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from uuid import UUID

import pytest
from pydantic import BaseModel

from outputparsers import OutputParsingError, output_parser


@pytest.mark.parametrize(
    ("type_", "text", "value"),
    [
        (date, "2024-01-15", date(2024, 1, 15)),
        (date, "  2020-01-12 ", date(2020, 1, 12)),
        (date, '{"value": "2020-01-12"}', date(2020, 1, 12)),
        (date, '"2020-01-12"', date(2020, 1, 12)),
        (time, "12:34:56", time(12, 34, 56)),
        (time, " 12:34:56 ", time(12, 34, 56)),
        (time, "12:34:56.789", time(12, 34, 56, 789000)),
        (datetime, "2020-01-12T12:34:56", datetime(2020, 1, 12, 12, 34, 56)),
        (datetime, "  2020-01-12T12:34:56\n", datetime(2020, 1, 12, 12, 34, 56)),
        (datetime, "2020-01-12T12:34:56Z", datetime(2020, 1, 12, 12, 34, 56, tzinfo=UTC)),
        (timedelta, "PT1H30M", timedelta(hours=1, minutes=30)),
        (UUID, "123e4567-e89b-12d3-a456-426614174000", UUID("123e4567-e89b-12d3-a456-426614174000")),
    ],
)
def test_iso_spellings_are_read(type_: Any, text: str, value: object) -> None:
    assert output_parser(type_).parse(text) == value


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        *(
            (date, text)
            for text in ("15-01-2024", "01-15-2024", "2024/01/15", "20240115", "not-a-date", "2024-1-5")
        ),
        *(
            (date, text)
            for text in ("", "01-12-2020", "red", "2024-02-30", "1700006400", '{"value": 1700006400}')
        ),
        *((time, text) for text in ("red", "3600", "25:00:00")),
        *(
            (datetime, text)
            for text in ("01-12-2020T12:34:56", "2024", "20240115", '{"value": 20240115}', "red")
        ),
        *((UUID, text) for text in ("red", "123e4567")),
    ],
)
def test_other_spellings_are_parsing_errors_with_their_cause(type_: Any, text: str) -> None:
    """Bare numbers are refused: read as seconds since 1970 they would be wrong dates without a word."""
    with pytest.raises(OutputParsingError, match="Failed to parse") as caught:
        output_parser(type_).parse(text)
    assert caught.value.__cause__ is not None


def test_no_answer_at_all_has_no_cause() -> None:
    with pytest.raises(OutputParsingError) as caught:
        output_parser(date).parse(None)
    assert caught.value.__cause__ is None


class Event(BaseModel):
    """A date inside an object."""

    on: date
    at: datetime | None = None


def test_dates_inside_objects_follow_the_same_rules() -> None:
    parser = output_parser(Event)
    assert parser.parse('{"on": "2024-01-15"}') == Event(on=date(2024, 1, 15))
    with pytest.raises(OutputParsingError, match=r"on: .*got 1700006400"):
        parser.parse('{"on": 1700006400}')
    with pytest.raises(OutputParsingError, match=r'at: .*got "2024"'):
        parser.parse('{"on": "2024-01-15", "at": "2024"}')
