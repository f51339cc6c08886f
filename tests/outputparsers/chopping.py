"""Texts in pieces, as answers arrive; and what work costs, counted in calls, not in time."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType

from hypothesis import strategies as st

MARKS = [
    '{"values": ', '{"value": ', "[", "]", "{", "}", '"', ",", ":", "\n", "```\n", "```json\n", "~~~\n",
    "CAT", "1", "-3", "1e3", "null", "true", "NaN", "x", "é", " ", "\r\n", "\u2028", "\ufeff", "Here:",
    "Here: ", '["CAT"]', "[CAT]", "[1, 2]", "[1]", '["a", "b"]', '[{"name": "x"}]',
    '{"name": "x, ]", "age": 2}', '{"values": [1, 2]}', '{"values": ["CAT"]}', '{"a": 1}',
    '"kind": "cat"', '{"lives": 3, "kind": "cat"}', '{"kind": "dog", ', '"bark": "wo', '"name": "A',
    "<think>", "</think>", "<|channel|>analysis<|message|>", "<|channel|>final<|message|>", "<|end|>",
    "\\", "\\u", "\\ud83d", "\\ude00", "\ud800",
]  # fmt: skip
ANSWERS = st.lists(st.sampled_from(MARKS) | st.text(max_size=4), max_size=10).map("".join)
"""Texts made of what answers are made of, most of them wrong."""


def pieces(text: str, size: int) -> list[str]:
    """`text` in pieces of one size."""
    return [text[start : start + size] for start in range(0, len(text), size)]


@st.composite
def chopped(draw: st.DrawFn, text: str) -> list[str]:
    """`text` in pieces of any sizes."""
    cuts = sorted(draw(st.sets(st.integers(0, len(text)), max_size=12)))
    return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]


def calls_of(work: Callable[[], object]) -> int:
    """How many calls, of Python and of C, `work` makes."""
    calls = 0

    def count(frame: FrameType, event: str, arg: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return calls
