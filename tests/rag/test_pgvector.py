"""What only the store in PostgreSQL can meet: its index, dimensions it cannot index, other tables."""

from __future__ import annotations

from uuid import uuid4

import numpy as np
import pytest
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateIndex

from aiservices.driving import run_in_background
from aiservices.errors import ConfigurationError, StoreError
from aiservices.rag import F, InMemoryEmbeddingStore, PgVectorEmbeddingStore, TextSegment
from aiservices.rag.embedding_stores.pgvector.table import table_called

MANY = 1500
"""More than are compared one by one."""


@pytest.fixture
def table() -> str:
    return f"v_{uuid4().hex}"


def test_the_index_is_used_for_many_and_loses_nothing_that_a_filter_leaves(
    postgresql_url: str, table: str
) -> None:
    vectors = np.random.default_rng(3).normal(size=(MANY, 4))
    kinds = ["rare" if n % 500 == 7 else "often" for n in range(MANY)]
    segments = [TextSegment(str(n), {"n": n, "kind": kind}) for n, kind in enumerate(kinds)]
    memory = InMemoryEmbeddingStore()
    with PgVectorEmbeddingStore(postgresql_url, dimension=4, table=table) as store:
        for each in (memory, store):
            each.add(vectors, segments, ids=[segment.text for segment in segments])
        for filter in (None, F("kind") == "often", F("kind") == "rare", F("n") > 1480, F("kind") != "often"):
            found = store.search(vectors[0], max_results=30, filter=filter)
            exact = memory.search(vectors[0], max_results=30, filter=filter)
            assert len(found) == len(exact)
            assert len({match.id for match in found} & {match.id for match in exact}) >= 0.8 * len(exact)
            assert [match.score for match in found] == sorted((m.score for m in found), reverse=True)
        assert len(store.search(vectors[0], max_results=1200)) == 1200
        assert store.remove(filter=F("kind") == "often") == MANY - 3
        assert len(store.search(vectors[0], max_results=99)) == 3


@pytest.mark.parametrize("dimension", [2001, 4001])
def test_long_vectors_are_kept_whichever_way_they_are_indexed(
    postgresql_url: str, table: str, dimension: int
) -> None:
    vectors = np.random.default_rng(3).normal(size=(3, dimension))
    with PgVectorEmbeddingStore(postgresql_url, dimension=dimension, table=table) as store:
        store.add(vectors, [TextSegment(str(n)) for n in range(3)], ids=["0", "1", "2"])
        (best,) = store.search(vectors[1], max_results=1)
        assert best.id == "1"
        assert best.score > 0.999


def test_what_is_indexed_depends_on_the_dimension() -> None:
    def made(dimension: int) -> str:
        indexes = sorted(table_called("t", dimension).indexes, key=lambda index: str(index.name))
        return " ".join(str(CreateIndex(each).compile(dialect=postgresql.dialect())) for each in indexes)

    assert "hnsw (embedding vector_cosine_ops)" in made(2000)
    assert "hnsw (CAST(embedding AS HALFVEC(2001)) halfvec_cosine_ops)" in made(2001)
    assert "hnsw" not in made(4001)


def test_a_table_of_another_dimension_is_refused(postgresql_url: str, table: str) -> None:
    with PgVectorEmbeddingStore(postgresql_url, dimension=2, table=table) as store:
        store.add([[1, 2]], [TextSegment("a")])
    with (
        PgVectorEmbeddingStore(postgresql_url, dimension=3, table=table) as other,
        pytest.raises(ConfigurationError, match="has vectors of 2 dimensions, the store those of 3"),
    ):
        other.search([1, 2, 3])


def test_wrong_places_and_sizes_are_refused_at_once() -> None:
    for url in ("store.db", "mysql://host/db"):
        with pytest.raises(ConfigurationError, match="is in PostgreSQL"):
            PgVectorEmbeddingStore(url, dimension=3)
    for dimension in (0, 16_001):
        with pytest.raises(ConfigurationError, match="pgvector takes 1 to 16000"):
            PgVectorEmbeddingStore("postgresql://host/db", dimension=dimension)
    with pytest.raises(ConfigurationError, match="cannot be called"):
        PgVectorEmbeddingStore("postgresql://host/db", dimension=3, table="a b")


def test_a_server_that_is_down_is_a_store_error_without_the_password() -> None:
    store = PgVectorEmbeddingStore("postgresql://alice:s3cret@127.0.0.1:1/db", dimension=2)
    with pytest.raises(StoreError, match="failed") as caught:
        store.search([1, 2])
    assert "s3cret" not in f"{caught.value} {caught.value.__cause__} {store!r}"
    with pytest.raises(StoreError, match="failed"):
        run_in_background(store.asearch([1, 2]))
