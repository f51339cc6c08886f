"""Splitting by one kind of unit: as many whole ones as fit into each segment."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from .semantic import pieces, sentences
from .splitter import SizedSplitter, Span

Units: TypeAlias = Callable[[str], Iterable[Span]]
_LINE: Final = re.compile(r"\S(?:[^\n\r]*\S)?")
_WORD: Final = re.compile(r"\S+")
_END_OF_LINE: Final = r"(?:\r\n|\n|\r(?!\n))"
_BLANK_LINE: Final = re.compile(rf"{_END_OF_LINE}[^\S\n\r]*{_END_OF_LINE}")
_BREAK: Final = re.compile(r"[\n\r]")


def lines(text: str) -> Iterator[Span]:
    """The lines that are not blank."""
    return (found.span() for found in _LINE.finditer(text))


def sentences_of_paragraphs(text: str) -> Iterator[Span]:
    """The sentences, which go on over ends of lines but not over blank lines."""
    start = 0
    for end, following in (*(blank.span() for blank in _BLANK_LINE.finditer(text)), (len(text), 0)):
        paragraph = _BREAK.sub(" ", text[start:end])
        yield from ((start + first, start + last) for first, last in sentences(paragraph))
        start = following


def words(text: str) -> Iterator[Span]:
    """What stands between white space."""
    return (found.span() for found in _WORD.finditer(text))


@dataclass(frozen=True, slots=True)
class _Unit:
    start: int
    end: int
    apart: bool  # it begins a segment, into which nothing before it comes but the overlap


@dataclass(frozen=True)
class PackingSplitter(SizedSplitter):
    """Fills each segment with whole units of the first kind.

    A unit that does not fit is cut into units of the next kind, one of the last kind into characters, and
    it shares no segment with its neighbours. The overlap is of whole units too: as many as fit into it and
    leave room for a new one.
    """

    kinds: tuple[Units, ...]

    def spans(self, text: str) -> Iterator[Span]:
        packing = _Packing(self, text, tuple(self.units(text, self.kinds)))
        kept = fresh = 0  # the segment begins with what is kept of the one before, then come fresh units
        while fresh < len(packing.units):
            end = packing.end(kept, fresh)
            yield packing.span(kept, end)
            kept, fresh = packing.kept(kept, end), end

    def units(self, text: str, kinds: Sequence[Units], offset: int = 0) -> Iterator[_Unit]:
        """What segments are filled with: units of the first kind, or what those are cut into."""
        if not kinds:
            yield from (_Unit(offset + start, offset + end, False) for start, end in self._pieces(text))
            return
        apart = False
        for start, end in kinds[0](text):
            if self.sizes.counter(text[start:end]) <= self.sizes.largest:
                yield _Unit(offset + start, offset + end, apart)
                apart = False
                continue
            apart = True
            for unit in self.units(text[start:end], kinds[1:], offset + start):
                yield _Unit(unit.start, unit.end, apart or unit.apart)
                apart = False
            apart = True

    def _pieces(self, word: str) -> Iterator[Span]:
        """The pieces of a word that does not fit, which are small enough to overlap."""
        largest, overlap, counter = self.sizes.largest, self.sizes.overlap, self.sizes.counter
        for start, end in pieces(word, largest, counter):  # first: a long word in small pieces takes minutes
            smaller = pieces(word[start:end], overlap, counter) if overlap else ((0, end - start),)
            yield from ((start + first, start + last) for first, last in smaller)


class _Packing:
    """A text and its units, which are measured together."""

    def __init__(self, splitter: PackingSplitter, text: str, units: Sequence[_Unit]) -> None:
        self._sizes = splitter.sizes
        self._text = text
        self._apart = [*(index for index, unit in enumerate(units) if unit.apart), len(units)]
        self.units = units

    def span(self, first: int, end: int) -> Span:
        return self.units[first].start, self.units[end - 1].end

    def end(self, kept: int, fresh: int) -> int:
        """Where the segment ends that begins with these units: at least one fresh unit is in it."""
        limit = self._apart[bisect_right(self._apart, fresh)]
        low, step = fresh + 1, 1
        while low + step <= limit and self._size(kept, low + step) <= self._sizes.largest:
            low, step = low + step, step * 2
        ends = range(low + 1, min(low + step, limit) + 1)
        return low + bisect_right(ends, self._sizes.largest, key=lambda end: self._size(kept, end))

    def kept(self, first: int, end: int) -> int:
        """The first unit that is in the next segment again: never all, so that each begins later."""
        kept = end
        while self._sizes.overlap and first < kept - 1 and end < len(self.units):
            if not self._may_be_kept(kept - 1, end):
                break
            kept -= 1
        return kept

    def _may_be_kept(self, first: int, end: int) -> bool:
        room = self._size(first, end + 1) <= self._sizes.largest
        return room and self._size(first, end) <= self._sizes.overlap

    def _size(self, first: int, end: int) -> int:
        return self._sizes.counter(self._text[slice(*self.span(first, end))])
