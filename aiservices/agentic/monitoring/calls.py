"""A run as the calls that it was made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from ...messages import NO_USAGE, TokenUsage


class CallStatus(StrEnum):
    """What became of a call. A cancelled one was broken off from outside, as by leaving a stream."""

    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    SUSPENDED = "suspended"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class MonitoredCall:
    """One attempt to call an agent, and the calls that it made.

    - `id` names the call within its run; attempts that follow one another have the same.
    - `began` are the seconds from the beginning of the run, `seconds` those that it took. Neither counts the
      time for which the run was suspended.
    - `usage` counts the tokens of the models that it asked, in the calls that it made too.
    - `attempt` and `iteration` count from 1; a call is another iteration when the agent around it has called
      the same agent before.
    - `error` is what it raised, or why it was skipped; `questions` are what it waits for.
    """

    agent: str
    path: str
    id: str
    status: CallStatus
    began: float
    seconds: float
    inputs: Mapping[str, Any] = field(default_factory=dict, repr=False, hash=False)
    output: Any = field(default=None, repr=False, hash=False)
    error: str | None = None
    questions: tuple[str, ...] = ()
    usage: TokenUsage = NO_USAGE
    attempt: int = 1
    iteration: int = 1
    calls: tuple[MonitoredCall, ...] = ()

    def walk(self) -> Iterator[MonitoredCall]:
        """This call and all below it, each before those that it made."""
        yield self
        for call in self.calls:
            yield from call.walk()


@dataclass(frozen=True, slots=True)
class MonitoredRun:
    """A run of a system of agents: its `call` is that of the root.

    `began` is a moment in UTC. `stop_reason` is that of a completed run.
    """

    run_id: str
    memory_id: Any
    began: datetime
    call: MonitoredCall
    stop_reason: str = ""

    @property
    def agent(self) -> str:
        return self.call.agent

    @property
    def status(self) -> CallStatus:
        return self.call.status

    @property
    def seconds(self) -> float:
        return self.call.seconds

    @property
    def usage(self) -> TokenUsage:
        return self.call.usage

    @property
    def inputs(self) -> Mapping[str, Any]:
        return self.call.inputs

    @property
    def output(self) -> Any:
        return self.call.output

    @property
    def error(self) -> str | None:
        return self.call.error
