"""Stores: versioned JSON values under a namespace and a key, behind one interface.

`SqlStore` and `RedisStore` need an extra each and are imported when they are first named.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .entry import Entry
from .memory import InMemoryStore, MemoryStore
from .store import Store

if TYPE_CHECKING:
    from .redis import RedisStore
    from .sql import SqlStore

__all__ = ["Entry", "InMemoryStore", "MemoryStore", "RedisStore", "SqlStore", "Store"]

_LATER = {"RedisStore": ".redis", "SqlStore": ".sql"}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value = getattr(import_module(_LATER[name], __name__), name)
    return value
