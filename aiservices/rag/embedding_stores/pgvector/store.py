"""The embedding store in PostgreSQL, with an index of the vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from sqlalchemy import Connection

from ....driving import Driver
from ....errors import ConfigurationError, StoreError
from ....stores.sql.transactions import Transactions
from ...embedding_store import Match
from ...filters import Node
from ...segment_json import segment_from_json
from ..driven import DrivenEmbeddingStore
from ..requests import Addition, Question, check_dimension
from .rows import Row, Search, erase, write
from .table import MOST_DIMENSIONS, prepare, table_called

T = TypeVar("T")


class PgVectorEmbeddingStore(DrivenEmbeddingStore):
    """Vectors in PostgreSQL with the extension pgvector, 0.8 or newer; needs the extra `pgvector`.

    `url` is `postgresql://user:password@host/database`, `dimension` that of the model's vectors, up to
    16,000. The extension, the table and its HNSW index (of halves above 2,000 dimensions, none above 4,000)
    are made when they are missing.

    Up to 1,000 candidates are compared one by one; of more, the index finds most of the nearest. The scores
    are exact, and so are filters: they are translated to conditions on JSON as far as that says the same,
    the rest is looked at here, and where the index finds too few, all rows are read. Safe to share
    between threads, event loops and, after a fork, processes; `add` and `remove` are one transaction each.

    Raises `ConfigurationError` for a URL of another kind and for a table of another dimension,
    `MissingExtraError` without the packages, `StoreError` when the database fails.
    """

    def __init__(self, url: str, *, dimension: int, table: str = "aiservices_embeddings") -> None:
        if not 1 <= dimension <= MOST_DIMENSIONS:
            raise ConfigurationError(f"dimension is {dimension}: pgvector takes 1 to {MOST_DIMENSIONS}")
        self._transactions = Transactions(url, owner="PgVectorEmbeddingStore")
        if self._transactions.database.backend != "postgresql":
            raise ConfigurationError(
                f"PgVectorEmbeddingStore is in PostgreSQL, not at {self._transactions.database}: "
                "give a URL like postgresql://user:password@host/database"
            )
        self._table = table_called(table, dimension)
        self._dimension = dimension
        self._prepared = False

    async def _keep(self, driver: Driver, addition: Addition) -> None:
        check_dimension(addition.vectors.shape[1], self._dimension, addition.ids)
        await self._do(driver, partial(write, table=self._table, addition=addition))

    async def _find(self, driver: Driver, question: Question) -> list[Match]:
        check_dimension(len(question.vector), self._dimension)

        def work(connection: Connection) -> list[Row]:
            return Search(connection, self._table, question).nearest()

        rows = await self._do(driver, work)
        return [Match(row.id, row.score, segment_from_json(row.body, row.metadata)) for row in rows]

    async def _drop(self, driver: Driver, ids: Sequence[str] | None, filter: Node | None) -> int:
        return await self._do(driver, partial(erase, table=self._table, ids=ids, node=filter))

    async def _do(self, driver: Driver, work: Callable[[Connection], T]) -> T:
        """Do some work in a transaction of its own, after the table is there."""
        if not self._prepared:
            making = partial(prepare, table=self._table, dimension=self._dimension)
            await self._transactions.do(driver, making, self._failure)
            self._prepared = True
        return await self._transactions.do(driver, work, self._failure)

    def _failure(self, error: Exception) -> StoreError:
        cause = getattr(error, "orig", None) or error
        return StoreError(f"{self} failed: {type(cause).__name__}: {cause}", namespace=self._table.name)

    def close(self) -> None:
        self._transactions.close()

    async def aclose(self) -> None:
        await self._transactions.aclose()

    def __repr__(self) -> str:
        return f"PgVectorEmbeddingStore({self._transactions.database}, table={self._table.name!r})"
