"""Retrieval: documents go in through an ingestor, and come back as knowledge in the prompt of a service."""

from __future__ import annotations

from ..models.scoring import ScoringModel
from ..segments import Document, Metadata, RetrievalFailure, ScoredSegment, TextSegment
from .augmentor import RetrievalAugmentor
from .contents import Retriever, RetrieverLike
from .injecting import ContentInjector
from .query import Query, QueryContext
from .query_routing import ModelQueryRouter
from .query_transforming import CompressingQueryTransformer, ExpandingQueryTransformer
from .rank_fusion import ReciprocalRankFusion
from .re_ranking import ReRanker
from .retrievers import EmbeddingStoreRetriever, HybridRetriever, KeywordRetriever
from .web_search import WebPage, WebSearchEngine, WebSearchRetriever

__all__ = [
    "CompressingQueryTransformer",
    "ContentInjector",
    "Document",
    "EmbeddingStoreRetriever",
    "ExpandingQueryTransformer",
    "HybridRetriever",
    "KeywordRetriever",
    "Metadata",
    "ModelQueryRouter",
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
    "TextSegment",
    "WebPage",
    "WebSearchEngine",
    "WebSearchRetriever",
]
