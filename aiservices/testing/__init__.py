"""Doubles for tests: models that answer from a script.

They are imported when they are first used: the plugin stands beside them, and every run of pytest loads it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .pieces import Pieces
    from .scripted import Reply, ScriptedChatModel, UnexpectedRequestError, UnusedRepliesError

__all__ = ["Pieces", "Reply", "ScriptedChatModel", "UnexpectedRequestError", "UnusedRepliesError"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(".scripted", __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
