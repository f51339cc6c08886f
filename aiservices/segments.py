"""What knowledge is kept in: documents, the segments they are cut into, and segments that were found."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from hashlib import sha256
from math import isfinite
from typing import Final, TypeAlias
from uuid import UUID

from .messages.frozen import NO_ATTRIBUTES, Attributes, FrozenMapping, attributes_of

Scalar: TypeAlias = str | int | float | bool | date | UUID
MetadataValue: TypeAlias = Scalar | list[str] | list[int] | list[float] | list[bool] | list[date] | list[UUID]
MetadataMapping: TypeAlias = Mapping[str, MetadataValue | None]

_SCALARS: Final = (str, int, float, date, UUID)  # a bool is an int, a datetime a date


class Metadata(FrozenMapping[MetadataValue]):
    """A read-only mapping of text keys to what filters can compare: str, int, float, bool, date, UUID, lists.

    A value of `None` means that the key is absent. Raises `TypeError` for another kind of value and
    `ValueError` for a number that is not finite and for a blank key, naming the key.
    """

    __slots__ = ()

    def __init__(self, items: MetadataMapping | None = None, /) -> None:
        values = {} if items is None else {k: _checked(k, v) for k, v in items.items() if v is not None}
        super().__init__(values)


NO_METADATA: Final = Metadata()


def metadata_of(items: MetadataMapping | None) -> Metadata:
    """The mapping as metadata, which is checked once only."""
    if isinstance(items, Metadata):
        return items
    return Metadata(items) if items else NO_METADATA


def _checked(key: object, value: object) -> MetadataValue:
    if not isinstance(key, str):
        raise TypeError(f"metadata has the key {key!r}: keys are texts")
    if not key.strip():
        raise ValueError(f"metadata has a blank key, of the value {value!r}")
    if isinstance(value, list | tuple):
        return [_scalar(f"{key}[{index}]", item) for index, item in enumerate(value)]  # type: ignore[return-value]
    return _scalar(key, value)


def _scalar(key: str, value: object) -> Scalar:
    if not isinstance(value, _SCALARS):
        raise TypeError(
            f"metadata[{key!r}] is a {type(value).__name__}: give str, int, float, bool, date, UUID, "
            "a list of one of these, or None for a key that is absent"
        )
    if isinstance(value, float) and not isfinite(value):
        raise ValueError(f"metadata[{key!r}] is {value!r}: numbers are finite")
    return value


def fingerprint(text: str, metadata: Mapping[str, object]) -> str:
    """A digest of a text and its metadata that stays the same in every process: 32 hexadecimal digits."""
    kept = sorted((key, type(value).__name__, str(value)) for key, value in metadata.items())
    content = json.dumps([text, kept], ensure_ascii=True)  # a lone surrogate has no UTF-8
    return sha256(content.encode("ascii")).hexdigest()[:32]


def _check_text(text: object, owner: str) -> None:
    if not isinstance(text, str):
        raise TypeError(f"the text of {owner} is a {type(text).__name__}: give a str")


def _checked_id(id: object) -> str:
    if not isinstance(id, str):
        raise TypeError(f"the id of a document is a {type(id).__name__}: give a text")
    if not id.strip():
        raise ValueError("the id of a document is blank: give a text, or none for one made of the content")
    return id


@dataclass(frozen=True, slots=True, init=False)
class Document:
    """A text with what is known about it. An empty text is allowed, and is cut into no segments.

    `id` is its key when it is ingested again: by default a fingerprint of the text and the metadata.
    """

    text: str
    metadata: Mapping[str, MetadataValue]
    id: str

    def __init__(
        self, text: str, metadata: MetadataMapping | None = NO_METADATA, *, id: str | None = None
    ) -> None:
        put = object.__setattr__
        _check_text(text, "a Document")
        put(self, "text", text)
        put(self, "metadata", known := metadata_of(metadata))
        put(self, "id", fingerprint(text, known) if id is None else _checked_id(id))


@dataclass(frozen=True, slots=True, init=False)
class TextSegment:
    """A piece of a document.

    `start` and `end` are the offsets, in characters, of the piece in the document's text, which reads the
    same there up to white space; `None` where there is no such place.
    """

    text: str
    metadata: Mapping[str, MetadataValue]
    start: int | None
    end: int | None

    def __init__(
        self,
        text: str,
        metadata: MetadataMapping | None = NO_METADATA,
        start: int | None = None,
        end: int | None = None,
    ) -> None:
        put = object.__setattr__
        _check_text(text, "a TextSegment")
        put(self, "text", text)
        put(self, "metadata", metadata_of(metadata))
        put(self, "start", start)
        put(self, "end", end)


@dataclass(frozen=True, slots=True)
class ScoredSegment:
    """A segment that was found.

    `score` says how well it fits: 0 to 1 from an embedding store, on another scale from other retrievers,
    `None` where the retriever does not tell. `id` is its id in the store. `attributes` holds what retrievers
    and aggregators know beside: JSON values.
    """

    segment: TextSegment
    score: float | None = None
    id: str | None = None
    attributes: Mapping[str, object] = field(default=NO_ATTRIBUTES, hash=False)

    def __post_init__(self) -> None:
        if not isinstance(self.segment, TextSegment):
            raise TypeError(f"the segment of a ScoredSegment is a {type(self.segment).__name__}")
        if type(self.attributes) is not Attributes:
            object.__setattr__(self, "attributes", attributes_of(self.attributes, owner="attributes"))

    @property
    def text(self) -> str:
        return self.segment.text

    @property
    def metadata(self) -> Mapping[str, MetadataValue]:
        return self.segment.metadata

    def __str__(self) -> str:
        return self.segment.text


@dataclass(frozen=True, slots=True)
class RetrievalFailure:
    """A retriever that failed where the call went on without it. `query` is the text it was asked for."""

    retriever: str
    query: str
    error: Exception

    def __str__(self) -> str:
        return f"{self.retriever}: {type(self.error).__name__}: {self.error}"
