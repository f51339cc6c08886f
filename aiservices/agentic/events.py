"""What listeners of a system of agents hear, and what `stream` gives."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeAlias

from ..events import hearing as _hearing
from ..messages import NO_USAGE, TokenUsage
from .outcomes import AgentOutcome, Pending

_log = logging.getLogger("aiservices")


@dataclass(frozen=True, slots=True)
class Where:
    """The call that an event is about.

    `run_id` is the same for all events of a run, also after it was resumed. `call` names the call within the
    run: the numbers of the calls around it, joined by dots, so that `0.2` was made by `0`; it is empty for
    the root. `path` is the agent's name below those around it, joined by slashes.
    """

    run_id: str
    agent: str
    path: str
    call: str
    memory_id: Any = None


@dataclass(frozen=True, slots=True)
class AgentStarted:
    """An agent begins, with these inputs; `attempt` counts from 1."""

    where: Where
    inputs: Mapping[str, Any] = field(repr=False, hash=False)
    attempt: int = 1

    @property
    def agent(self) -> str:
        return self.where.agent


@dataclass(frozen=True, slots=True)
class AgentCompleted:
    """An agent has given its output. `usage` counts the tokens of the models it asked."""

    where: Where
    output: Any = field(repr=False)
    seconds: float
    usage: TokenUsage = NO_USAGE

    @property
    def agent(self) -> str:
        return self.where.agent


@dataclass(frozen=True, slots=True)
class AgentFailed:
    """An attempt of an agent has raised an error; it may be tried again."""

    where: Where
    error: BaseException
    seconds: float
    attempt: int = 1
    usage: TokenUsage = NO_USAGE

    @property
    def agent(self) -> str:
        return self.where.agent


@dataclass(frozen=True, slots=True)
class AgentSkipped:
    """An optional agent did not run, because nobody has given this key."""

    where: Where
    missing: str

    @property
    def agent(self) -> str:
        return self.where.agent


@dataclass(frozen=True, slots=True)
class AgentSuspended:
    """An agent waits for answers: a human, or a composite one of whose agents does."""

    where: Where
    pending: tuple[Pending, ...] = ()
    seconds: float = 0.0
    usage: TokenUsage = NO_USAGE

    @property
    def agent(self) -> str:
        return self.where.agent


@dataclass(frozen=True, slots=True)
class AgentCancelled:
    """An agent was broken off from outside: its task was cancelled, or the stream of events was left.

    Only listeners hear of it: of a stream that was left nobody reads on.
    """

    where: Where
    seconds: float
    attempt: int = 1
    usage: TokenUsage = NO_USAGE

    @property
    def agent(self) -> str:
        return self.where.agent


@dataclass(frozen=True, slots=True)
class RunEnded:
    """The run is over, or waits; it is the last event. A run that is cancelled ends without it."""

    where: Where
    outcome: AgentOutcome

    @property
    def agent(self) -> str:
        return self.where.agent


AgentEvent: TypeAlias = (
    AgentStarted | AgentCompleted | AgentFailed | AgentSkipped | AgentSuspended | AgentCancelled | RunEnded
)
"""Everything that a listener of agents can hear."""

AGENT_EVENTS: Final = AgentEvent.__args__


class AgentEventListener(Protocol):
    """An object that hears events of agents."""

    def on_event(self, event: AgentEvent, /) -> object: ...


AgentListener: TypeAlias = Callable[[AgentEvent], object] | AgentEventListener
"""A callable of one event, or an object with `on_event`."""


def hearing(listener: Any) -> Callable[[AgentEvent], object]:
    """The callable behind a listener of either form. Raises `TypeError` for what could not hear."""
    heard: Any = _hearing(listener)
    return heard  # type: ignore[no-any-return]


def tell(listeners: Sequence[Callable[[AgentEvent], object]], event: AgentEvent) -> None:
    """Tell every listener, in order. An error of one is logged and hurts neither the run nor the others."""
    for listener in listeners:
        try:
            listener(event)
        except Exception:
            _log.warning("a listener failed on %s", type(event).__name__, exc_info=True)
