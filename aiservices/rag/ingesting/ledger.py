"""What was ingested: one record for each document, written before and after its segments are.

The record of a document that is being written names the old and the new segments. A process that dies then
leaves it behind; whoever ingests the document next writes it anew and removes all the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from ...driving import Driver
from ...errors import StoreError
from ...stores import Store


@dataclass(frozen=True, slots=True)
class Record:
    """Which segments the store may hold of a document, and of what content: `None` while it is written."""

    document_id: str
    segments: tuple[str, ...]
    digest: str | None


@dataclass(frozen=True, slots=True)
class Place:
    """The key of a document's record, what is there, and its version, 0 without one."""

    key: str
    record: Record | None = None
    version: int = 0


def key_of(source: str, document_id: str) -> str:
    """The key of a document: keys have fewer letters than ids, and those of a source share their prefix."""
    return prefix_of(source) + _hashed(document_id)[:32]


def prefix_of(source: str) -> str:
    """What the keys of a source's documents begin with."""
    return f"{_hashed(source)[:16]}/"


def _hashed(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Ledger:
    """The records in a store."""

    def __init__(self, store: Store, namespace: str) -> None:
        self._store = store
        self._namespace = namespace

    async def look_up(self, driver: Driver, key: str) -> Place:
        entry = await driver.twin(self._store.get, self._store.aget, self._namespace, key)
        if entry is None:
            return Place(key)
        try:
            document_id, segments, digest = (
                entry.value[name] for name in ("document_id", "segments", "digest")
            )
        except (KeyError, TypeError) as error:
            raise StoreError(
                f"{key!r} in {self._namespace!r} is no record of an ingestor",
                namespace=self._namespace,
                key=key,
            ) from error
        return Place(key, Record(document_id, tuple(segments), digest), entry.version)

    async def write(self, driver: Driver, place: Place, record: Record) -> Place:
        """Write over what was looked up. Raises `ConflictError` where somebody else did meanwhile."""

        def put() -> int:
            return self._store.put(
                self._namespace, place.key, _value_of(record), expected_version=place.version
            )

        async def aput() -> int:
            return await self._store.aput(
                self._namespace, place.key, _value_of(record), expected_version=place.version
            )

        return Place(place.key, record, await driver.twin(put, aput))

    async def forget(self, driver: Driver, place: Place) -> None:
        """Delete what was looked up. Raises `ConflictError` where somebody else wrote meanwhile."""

        def delete() -> bool:
            return self._store.delete(self._namespace, place.key, expected_version=place.version)

        async def adelete() -> bool:
            return await self._store.adelete(self._namespace, place.key, expected_version=place.version)

        await driver.twin(delete, adelete)

    async def keys(self, driver: Driver, source: str) -> list[str]:
        """The keys of all documents of a source."""
        prefix = prefix_of(source)
        return await driver.twin(self._store.keys, self._store.akeys, self._namespace, prefix)


def _value_of(record: Record) -> dict[str, Any]:
    readable = record.document_id.encode("utf-8", "backslashreplace").decode()  # a store holds no surrogates
    return {"document_id": readable, "segments": list(record.segments), "digest": record.digest}
