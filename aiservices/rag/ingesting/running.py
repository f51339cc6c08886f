"""One run of an ingestor."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from ...driving import Driver
from ...guessing import kind_of
from ...segments import Document, TextSegment
from ..failures import FailedDocument, IngestionError
from .embedding import Embedding, FailedBatch, concerns_all
from .ledger import Ledger, Place, key_of
from .preparing import Prepared, Preparing
from .reports import IngestionReport
from .writing import Embedded, Writing

_log: Final = logging.getLogger("aiservices")


class Run:
    """What was met until now, what waits to be embedded with more, and what is to be reported."""

    def __init__(
        self,
        driver: Driver,
        *,
        source: str,
        preparing: Preparing,
        embedding: Embedding,
        writing: Writing,
        ledger: Ledger,
        at_once: int,
        raises: bool,
        tell: Callable[[int], Awaitable[object]],
    ) -> None:
        self._driver = driver
        self._source = source
        self._preparing = preparing
        self._embedding = embedding
        self._writing = writing
        self._ledger = ledger
        self._at_once = at_once
        self._raises = raises
        self._tell = tell
        self._digests: dict[str, str | None] = {}  # of the documents that were met, by their keys
        self._waiting: list[Prepared] = []
        self._ids: list[str] = []
        self._failed: list[FailedDocument] = []
        self._done = self._added = self._updated = self._unchanged = self._removed = 0

    async def take(self, item: Document | FailedDocument) -> None:
        """Ingest a document, or keep it until there are enough segments for a round of requests."""
        if not isinstance(item, Document | FailedDocument):
            raise TypeError(
                f"there is {kind_of(item)} among the documents: give Documents, as load_directory(path), "
                "load_file(path) and Document(text) make them"
            )
        id = item.id
        key = key_of(self._source, id)
        if isinstance(item, FailedDocument):
            self._digests.setdefault(key, None)
            await self._fail(item)
            return
        try:
            segments = await self._preparing.segments(self._driver, item, self._source)
        except Exception as error:
            self._digests.setdefault(key, None)
            await self._fail_with(id, error, "could not be prepared")
            return
        await self._sort(id, key, segments)

    async def finish(self, *, remove_missing: bool) -> IngestionReport:
        """Ingest what waits, remove what is missing, and report."""
        await self._flush()
        if remove_missing:
            for key in await self._ledger.keys(self._driver, self._source):
                if key not in self._digests:
                    await self._remove(await self._ledger.look_up(self._driver, key))
        return IngestionReport(
            tuple(self._ids),
            self._added,
            self._updated,
            self._unchanged,
            self._removed,
            tuple(self._failed),
            self._embedding.usage,
        )

    async def _sort(self, id: str, key: str, segments: tuple[TextSegment, ...]) -> None:
        """Find out whether a document is new, changed, unchanged, or nothing any more."""
        place = await self._ledger.look_up(self._driver, key)
        document = self._preparing.prepared(id, segments, self._source, place)
        if key in self._digests:
            if self._digests[key] == document.digest:
                await self._settle(unchanged=1)
            else:
                await self._fail_with(id, ValueError("another document of this run has the id"), "is refused")
            return
        self._digests[key] = document.digest
        if place.record is not None and place.record.digest == document.digest:
            await self._settle(unchanged=1)
        elif not segments:
            await self._remove(place)
            await self._settle()
        else:
            self._waiting.append(document)
            if sum(len(each.segments) for each in self._waiting) >= self._at_once:
                await self._flush()

    async def _flush(self) -> None:
        documents, self._waiting = self._waiting, []
        if not documents:
            return
        found = await self._embedding.embed(
            [[segment.text for segment in each.segments] for each in documents]
        )
        pairs = list(zip(documents, found, strict=True))
        await self._write([Embedded(each, made) for each, made in pairs if not isinstance(made, FailedBatch)])
        for each, made in pairs:
            if isinstance(made, FailedBatch):
                what = f"could not be embedded in batch {made.number}"
                await self._fail_with(each.document_id, made.error, what, batch=made.number)

    async def _write(self, documents: Sequence[Embedded]) -> None:
        errors = await self._writing.write(self._driver, documents)
        for each, error in zip(documents, errors, strict=True):
            document = each.document
            if error is not None:
                await self._fail_with(document.document_id, error, "could not be stored")
                continue
            self._ids += document.ids
            known = document.place.record is not None and document.place.record.digest is not None
            await self._settle(added=not known, updated=known)

    async def _remove(self, place: Place) -> None:
        if place.record is None:
            return
        try:
            await self._writing.remove(self._driver, place)
        except Exception as error:
            if concerns_all(error):
                raise
            await self._fail_with(place.record.document_id, error, "could not be removed")
        else:
            self._removed += 1

    async def _settle(self, *, added: int = 0, updated: int = 0, unchanged: int = 0) -> None:
        self._added += added
        self._updated += updated
        self._unchanged += unchanged
        self._done += 1
        await self._tell(self._done)

    async def _fail_with(self, id: str, error: Exception, what: str, *, batch: int | None = None) -> None:
        if concerns_all(error):
            raise error
        failure = IngestionError(
            f"document {id!r} {what}: {type(error).__name__}: {error}", document_id=id, batch=batch
        )
        # What is kept for the report must not hold on to texts and vectors by its traceback.
        failure.__cause__ = error if self._raises else error.with_traceback(None)
        await self._fail(FailedDocument(id, failure))

    async def _fail(self, failed: FailedDocument) -> None:
        if self._raises:
            raise failed.error
        _log.warning("%s", failed.error)
        self._failed.append(failed)
        await self._settle()
