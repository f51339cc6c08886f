"""Every embedding store that we ship keeps the whole contract, and so does a user's with one half of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from aiservices.rag import (
    EmbeddingStore,
    InMemoryEmbeddingStore,
    Match,
    PgVectorEmbeddingStore,
    QdrantEmbeddingStore,
    SqlEmbeddingStore,
    TextSegment,
)
from aiservices.testing.embedding_stores import EmbeddingStoreConformance


class BlockingHalf(EmbeddingStore):
    """A user's store that knows nothing of asynchronous code."""

    def __init__(self) -> None:
        self.kept = InMemoryEmbeddingStore()

    def add(self, vectors: Sequence[Any], segments: Sequence[TextSegment], **options: Any) -> list[str]:
        return self.kept.add(vectors, segments, **options)

    def search(self, vector: Sequence[float], **options: Any) -> list[Match]:
        return self.kept.search(vector, **options)

    def remove(self, ids: Sequence[str] | None = None, **options: Any) -> int:
        return self.kept.remove(ids, **options)


class AsynchronousHalf(EmbeddingStore):
    """A user's store that knows nothing of blocking code."""

    def __init__(self) -> None:
        self.kept = InMemoryEmbeddingStore()

    async def aadd(
        self, vectors: Sequence[Any], segments: Sequence[TextSegment], **options: Any
    ) -> list[str]:
        return await self.kept.aadd(vectors, segments, **options)

    async def asearch(self, vector: Sequence[float], **options: Any) -> list[Match]:
        return await self.kept.asearch(vector, **options)

    async def aremove(self, ids: Sequence[str] | None = None, **options: Any) -> int:
        return await self.kept.aremove(ids, **options)


class TestInMemory(EmbeddingStoreConformance):
    @pytest.fixture
    def store(self) -> EmbeddingStore:
        return InMemoryEmbeddingStore()


class TestSqlite(EmbeddingStoreConformance):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[EmbeddingStore]:
        with SqlEmbeddingStore(tmp_path / "store.db") as store:
            yield store


class TestPostgresql(EmbeddingStoreConformance):
    @pytest.fixture
    def store(self, postgresql_url: str) -> Iterator[EmbeddingStore]:
        with SqlEmbeddingStore(postgresql_url, table=f"s_{uuid4().hex}") as store:
            yield store


class TestMysql(EmbeddingStoreConformance):
    @pytest.fixture
    def store(self, mysql_url: str) -> Iterator[EmbeddingStore]:
        with SqlEmbeddingStore(mysql_url, table=f"s_{uuid4().hex}") as store:
            yield store


class TestPgVector(EmbeddingStoreConformance):
    @pytest.fixture
    def store(self, postgresql_url: str) -> Iterator[EmbeddingStore]:
        with PgVectorEmbeddingStore(postgresql_url, dimension=3, table=f"v_{uuid4().hex}") as store:
            yield store


class TestQdrantInMemory(EmbeddingStoreConformance):
    @pytest.fixture
    def store(self) -> Iterator[EmbeddingStore]:
        with QdrantEmbeddingStore(":memory:", dimension=3) as store:
            yield store


@pytest.mark.usefixtures("qdrant_has_looked_at_sqlite")
class TestQdrantInAFolder(EmbeddingStoreConformance):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[EmbeddingStore]:
        with QdrantEmbeddingStore(tmp_path / "qdrant", dimension=3) as store:
            yield store


class TestBlockingHalf(EmbeddingStoreConformance):
    @pytest.fixture
    def store(self) -> EmbeddingStore:
        return BlockingHalf()


class TestAsynchronousHalf(EmbeddingStoreConformance):
    @pytest.fixture
    def store(self) -> EmbeddingStore:
        return AsynchronousHalf()


def test_a_store_needs_one_half_of_each_pair() -> None:
    with pytest.raises(TypeError, match="overrides neither search or asearch, nor remove or aremove"):

        class Half(EmbeddingStore):
            def add(self, vectors: Any, segments: Any, *, ids: Any = None) -> list[str]:
                return []


class Forgetting(InMemoryEmbeddingStore):
    """A store whose asynchronous half forgets what it is asked for."""

    def __init__(self, forgotten: str) -> None:
        super().__init__()
        self._forgotten = forgotten

    async def asearch(self, vector: Sequence[float], **options: Any) -> list[Match]:
        options.pop(self._forgotten, None)
        return await super().asearch(vector, **options)


@pytest.mark.parametrize("option", ["max_results", "min_score", "filter"])
def test_halves_that_differ_do_not_keep_the_contract(option: str) -> None:
    with pytest.raises(AssertionError, match=option):
        EmbeddingStoreConformance().test_the_asynchronous_half_does_the_same(Forgetting(option))
