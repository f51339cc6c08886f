"""Retrieval: documents go in through an ingestor, and come back as knowledge in the prompt of a service."""

from __future__ import annotations

from ..segments import Document, Metadata, ScoredSegment, TextSegment
from .splitting import Splitter, by_line, by_sentence, by_token, by_word, code, markdown, recursive

__all__ = [
    "Document",
    "Metadata",
    "ScoredSegment",
    "Splitter",
    "TextSegment",
    "by_line",
    "by_sentence",
    "by_token",
    "by_word",
    "code",
    "markdown",
    "recursive",
]
