"""The embedding store in a database."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, TypeVar

from sqlalchemy import Connection

from ....driving import Driver
from ....errors import StoreError
from ....stores.sql.transactions import Transactions
from ...embedding_store import Match
from ...filters import Node
from ...segment_json import segment_from_json
from ..driven import DrivenEmbeddingStore
from ..requests import Addition, Question
from .cache import Cache, DamagedRowError
from .rows import erase, read_changes, read_segments, write
from .tables import SCHEMA, prepare, tables_called

T = TypeVar("T")
LOOKS: Final = 5
"""So often it is looked again when what was found has changed meanwhile; then what is left is given."""


class SqlEmbeddingStore(DrivenEmbeddingStore):
    """Vectors in SQLite, PostgreSQL or MySQL, searched exactly; needs the extras `rag` and `sql`.

    `url` is the path of an SQLite file, or `sqlite:///file`, `postgresql://user:password@host/database`,
    `mysql://...`, with the extras `postgres` and `mysql`. Two tables, `table` and one with `_numbers` after
    its name, are made when they are missing. Vectors are kept at length 1.

    Each process keeps the vectors and the metadata in memory, reads at each search what others have written
    since the last, and searches there, filters included: what `InMemoryEmbeddingStore` finds, it finds, in
    nearly the same time. Texts stay in the database. Safe to share between threads, event loops and, after
    a fork, processes. `add` and `remove` are one transaction each: a killed process leaves all or nothing.

    Raises `ConfigurationError` for a URL of another kind, `MissingExtraError` without the driver,
    `StoreError` when the database fails or holds a damaged row, whose id it names.
    """

    def __init__(self, url: str | os.PathLike[str], *, table: str = "aiservices_segments") -> None:
        self._tables = tables_called(table)
        self._transactions = Transactions(url, owner="SqlEmbeddingStore")
        self._cache = Cache()
        self._prepared = False

    async def _keep(self, driver: Driver, addition: Addition) -> None:
        work = partial(write, tables=self._tables, addition=addition)
        await self._do(driver, self._transactions.writing(work))

    async def _find(self, driver: Driver, question: Question) -> list[Match]:
        looks = 0
        while True:
            found, version = await self._from_cache(driver, partial(self._cache.search, question=question))
            read = partial(read_segments, tables=self._tables, ids=[id for id, _ in found])
            kept = await self._do(driver, read) if found else {}
            looks += 1
            if looks == LOOKS or all(id in kept and kept[id][2] <= version for id, _ in found):
                return [self._match(id, score, *kept[id][:2]) for id, score in found if id in kept]

    async def _drop(self, driver: Driver, ids: Sequence[str] | None, filter: Node | None) -> int:
        while True:
            chosen, version = ids, None
            if filter is not None:
                ask = partial(self._cache.matching, ids=ids, node=filter)
                chosen, version = await self._from_cache(driver, ask)
            if not chosen:
                return 0
            work = partial(erase, tables=self._tables, ids=chosen, expected=version)
            removed = await self._do(driver, self._transactions.writing(work))
            if removed is not None:
                return removed

    async def _from_cache(self, driver: Driver, ask: Callable[..., T | None]) -> tuple[T, int]:
        """An answer from memory, brought up to date, and the version that it is of."""
        while True:
            read = partial(read_changes, tables=self._tables, seen=self._cache.seen)
            changes = await self._do(driver, read)
            try:
                answer = await driver.call(ask, changes)
            except DamagedRowError as error:
                raise self._failure(error) from error
            if answer is not None:
                return answer, changes.now.version

    async def _do(self, driver: Driver, work: Callable[[Connection], T]) -> T:
        """Do some work in a transaction of its own, after the tables are there."""
        if not self._prepared:
            making = partial(prepare, tables=self._tables)
            schema = await self._transactions.do(driver, making, self._failure)
            if schema > SCHEMA:
                raise StoreError(
                    f"{self} has tables of schema {schema}, made by a newer aiservices; this one knows "
                    f"schema {SCHEMA}: update it",
                    namespace=self._tables.segments.name,
                )
            self._prepared = True
        return await self._transactions.do(driver, work, self._failure)

    def _match(self, id: str, score: float, body: str, metadata: str) -> Match:
        try:
            return Match(id, score, segment_from_json(body, metadata))
        except ValueError as error:
            raise self._failure(DamagedRowError(f"the segment {id!r} is damaged: {error}")) from error

    def _failure(self, error: Exception) -> StoreError:
        cause = getattr(error, "orig", None) or error
        return StoreError(
            f"{self} failed: {type(cause).__name__}: {cause}", namespace=self._tables.segments.name
        )

    def close(self) -> None:
        self._transactions.close()

    async def aclose(self) -> None:
        await self._transactions.aclose()

    def __repr__(self) -> str:
        return f"SqlEmbeddingStore({self._transactions.database}, table={self._tables.segments.name!r})"
