"""Retrieval: documents go in through an ingestor, and come back as knowledge in the prompt of a service."""

from __future__ import annotations

from ..segments import Document, Metadata, ScoredSegment, TextSegment

__all__ = ["Document", "Metadata", "ScoredSegment", "TextSegment"]
