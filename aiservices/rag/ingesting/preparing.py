"""From a document to the segments that are embedded."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from ...driving import Driver
from ...segments import Document, Metadata, TextSegment, fingerprint
from ..splitting import Splitter
from ..transforming import Transform
from .ledger import Place


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document in segments, under ids that stay the same for the same content, and where its record is."""

    document_id: str
    segments: tuple[TextSegment, ...]
    ids: tuple[str, ...]
    digest: str
    place: Place


@dataclass(frozen=True, slots=True)
class Preparing:
    """Transform, split, transform: what is done to each document."""

    splitter: Splitter | None
    document_transform: Transform[Document] | None
    segment_transform: Transform[TextSegment] | None
    model: str

    async def segments(self, driver: Driver, document: Document, source: str) -> tuple[TextSegment, ...]:
        """The segments of a document: none where nothing is left of it."""
        changed: Document | None = document
        if self.document_transform is not None:
            changed = await driver.call(self.document_transform, document)
        if changed is None:
            return ()
        _check(changed, Document, "document_transformer")
        found = [each for each in await self._split(driver, changed) if not _is_blank(each)]
        if self.segment_transform is not None:
            transformed = [await driver.call(self.segment_transform, each) for each in found]
            changes = [each for each in transformed if each is not None]
            for each in changes:
                _check(each, TextSegment, "segment_transformer")
            found = [each for each in changes if not _is_blank(each)]
        return tuple(_named(each, index, document, source) for index, each in enumerate(found))

    async def _split(self, driver: Driver, document: Document) -> Sequence[TextSegment]:
        if self.splitter is not None:
            segments = list(await driver.call(self.splitter.split, document))
            for each in segments:
                _check(each, TextSegment, "splitter")
            return segments
        metadata = {"index": 0, **document.metadata}
        return [TextSegment(document.text, metadata, 0, len(document.text))]

    def prepared(
        self, document_id: str, segments: tuple[TextSegment, ...], source: str, place: Place
    ) -> Prepared:
        """The document with the ids of its segments and a digest of all that decides what is stored."""
        ids = tuple(_id(source, document_id, index, each) for index, each in enumerate(segments))
        digest = sha256("\n".join((self.model, *ids)).encode()).hexdigest()[:32]
        return Prepared(document_id, segments, ids, digest, place)


def _check(given: object, kind: type, source: str) -> None:
    if not isinstance(given, kind):
        raise TypeError(f"the {source} gave a {type(given).__name__}: it gives {kind.__name__}s")


def _is_blank(segment: TextSegment) -> bool:
    return not segment.text.strip()


def _named(segment: TextSegment, index: int, document: Document, source: str) -> TextSegment:
    """The segment with what finds it again: its document, and its number if nobody has given it one.

    A `source` in its metadata stays where the run has no name of its own for it.
    """
    known = {"document_id": document.id, **({"source": source} if source else {})}
    metadata = Metadata({"index": index, **segment.metadata, **known})
    return replace(segment, metadata=metadata)


def _id(source: str, document_id: str, index: int, segment: TextSegment) -> str:
    content = fingerprint(segment.text, segment.metadata)
    named = json.dumps([source, document_id, index, content, segment.start, segment.end], ensure_ascii=True)
    return sha256(named.encode("ascii")).hexdigest()[:32]
