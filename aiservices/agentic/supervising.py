"""How a supervisor works: what its model sees, and what it gives."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from ..models import ChatModel
from .cards import Roster
from .scope import AgenticScope

REQUEST: Final = "request"
RequestGenerator: TypeAlias = Callable[[AgenticScope], str | Awaitable[str]]


class ContextStrategy(StrEnum):
    """What the model sees of its work so far: the newest exchanges, a summary, or both."""

    CHAT_MEMORY = "chat_memory"
    SUMMARIZATION = "summarization"
    CHAT_MEMORY_AND_SUMMARIZATION = "chat_memory_and_summarization"


class ResponseStrategy(StrEnum):
    """What a supervisor gives: what its last agent gave, the model's own response, or the better of the two.

    Where there is only one of them it is that. The model itself scores them, and its own has to be better.
    """

    LAST = "last"
    SUMMARY = "summary"
    SCORED = "scored"


@dataclass(frozen=True, slots=True, kw_only=True)
class Supervision:
    """What a supervisor is made with; see the builder."""

    name: str
    model: ChatModel
    roster: Roster
    max_invocations: int
    context: ContextStrategy
    response: ResponseStrategy
    supervisor_context: str | None
    request: RequestGenerator | None
