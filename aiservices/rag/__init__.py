"""Retrieval: documents go in through an ingestor, and come back as knowledge in the prompt of a service.

What needs an extra is imported when it is first named.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..models.scoring import ScoringModel
from ..segments import Document, Metadata, RetrievalFailure, ScoredSegment, TextSegment
from .augmentor import RetrievalAugmentor
from .embedding_store import EmbeddingStore, Match
from .filters import F, Filter
from .injecting import ContentInjector
from .keyword_index import KeywordIndex
from .query import Query, QueryContext
from .query_routing import ModelQueryRouter
from .query_transforming import CompressingQueryTransformer, ExpandingQueryTransformer
from .rank_fusion import ReciprocalRankFusion
from .re_ranking import ReRanker
from .retrieval_tool import retrieval_tool
from .retrievers import EmbeddingStoreRetriever, HybridRetriever, KeywordRetriever
from .roles import Retriever, RetrieverLike
from .web_search import WebPage, WebSearchEngine, WebSearchRetriever

if TYPE_CHECKING:
    from .embedding_stores.in_memory import InMemoryEmbeddingStore
    from .embedding_stores.pgvector import PgVectorEmbeddingStore
    from .embedding_stores.qdrant import QdrantEmbeddingStore
    from .embedding_stores.sql import SqlEmbeddingStore

__all__ = [
    "CompressingQueryTransformer",
    "ContentInjector",
    "Document",
    "EmbeddingStore",
    "EmbeddingStoreRetriever",
    "ExpandingQueryTransformer",
    "F",
    "Filter",
    "HybridRetriever",
    "InMemoryEmbeddingStore",
    "KeywordIndex",
    "KeywordRetriever",
    "Match",
    "Metadata",
    "ModelQueryRouter",
    "PgVectorEmbeddingStore",
    "QdrantEmbeddingStore",
    "Query",
    "QueryContext",
    "ReRanker",
    "ReciprocalRankFusion",
    "RetrievalAugmentor",
    "RetrievalFailure",
    "Retriever",
    "RetrieverLike",
    "ScoredSegment",
    "ScoringModel",
    "SqlEmbeddingStore",
    "TextSegment",
    "WebPage",
    "WebSearchEngine",
    "WebSearchRetriever",
    "retrieval_tool",
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
