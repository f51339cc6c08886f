"""Retrieval: documents go in through an ingestor, and come back as knowledge in the prompt of a service."""

from __future__ import annotations

from ..segments import Document, Metadata, ScoredSegment, TextSegment
from .failures import FailedDocument, IngestionError, LoadingError
from .fetching import load_url
from .ingesting import IngestionProgress, IngestionReport, Ingestor
from .loading import load_directory, load_file, load_package, stream_directory
from .parsing import Parser
from .splitting import Splitter, by_line, by_sentence, by_token, by_word, code, markdown, recursive
from .transforming import DocumentTransformer, SegmentTransformer

__all__ = [
    "Document",
    "DocumentTransformer",
    "FailedDocument",
    "IngestionError",
    "IngestionProgress",
    "IngestionReport",
    "Ingestor",
    "LoadingError",
    "Metadata",
    "Parser",
    "ScoredSegment",
    "SegmentTransformer",
    "Splitter",
    "TextSegment",
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
    "stream_directory",
]
