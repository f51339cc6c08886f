"""What changes documents before they are split, and segments before they are embedded."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeAlias, TypeVar

from ..segments import Document, TextSegment

T = TypeVar("T")
Transform: TypeAlias = Callable[[T], T | Awaitable[T | None] | None]


class DocumentTransformer(Protocol):
    """Changes a document, or drops it by giving `None`. The method may be asynchronous."""

    def transform(self, document: Document, /) -> Document | Awaitable[Document | None] | None:
        """The document to ingest in its place, which keeps its id."""
        ...


class SegmentTransformer(Protocol):
    """Changes a segment, or drops it by giving `None`. The method may be asynchronous."""

    def transform(self, segment: TextSegment, /) -> TextSegment | Awaitable[TextSegment | None] | None:
        """The segment to embed and keep in its place."""
        ...


def transform_of(transformer: Any, kind: type[T], name: str) -> Transform[T] | None:
    """The function of a transformer, which may be one itself. Raises `TypeError` for what is neither."""
    if transformer is None:
        return None
    found = getattr(transformer, "transform", transformer)
    if not callable(found) or isinstance(transformer, type):
        raise TypeError(
            f"{name} is {transformer!r}: give a function of a {kind.__name__}, or an object with `transform`"
        )
    return found  # type: ignore[no-any-return]
