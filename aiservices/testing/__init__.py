"""Doubles for tests: models that answer from a script."""

from .scripted import Reply, ScriptedChatModel, UnexpectedRequestError, UnusedRepliesError

__all__ = ["Reply", "ScriptedChatModel", "UnexpectedRequestError", "UnusedRepliesError"]
