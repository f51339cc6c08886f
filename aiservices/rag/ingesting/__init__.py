"""Ingesting: documents become segments with vectors in a store, whole or not at all, never twice."""

from .ingestor import Ingestor
from .reports import IngestionProgress, IngestionReport

__all__ = ["IngestionProgress", "IngestionReport", "Ingestor"]
