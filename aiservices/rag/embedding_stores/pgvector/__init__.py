"""The embedding store in PostgreSQL. Every module of this package needs the extra `pgvector`."""

from __future__ import annotations

from ....errors import MissingExtraError

try:
    import pgvector.sqlalchemy  # noqa: F401 - only to see that they are there
    import psycopg  # noqa: F401
    import sqlalchemy.ext.asyncio  # noqa: F401
except ImportError as missing:
    raise MissingExtraError("PgVectorEmbeddingStore", extra="pgvector") from missing

from .store import PgVectorEmbeddingStore

__all__ = ["PgVectorEmbeddingStore"]
