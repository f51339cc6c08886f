"""Writing documents: what is about to be written into the ledger, then the segments, then that it is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from ...driving import Driver
from ...segments import TextSegment
from .embedding import Vectors, concerns_all
from .ledger import Ledger, Place, Record
from .preparing import Prepared


class SegmentStore(Protocol):
    """What an ingestor needs of an embedding store."""

    def add(
        self,
        vectors: Sequence[Sequence[float]],
        segments: Sequence[TextSegment],
        *,
        ids: Sequence[str] | None = None,
    ) -> list[str]: ...
    def remove(self, ids: Sequence[str] | None = None) -> int: ...
    async def aadd(
        self,
        vectors: Sequence[Sequence[float]],
        segments: Sequence[TextSegment],
        *,
        ids: Sequence[str] | None = None,
    ) -> list[str]: ...
    async def aremove(self, ids: Sequence[str] | None = None) -> int: ...


class KeywordStore(Protocol):
    """What an ingestor needs of a keyword index."""

    def add(self, segments: Sequence[TextSegment], *, ids: Sequence[str] | None = None) -> list[str]: ...
    def remove(self, ids: Sequence[str] | None = None) -> int: ...


@dataclass(frozen=True, slots=True)
class Embedded:
    """A document that is ready to be written."""

    document: Prepared
    vectors: Vectors


@dataclass(frozen=True, slots=True)
class Writing:
    """Where documents are written, and how."""

    store: SegmentStore
    keyword_index: KeywordStore | None
    ledger: Ledger

    async def write(self, driver: Driver, documents: Sequence[Embedded]) -> list[Exception | None]:
        """Write documents, together or, when that fails, each alone; give the error of each that fails."""
        if not documents:
            return []
        try:
            await self._write(driver, documents)
        except Exception as error:
            if concerns_all(error):
                raise
            if len(documents) == 1:
                return [error]
            return [error for each in documents for error in await self._again(driver, each)]
        return [None] * len(documents)

    async def remove(self, driver: Driver, place: Place) -> None:
        """Remove all segments of a document that the ledger knows, and its record."""
        if place.record is None:
            return
        removing = await self.ledger.write(driver, place, replace(place.record, digest=None))
        await self._remove(driver, place.record.segments)
        await self.ledger.forget(driver, removing)

    async def _again(self, driver: Driver, each: Embedded) -> list[Exception | None]:
        """Write a document whose record may say already that it is being written."""
        place = await self.ledger.look_up(driver, each.document.place.key)
        return await self.write(driver, [replace(each, document=replace(each.document, place=place))])

    async def _write(self, driver: Driver, documents: Sequence[Embedded]) -> None:
        begun = [await self._begin(driver, each.document) for each in documents]
        await self._add(driver, documents)
        stale = [id for each in documents for id in _stale(each.document)]
        await self._remove(driver, stale)
        for place, each in zip(begun, documents, strict=True):
            known = each.document
            await self.ledger.write(driver, place, Record(known.document_id, known.ids, known.digest))

    async def _begin(self, driver: Driver, document: Prepared) -> Place:
        segments = (*document.ids, *_stale(document))
        return await self.ledger.write(driver, document.place, Record(document.document_id, segments, None))

    async def _add(self, driver: Driver, documents: Sequence[Embedded]) -> None:
        vectors = [vector for each in documents for vector in each.vectors]
        segments = [segment for each in documents for segment in each.document.segments]
        ids = [id for each in documents for id in each.document.ids]
        add, aadd = partial(self.store.add, ids=ids), partial(self.store.aadd, ids=ids)
        await driver.twin(add, aadd, vectors, segments)
        if self.keyword_index is not None:
            await driver.call(partial(self.keyword_index.add, ids=ids), segments)

    async def _remove(self, driver: Driver, ids: Sequence[str]) -> None:
        if not ids:
            return
        await driver.twin(self.store.remove, self.store.aremove, ids)
        if self.keyword_index is not None:
            await driver.call(self.keyword_index.remove, ids)


def _stale(document: Prepared) -> list[str]:
    """The segments that the store may hold of the document and that are none of it any more."""
    record, kept = document.place.record, set(document.ids)
    return [id for id in record.segments if id not in kept] if record else []
