"""What holds for any text, any sizes and every splitter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aiservices.rag import (
    Document,
    TextSegment,
    by_line,
    by_sentence,
    by_token,
    by_word,
    code,
    markdown,
    recursive,
)


def python(max_size: int, overlap: int, **options: Any) -> Any:
    return code("python", max_size, overlap, **options)


SPLITTERS = [recursive, by_sentence, by_line, by_word, by_token, markdown, python]
COUNTERS: list[Callable[[str], int]] = [
    len,
    lambda text: len(text.encode()),
    lambda text: len(text.split()),
    lambda text: 3 * text.count("🚀") + len(text.replace("🚀", "")),
    lambda text: 3 * len(text),  # more than bytes
]
PIECES = [
    "ab",
    "Cd",
    ". ",
    "! ",
    " ",
    "\n",
    "\r",
    "\r\n",
    "\n\n",
    "\t",
    "🚀",
    "é",
    "\u0301",
    "\u200d",
    "보험",
]
MARKS = [
    "\u2029",
    "\xa0",
    "\x1c",
    "\x85",
    "# ",
    "- ",
    "> ",
    "`",
    "```\n",
    "[a](b)",
    "|",
    "def f():\n",
    "@x\n",
    "    ",
]
texts = st.lists(
    st.sampled_from(PIECES + MARKS) | st.characters() | st.characters(categories=["Cs"]), max_size=40
).map("".join)
sizes = st.integers(1, 40).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size - 1)))


@pytest.mark.parametrize("make", SPLITTERS)
@given(text=texts, size=sizes, counter=st.sampled_from(COUNTERS))
@example(text="a" * 30, size=(10, 0), counter=len)
@example(text="보험" * 50, size=(2, 1), counter=COUNTERS[1])
@example(text="\ud800\udc00 \udfff", size=(1, 0), counter=len)
@example(text="aaaa bbbb", size=(10, 8), counter=COUNTERS[4])
@example(text="a\n\taaaaaaaaa\na", size=(11, 9), counter=len)
@example(text=" \xa0# aaaaaa```\naaaaaaaa# \r\na---\na\r\na```\n", size=(37, 8), counter=len)
@example(text=" \n" * 300 + "a b", size=(2, 1), counter=len)
@example(
    text="b c\x1c\x1c \x1c  \x1c\x1c\n\x1c\x1c", size=(8, 1), counter=len
)  # white space for Python alone
def test_splitting_ends_loses_nothing_and_keeps_to_the_size(
    make: Any, text: str, size: tuple[int, int], counter: Callable[[str], int]
) -> None:
    """RAG-03, RAG-05, RAG-08"""
    segments = make(*size, counter=counter).split(Document(text))
    assert_offsets_are_true(text, segments)
    assert_covered(text, segments)
    for segment in segments:
        fits = counter(segment.text.encode("utf-8", "replace").decode()) <= size[0]
        assert fits or is_one_character(segment.text), f"{segment.text!r} is too large"


def assert_offsets_are_true(text: str, segments: Sequence[TextSegment]) -> None:
    starts = [segment.start for segment in segments]
    assert starts == sorted(set(starts))  # type: ignore[type-var]
    ends = [segment.end for segment in segments]
    assert ends == sorted(set(ends)), "a segment within the one before says nothing new"  # type: ignore[type-var]
    for index, segment in enumerate(segments):
        assert text[segment.start : segment.end] == segment.text
        assert segment.metadata == {"index": index}
        assert segment.text.strip()


def assert_covered(text: str, segments: Sequence[TextSegment]) -> None:
    covered: set[int] = set()
    for segment in segments:
        assert segment.start is not None
        assert segment.end is not None
        covered.update(range(segment.start, segment.end))
    assert all(place in covered or letter.isspace() for place, letter in enumerate(text))


def is_one_character(text: str) -> bool:
    return len(text.strip()) == 1


@pytest.mark.parametrize("make", SPLITTERS)
@given(text=texts, size=sizes)
@example(text="ababdef f():\nab", size=(9, 1))
def test_what_two_segments_share_is_at_most_the_overlap(make: Any, text: str, size: tuple[int, int]) -> None:
    segments = make(*size, counter=len).split(Document(text))
    for former, latter in pairwise(segments):
        assert former.end - latter.start <= size[1]


@pytest.mark.parametrize("make", SPLITTERS)
@given(text=texts)
def test_a_text_that_fits_is_one_segment(make: Any, text: str) -> None:
    segments = make(10_000, 0, counter=len).split(Document(text))
    assert len(segments) == bool(text.strip())
