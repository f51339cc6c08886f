"""Retrieval: documents go in through an ingestor, and come back as knowledge in the prompt of a service.

Each name is imported when it is first used: a service needs few of them, and some need an extra.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..models.scoring import ScoringModel
    from ..segments import Document, Metadata, RetrievalFailure, ScoredSegment, TextSegment
    from .augmentor import RetrievalAugmentor
    from .embedding_store import EmbeddingStore, Match
    from .embedding_stores.in_memory import InMemoryEmbeddingStore
    from .embedding_stores.pgvector import PgVectorEmbeddingStore
    from .embedding_stores.qdrant import QdrantEmbeddingStore
    from .embedding_stores.sql import SqlEmbeddingStore
    from .failures import FailedDocument, IngestionError, LoadingError
    from .fetching import aload_url, load_url
    from .filters import F, Filter
    from .ingesting import IngestionProgress, IngestionReport, Ingestor
    from .injecting import ContentInjector
    from .keyword_index import KeywordIndex
    from .loading import load_directory, load_file, load_package, stream_directory
    from .parsing import Parser
    from .query import Query, QueryContext
    from .query_routing import ModelQueryRouter
    from .query_transforming import CompressingQueryTransformer, ExpandingQueryTransformer
    from .rank_fusion import ReciprocalRankFusion
    from .re_ranking import ReRanker
    from .retrieval_as_tool import retrieval_tool
    from .retrievers import EmbeddingStoreRetriever, HybridRetriever, KeywordRetriever
    from .roles import Retriever, RetrieverLike
    from .splitting import Splitter, by_line, by_sentence, by_token, by_word, code, markdown, recursive
    from .transforming import DocumentTransformer, SegmentTransformer
    from .web_search import WebPage, WebSearchEngine, WebSearchRetriever

__all__ = [
    "CompressingQueryTransformer",
    "ContentInjector",
    "Document",
    "DocumentTransformer",
    "EmbeddingStore",
    "EmbeddingStoreRetriever",
    "ExpandingQueryTransformer",
    "F",
    "FailedDocument",
    "Filter",
    "HybridRetriever",
    "InMemoryEmbeddingStore",
    "IngestionError",
    "IngestionProgress",
    "IngestionReport",
    "Ingestor",
    "KeywordIndex",
    "KeywordRetriever",
    "LoadingError",
    "Match",
    "Metadata",
    "ModelQueryRouter",
    "Parser",
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
    "SegmentTransformer",
    "Splitter",
    "SqlEmbeddingStore",
    "TextSegment",
    "WebPage",
    "WebSearchEngine",
    "WebSearchRetriever",
    "aload_url",
    "by_line",
    "by_sentence",
    "by_token",
    "by_word",
    "code",
    "load_directory",
    "load_file",
    "load_package",
    "load_url",
    "markdown",
    "recursive",
    "retrieval_tool",
    "stream_directory",
]

_HOMES = {
    ".failures": ("FailedDocument", "IngestionError", "LoadingError"),
    ".fetching": ("aload_url", "load_url"),
    ".ingesting": ("IngestionProgress", "IngestionReport", "Ingestor"),
    ".loading": ("load_directory", "load_file", "load_package", "stream_directory"),
    ".parsing": ("Parser",),
    ".splitting": (
        "Splitter",
        "by_line",
        "by_sentence",
        "by_token",
        "by_word",
        "code",
        "markdown",
        "recursive",
    ),
    ".transforming": ("DocumentTransformer", "SegmentTransformer"),
    "..models.scoring": ("ScoringModel",),
    "..segments": ("Document", "Metadata", "RetrievalFailure", "ScoredSegment", "TextSegment"),
    ".augmentor": ("RetrievalAugmentor",),
    ".embedding_store": ("EmbeddingStore", "Match"),
    ".embedding_stores.in_memory": ("InMemoryEmbeddingStore",),
    ".embedding_stores.pgvector": ("PgVectorEmbeddingStore",),
    ".embedding_stores.qdrant": ("QdrantEmbeddingStore",),
    ".embedding_stores.sql": ("SqlEmbeddingStore",),
    ".filters": ("F", "Filter"),
    ".injecting": ("ContentInjector",),
    ".keyword_index": ("KeywordIndex",),
    ".query": ("Query", "QueryContext"),
    ".query_routing": ("ModelQueryRouter",),
    ".query_transforming": ("CompressingQueryTransformer", "ExpandingQueryTransformer"),
    ".rank_fusion": ("ReciprocalRankFusion",),
    ".re_ranking": ("ReRanker",),
    ".retrieval_as_tool": ("retrieval_tool",),
    ".retrievers": ("EmbeddingStoreRetriever", "HybridRetriever", "KeywordRetriever"),
    ".roles": ("Retriever", "RetrieverLike"),
    ".web_search": ("WebPage", "WebSearchEngine", "WebSearchRetriever"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value = getattr(import_module(_HOME_OF[name], __name__), name)
    return value
