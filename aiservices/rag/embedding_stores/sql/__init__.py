"""The embedding store in a database. Every module of this package needs the extra `sql`."""

from __future__ import annotations

from ....errors import MissingExtraError

try:
    import sqlalchemy.ext.asyncio  # noqa: F401 - only to see that it is there
except ImportError as missing:
    raise MissingExtraError("SqlEmbeddingStore", extra="sql") from missing

from .store import SqlEmbeddingStore

__all__ = ["SqlEmbeddingStore"]
