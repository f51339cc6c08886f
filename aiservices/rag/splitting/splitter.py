"""What a splitter is, and what is made of the places where it cuts."""

from __future__ import annotations

import logging
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

from ...segments import Document, TextSegment
from .sizes import Sizes

Span: TypeAlias = tuple[int, int]
_log: Final = logging.getLogger("aiservices")
_SURROGATES: Final = re.compile("[\ud800-\udfff]")


class Splitter(Protocol):
    """Cuts a document into segments.

    Whoever writes one keeps to this: no text is lost, `start` and `end` are the offsets of the segment in
    the document's text, `start` increases, and the metadata are the document's with the segment's number
    from 0 as `index`. The functions beside this class make splitters that do.
    """

    def split(self, document: Document) -> Sequence[TextSegment]:
        """The segments in their order; none for a document of white space only."""
        ...


@dataclass(frozen=True)
class SizedSplitter(ABC):
    """A splitter that keeps to sizes: a subclass finds the spans, this class makes segments of them."""

    sizes: Sizes

    @abstractmethod
    def spans(self, text: str) -> Iterable[Span]:
        """Where the segments are, white space around them left out. The text has no lone surrogates."""

    def split(self, document: Document) -> list[TextSegment]:
        """The segments in their order; none for a document of white space only."""
        text = document.text
        encodable = _SURROGATES.sub("\ufffd", text)  # as many characters, all of which have a UTF-8
        spans = [span for span in self.spans(encodable) if not text[slice(*span)].isspace()]
        large = [
            start for start, end in spans if self.sizes.counter(encodable[start:end]) > self.sizes.largest
        ]
        if large:
            _log.warning(
                "%d segments are larger than max_size=%d, as nothing smaller can be cut: the first is at %d",
                len(large),
                self.sizes.largest,
                large[0],
            )
        return [
            TextSegment(text[start:end], {**document.metadata, "index": index}, start, end)
            for index, (start, end) in enumerate(spans)
        ]
