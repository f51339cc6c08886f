"""What the model is told of a value or a failure, and how much of it."""

from __future__ import annotations

import datetime as dt
import json
import threading
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from aiservices import ToolError
from aiservices.messages import Content, ImageContent, TextContent, ToolCall
from aiservices.tools import Limits, ToolOutcome, tool
from aiservices.tools.outcomes import error_outcome, outcome_of, shortened
from tests.tools.given import results

CALL = ToolCall("c1", "book", "{}")
IMAGE = ImageContent(data=b"\x89PNG", media_type="image/png")


class Word(str, Enum):  # noqa: UP042 - how people wrote it before StrEnum
    YES = "yes"


class NewWord(StrEnum):
    YES = "yes"


class Number(IntEnum):
    ONE = 1


@dataclass
class Booking:
    city: str
    price: Decimal


class Trip(BaseModel):
    days: int


class BrokenError(Exception):
    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),  # rows 317 and 319: a function without a value says so
        ("as is", "as is"),  # row 318
        ("", ""),
        ('{"a": 1}', '{"a": 1}'),
        (3, "3"),  # row 320
        (True, "true"),
        (Booking("PAR", Decimal("1.50")), '{"city":"PAR","price":"1.50"}'),  # row 321
        (Trip(days=3), '{"days":3}'),
        ([Trip(days=3)], '[{"days":3}]'),
        ({"größe": [1, None]}, '{"größe":[1,null]}'),
        ({1, 2}, "[1,2]"),
        ((), "[]"),
        ([], "[]"),
        (dt.date(2024, 2, 29), '"2024-02-29"'),
        (float("nan"), '"NaN"'),
        (Word.YES, "yes"),
        (NewWord.YES, "yes"),
        (Number.ONE, "1"),
        ("ok \ud83d end", "ok \ufffd end"),  # TOOL-34
        ("😀 日本", "😀 日本"),
        ({"a": "\ud83d"}, '{"a":"\ufffd"}'),
        (["\udcaf", Decimal("1.5")], '["\ufffd","1.5"]'),
    ],
)
def test_a_value_is_told_as_text_or_compact_json(value: object, text: str) -> None:
    outcome = outcome_of(value)
    assert (outcome.text, outcome.is_error) == (text, False)
    assert outcome.value is value
    assert all(type(content) is TextContent and type(content.text) is str for content in outcome.contents)
    outcome.text.encode()


@pytest.mark.parametrize(
    ("value", "contents"),
    [
        (IMAGE, (IMAGE,)),
        (TextContent("x"), (TextContent("x"),)),
        ([TextContent("x"), IMAGE], (TextContent("x"), IMAGE)),
        ((IMAGE,), (IMAGE,)),
    ],
)
def test_contents_are_told_as_contents(value: object, contents: tuple[Content, ...]) -> None:
    """Row 322."""
    assert outcome_of(value).contents == contents
    assert outcome_of(value).value is value


def test_an_outcome_is_passed_on_as_it_is() -> None:
    outcome = ToolOutcome([TextContent("a"), IMAGE], is_error=True, value=3, attributes={"found": ["x"]})
    assert outcome_of(outcome) is outcome
    assert outcome.contents == (TextContent("a"), IMAGE)
    assert outcome.text == "a"


@pytest.mark.parametrize(
    "make", [threading.Lock, object, lambda: {"a": object()}, lambda: b"\xff", lambda: Word]
)
def test_a_value_that_json_cannot_hold_is_told_by_type(make: Any) -> None:
    value = make()
    with pytest.raises(
        TypeError, match=f"the tool returned a {type(value).__name__}, which JSON cannot hold"
    ):
        outcome_of(value)


def test_a_value_without_an_end_is_an_error_and_not_a_crash() -> None:
    endless: list[Any] = []
    endless.append(endless)
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    for value in (endless, deep):
        with pytest.raises(TypeError, match="which JSON cannot hold"):
            outcome_of(value)


def test_a_failure_is_told_as_type_and_message() -> None:
    """Rows 323 and 324; only `ToolError` is told word for word."""
    outcome = error_outcome(ValueError("größer\ud83d"), CALL)
    assert outcome.is_error
    assert outcome.text.startswith("TOOL_ERROR: ")
    assert json.loads(outcome.text.removeprefix("TOOL_ERROR: ")) == {
        "error_type": "ValueError",
        "error": "größer\ufffd",
        "tool": "book",
        "call_id": "c1",
    }
    assert '"error": ""' in error_outcome(ValueError("secret"), CALL, with_message=False).text
    assert error_outcome(ToolError("No seats."), CALL).text == "No seats."
    assert error_outcome(ToolError(), CALL).text == "ToolError"
    assert '"error_type": "BrokenError", "error": ""' in error_outcome(BrokenError(), CALL).text


def test_a_long_text_keeps_head_and_tail_and_says_how_much_is_missing() -> None:
    """TOOL-42."""
    (cut,) = shortened((TextContent("A" * 2_000_000 + "TAIL"),), 1000)
    assert isinstance(cut, TextContent)
    assert len(cut.text) <= 1000
    assert cut.text.startswith("AAA")
    assert cut.text.endswith("TAIL")
    left_out = int(cut.text.split("[... ")[1].split(" characters left out ...]")[0])
    assert left_out + len(cut.text.replace(f"\n[... {left_out} characters left out ...]\n", "")) == 2_000_004


def test_several_texts_share_the_limit_and_images_are_not_counted() -> None:
    contents = (TextContent("a" * 3000), IMAGE, TextContent("b" * 1000), TextContent("c"))
    cut = shortened(contents, 1000)
    texts = [content.text for content in cut if isinstance(content, TextContent)]
    assert sum(map(len, texts)) <= 1000
    assert IMAGE in cut
    assert [text[0] for text in texts] == ["a", "b"]
    assert shortened(contents, 5000) is contents


@given(
    st.lists(st.text(min_size=1) | st.integers(0, 3000).map("x".__mul__), max_size=4), st.integers(0, 2000)
)
def test_shortened_texts_never_exceed_the_limit_and_keep_head_and_tail(texts: list[str], limit: int) -> None:
    contents = tuple(map(TextContent, texts))
    cut = shortened(contents, limit)
    kept = [content.text for content in cut if isinstance(content, TextContent)]
    assert sum(map(len, kept)) <= limit or cut is contents
    if sum(map(len, texts)) <= limit:
        assert cut is contents
    if len(texts) == 1 and 200 <= limit < len(texts[0]):
        assert kept[0][:50] == texts[0][:50]
        assert kept[0][-20:] == texts[0][-20:]
        assert "characters left out" in kept[0]


def test_the_program_sees_the_whole_value_and_the_model_a_part_of_it(invoke: Any) -> None:
    @tool
    def big() -> str:
        return "A" * 60_000 + "TAIL"

    (default,) = results(invoke, [big], ToolCall("c1", "big", "{}"))
    assert len(default.text) <= 50_000
    assert default.text.endswith("TAIL")
    (unlimited,) = results(
        invoke, [big], ToolCall("c1", "big", "{}"), limits=Limits(max_tool_result_chars=None)
    )
    assert len(unlimited.text) == 60_004
