"""Splitting by semantic-text-splitter, which knows the sentences, words and characters of all scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from ...errors import MissingExtraError
from .sizes import Counter
from .splitter import SizedSplitter, Span

ANY_SIZE: Final = 2**31
LONGEST_WORD: Final = 20_000
LONGEST_BLANK: Final = 200
_ENDLESS: Final = re.compile(rf"\w{{{LONGEST_WORD + 1},}}|\s{{{LONGEST_BLANK + 1},}}")


@dataclass(frozen=True)
class SemanticSplitter(SizedSplitter):
    """Cuts at the largest units that fit: those of Markdown, or paragraphs, lines, sentences, words."""

    markdown: bool = False

    def __post_init__(self) -> None:
        _library()  # what is missing is said when the splitter is made

    def spans(self, text: str) -> Iterator[Span]:
        kind = _library().MarkdownSplitter if self.markdown else _library().TextSplitter
        return _cut(kind, text, self.sizes.largest, self.sizes.overlap, self.sizes.counter)


def sentences(text: str) -> Iterator[Span]:
    """The sentences of a text without line breaks, by the rules of Unicode."""
    # A segment of any size from 1 on is full with its first unit, of which the largest here is a sentence.
    return _found(_library().TextSplitter((1, ANY_SIZE)), text)


def pieces(text: str, size: int, counter: Counter) -> Iterator[Span]:
    """The pieces of a long word, cut between what is seen as one character where that fits."""
    return _cut(_library().TextSplitter, text, size, 0, counter)


def _cut(kind: Any, text: str, size: int, overlap: int, counter: Counter) -> Iterator[Span]:
    if counter is len:  # which is counted without coming back to Python
        return _found(kind(size, overlap=overlap), text)
    return _found(kind.from_callback(counter, size, overlap=overlap), text)


def _found(splitter: Any, text: str) -> Iterator[Span]:
    for block, end in _blocks(text):
        for start, found in splitter.chunk_indices(text[block:end]):
            yield block + start, block + start + len(found)


def _blocks(text: str) -> Iterator[Span]:
    """The whole text, but for runs so long that the library would hang: it is quadratic in their length."""
    start = 0
    for run in _ENDLESS.finditer(text):
        first, end = run.span()
        yield start, first
        if not run[0].isspace():
            yield from ((block, min(block + LONGEST_WORD, end)) for block in range(first, end, LONGEST_WORD))
        start = end
    yield start, len(text)


def _library() -> Any:
    try:
        import semantic_text_splitter
    except ModuleNotFoundError as missing:
        raise MissingExtraError("splitting", extra="rag") from missing
    return semantic_text_splitter
