"""How a run ends: completed, suspended or failed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from .scope import AgenticScope


@dataclass(frozen=True, slots=True)
class Pending:
    """An answer that a run waits for. `inputs` are what the person was to be shown."""

    id: str
    agent: str
    question: str
    inputs: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Completed:
    """The run came to its end. `stop_reason` says why: `done`, or a planner's own word such as `limit`."""

    value: Any
    scope: AgenticScope = field(repr=False)
    stop_reason: str = "done"


@dataclass(frozen=True, slots=True)
class Suspended:
    """The run waits for answers; `resume` takes them."""

    pending: tuple[Pending, ...]
    scope: AgenticScope = field(repr=False)


@dataclass(frozen=True, slots=True)
class Failed:
    """The run raised this error. With a store, `resume` goes on at the agent that failed."""

    error: Exception
    scope: AgenticScope = field(repr=False)


AgentOutcome: TypeAlias = Completed | Suspended | Failed
"""How a run ended."""
