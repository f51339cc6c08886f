"""What the tests of retrieval share."""

from __future__ import annotations

import gc
import warnings

import pytest

from aiservices.rag import QdrantEmbeddingStore, TextSegment


@pytest.fixture(scope="session")
def qdrant_has_looked_at_sqlite(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The first folder of a process makes Qdrant's client leave a connection open, of which 3.13 warns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        with QdrantEmbeddingStore(tmp_path_factory.mktemp("qdrant"), dimension=1) as store:
            store.add([[1.0]], [TextSegment("first")])
        gc.collect()
