"""What only the store in Qdrant can meet: clients that are given, other collections, many points."""

from __future__ import annotations

from pathlib import Path

import pytest
from qdrant_client import QdrantClient, models

from aiservices.errors import ConfigurationError, StoreError
from aiservices.rag import F, QdrantEmbeddingStore, TextSegment

EAST = [1.0, 0.0]


def test_a_client_that_is_given_stays_open_and_is_shared() -> None:
    client = QdrantClient(":memory:")
    with QdrantEmbeddingStore(client, dimension=2) as store:
        store.add([EAST], [TextSegment("a")], ids=["a"])
    with QdrantEmbeddingStore(client, dimension=2) as again:
        assert [match.id for match in again.search(EAST)] == ["a"]
    with QdrantEmbeddingStore(client, dimension=2, collection="other") as other:
        assert other.search(EAST) == []
    client.close()


@pytest.mark.usefixtures("qdrant_has_looked_at_sqlite")
def test_a_folder_is_found_again(tmp_path: Path) -> None:
    for number in range(2):
        with QdrantEmbeddingStore(tmp_path / "data", dimension=2) as store:
            store.add([EAST], [TextSegment(str(number))], ids=[str(number)])
            assert [match.id for match in store.search(EAST)] == ["0", "1"][: number + 1]


def test_more_points_than_go_into_one_request_are_kept_found_and_removed() -> None:
    with QdrantEmbeddingStore(":memory:", dimension=2) as store:
        segments = [TextSegment(str(n), {"n": n}) for n in range(600)]
        ids = store.add([EAST] * 600, segments)
        assert len(store.search(EAST, max_results=1000)) == 600
        assert [match.segment.text for match in store.search(EAST, max_results=700)][:2] == ["0", "1"]
        assert store.remove(ids[:300]) == 300
        assert store.remove(filter=F("n") >= 310) == 290
        assert len(store.search(EAST, max_results=1000)) == 10


def test_a_collection_of_other_vectors_is_refused() -> None:
    client = QdrantClient(":memory:")
    QdrantEmbeddingStore(client, dimension=2).search(EAST)
    with pytest.raises(ConfigurationError, match="'aiservices' has other vectors than one of 3 dimensions"):
        QdrantEmbeddingStore(client, dimension=3).search([1, 2, 3])
    vectors = {"named": models.VectorParams(size=2, distance=models.Distance.COSINE)}
    client.create_collection("named", vectors_config=vectors)
    with pytest.raises(ConfigurationError, match="'named' has other vectors"):
        QdrantEmbeddingStore(client, dimension=2, collection="named").search(EAST)
    client.close()
    with pytest.raises(ConfigurationError, match="dimension is 0"):
        QdrantEmbeddingStore(":memory:", dimension=0)


def test_a_server_that_is_down_is_a_store_error() -> None:
    client = QdrantClient(url="http://127.0.0.1:1", check_compatibility=False)
    store = QdrantEmbeddingStore(client, dimension=2)
    with pytest.raises(StoreError, match="failed"):
        store.search(EAST)
    client.close()
