"""The embedding store in Qdrant. Every module of this package needs the extra `qdrant`."""

from __future__ import annotations

from ....errors import MissingExtraError

try:
    import qdrant_client  # noqa: F401 - only to see that it is there
except ImportError as missing:
    raise MissingExtraError("QdrantEmbeddingStore", extra="qdrant") from missing

from .store import QdrantEmbeddingStore

__all__ = ["QdrantEmbeddingStore"]
