"""Splitting by semantic-text-splitter, which knows the sentences, words and characters of all scripts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from math import ceil
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

    def spans(self, text: str) -> list[Span]:
        kind = _library().MarkdownSplitter if self.markdown else _library().TextSplitter
        return _cut(kind, text, self.sizes.largest, self.sizes.overlap, self.sizes.counter)


def sentences(text: str) -> list[Span]:
    """The sentences of a text without line breaks, by the rules of Unicode."""
    # A segment of any size from 1 on is full with its first unit, of which the largest here is a sentence.
    return _found(partial(_library().TextSplitter, (1, ANY_SIZE)), text)


def pieces(text: str, size: int, counter: Counter) -> list[Span]:
    """The pieces of a long word, cut between what is seen as one character where that fits."""
    return _cut(_library().TextSplitter, text, size, 0, counter)


def _cut(kind: Any, text: str, size: int, overlap: int, counter: Counter) -> list[Span]:
    if counter is len:  # which is counted without coming back to Python
        return _found(partial(kind, size), text, overlap)
    spans = _found(partial(kind.from_callback, counter, size), text, overlap)
    if all(end - start == 1 or counter(text[start:end]) <= size for start, end in spans):
        return spans
    # The library takes it for granted that nothing counts more than it has bytes.
    most = max(ceil(counter(letter) / len(letter.encode())) for letter in set(text))
    if most <= 1:
        return spans
    room = max(size // most, 1)

    def counted(piece: str) -> int:
        count = counter(piece)
        whole = len(piece) == 1 or count <= size
        return min(ceil(count / most), room) if whole else max(ceil(count / most), room + 1)

    return _found(partial(kind.from_callback, counted, room), text, min(overlap // most, room - 1))


def _found(make: Callable[..., Any], text: str, overlap: int = 0) -> list[Span]:
    spans: list[Span] = []
    for block, end in _blocks(text):
        for start, found in _chunks(make, text[block:end], overlap):
            first, last = block + start, block + start + len(found)
            if spans and first < spans[-1][1]:
                first = last - len(found.lstrip())  # white space that is repeated is not counted
            if first == last or (spans and last <= spans[-1][1]):
                continue
            while spans and first <= spans[-1][0]:  # with an overlap it may begin where one within it does
                spans.pop()
            spans.append((first, last))
    return spans


def _chunks(make: Callable[..., Any], text: str, overlap: int) -> list[tuple[int, str]]:
    try:
        chunks: list[tuple[int, str]] = make(overlap=overlap).chunk_indices(text)
    except BaseException as error:
        # In some Markdown, with an overlap and white space beyond ASCII, the library loses its place.
        if type(error).__name__ != "PanicException" or not overlap:
            raise
        return _chunks(make, text, 0)
    return chunks


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
