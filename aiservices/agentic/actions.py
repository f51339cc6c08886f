"""What a planner may want next: a closed union of small frozen classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, TypeAlias

from ..errors import AgentError


class Gathered(Enum):
    """A result that the loop puts together from what the sub-agents gave."""

    LAST = "last"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Step:
    """One call of an agent.

    With `arguments` it sees these beside the scope, and writes to a scope of its own that ends with it.
    """

    agent: Any
    arguments: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """Call these agents, side by side when there are several."""

    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Noop:
    """Nothing for now: other agents are still running."""


@dataclass(frozen=True, slots=True)
class Done:
    """The composite has this value; `reason` says why it stops, in a word."""

    value: Any = Gathered.LAST
    reason: str = "done"


@dataclass(frozen=True, slots=True)
class Suspend:
    """Stop here until the run is resumed; then the planner is asked again."""


Action: TypeAlias = Call | Noop | Done | Suspend
"""What `next_action` gives: `call(...)`, `noop()`, `done(...)` or `suspend()`."""

_NOOP: Final = Noop()
_SUSPEND: Final = Suspend()


def call(*agents: Any) -> Action:
    """Call agents of the planner's, each as it was given to the composite or as the context names it.

    Several run side by side. Raises `AgentError` for none.
    """
    if not agents:
        raise AgentError("call() names no agent: done() ends, and noop() waits for those that run")
    return Call(tuple(Step(agent) for agent in agents))


def noop() -> Action:
    """Nothing for now. Only where other agents are running: with nothing to wait for it is an error."""
    return _NOOP


def done(value: Any = Gathered.LAST, *, reason: str = "done") -> Action:
    """End with a value, by default that of the agent that was called last, once all others have ended."""
    return Done(value, reason)


def suspend() -> Action:
    """Stop until somebody resumes the run."""
    return _SUSPEND
