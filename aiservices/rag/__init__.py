"""Retrieval: documents go in through an ingestor, and come back as knowledge in the prompt of a service.

What needs an extra is imported when it is first named.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..segments import Document, Metadata, ScoredSegment, TextSegment
from .embedding_store import EmbeddingStore, Match
from .filters import F, Filter
from .keyword_index import KeywordIndex

if TYPE_CHECKING:
    from .embedding_stores.in_memory import InMemoryEmbeddingStore
    from .embedding_stores.pgvector import PgVectorEmbeddingStore
    from .embedding_stores.qdrant import QdrantEmbeddingStore
    from .embedding_stores.sql import SqlEmbeddingStore

__all__ = [
    "Document",
    "EmbeddingStore",
    "F",
    "Filter",
    "InMemoryEmbeddingStore",
    "KeywordIndex",
    "Match",
    "Metadata",
    "PgVectorEmbeddingStore",
    "QdrantEmbeddingStore",
    "ScoredSegment",
    "SqlEmbeddingStore",
    "TextSegment",
]

_LATER = {
    "InMemoryEmbeddingStore": ".embedding_stores.in_memory",
    "PgVectorEmbeddingStore": ".embedding_stores.pgvector",
    "QdrantEmbeddingStore": ".embedding_stores.qdrant",
    "SqlEmbeddingStore": ".embedding_stores.sql",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value = getattr(import_module(_LATER[name], __name__), name)
    return value
