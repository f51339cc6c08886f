"""Every filter leaves the same rows in every store: those that the reference leaves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiservices.rag import (
    EmbeddingStore,
    F,
    Filter,
    InMemoryEmbeddingStore,
    Metadata,
    PgVectorEmbeddingStore,
    QdrantEmbeddingStore,
    SqlEmbeddingStore,
    TextSegment,
)
from aiservices.rag.comparing import comparable
from aiservices.rag.embedding_stores.codes import code_of

from .strategies import filters, metadata, scalars

ALL = F("no such key") != 0


@pytest.fixture(scope="module")
def in_memory() -> EmbeddingStore:
    return InMemoryEmbeddingStore()


@pytest.fixture(scope="module")
def sqlite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddingStore]:
    folder: Path = tmp_path_factory.mktemp("translations")
    with SqlEmbeddingStore(folder / "store.db") as store:
        yield store


@pytest.fixture(scope="module")
def pgvector(postgresql_url: str) -> Iterator[EmbeddingStore]:
    with PgVectorEmbeddingStore(postgresql_url, dimension=2, table="translations") as store:
        yield store


@pytest.fixture(scope="module")
def qdrant() -> Iterator[EmbeddingStore]:
    with QdrantEmbeddingStore(":memory:", dimension=2) as store:
        yield store


def check(store: EmbeddingStore, rows: list[dict[str, Any]], filter: Filter) -> None:
    segments = [TextSegment(str(number), row) for number, row in enumerate(rows)]
    store.remove(filter=ALL)
    store.add([[1.0, number] for number in range(len(rows))], segments, ids=[each.text for each in segments])
    expected = [each.text for each in segments if filter.matches(Metadata(each.metadata))]
    for limit in (1, 2, 99):
        found = [match.id for match in store.search([1.0, 0.0], max_results=limit, filter=filter)]
        assert found == expected[:limit]
    assert store.remove(filter=filter) == len(expected)
    left = [match.id for match in store.search([1.0, 0.0], max_results=99)]
    assert left == [each.text for each in segments if each.text not in expected]


ROWS = st.lists(metadata(), max_size=8)


@given(ROWS, filters())
def test_in_memory(in_memory: EmbeddingStore, rows: list[dict[str, Any]], filter: Filter) -> None:
    check(in_memory, rows, filter)


@given(ROWS, filters())
def test_in_sqlite(sqlite: EmbeddingStore, rows: list[dict[str, Any]], filter: Filter) -> None:
    check(sqlite, rows, filter)


@given(ROWS, filters())
def test_in_pgvector(pgvector: EmbeddingStore, rows: list[dict[str, Any]], filter: Filter) -> None:
    check(pgvector, rows, filter)


@given(ROWS, filters())
def test_in_qdrant(qdrant: EmbeddingStore, rows: list[dict[str, Any]], filter: Filter) -> None:
    check(qdrant, rows, filter)


@given(scalars(), scalars())
def test_codes_are_equal_and_in_order_exactly_as_the_values_are(a: Any, b: Any) -> None:
    one, other = comparable(a), comparable(b)
    assert one is not None
    assert other is not None
    codes = code_of(one), code_of(other)
    if codes[0] is not None and codes[1] is not None:
        assert (codes[0] == codes[1]) is (one == other)
        if one.kind is other.kind:
            assert (codes[0] < codes[1]) is (one.value < other.value)
