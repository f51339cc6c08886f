"""Runs as they happen: events, put together to trees of calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import reduce
from operator import add
from typing import Any, Final, assert_never

from ...messages import NO_USAGE, TokenUsage
from ..events import (
    AgentCancelled,
    AgentCompleted,
    AgentEvent,
    AgentFailed,
    AgentSkipped,
    AgentStarted,
    AgentSuspended,
    RunEnded,
    Where,
)
from ..outcomes import Completed, Failed
from .calls import CallStatus, MonitoredCall, MonitoredRun

_GOES_ON: Final = (CallStatus.SUSPENDED, CallStatus.CANCELLED)


@dataclass(frozen=True, slots=True)
class Heard:
    """An event, the moment by `time.monotonic`, and what is kept of what it says, by field of the call."""

    event: AgentEvent
    moment: float
    kept: Mapping[str, Any] = field(default_factory=dict)
    memory_id: Any = None


@dataclass(slots=True, eq=False)
class CallNotes:
    """One attempt to call an agent, so far. `since` is when it was begun or resumed."""

    where: Where
    began: float
    since: float
    attempt: int = 1
    iteration: int = 1
    status: CallStatus = CallStatus.RUNNING
    seconds: float = 0.0
    usage: TokenUsage = NO_USAGE
    inputs: Mapping[str, Any] = field(default_factory=dict)
    output: Any = None
    error: str | None = None
    questions: tuple[str, ...] = ()
    calls: list[CallNotes] = field(default_factory=list)
    counted: Counter[str] = field(default_factory=Counter)

    def keep(self, kept: Mapping[str, Any]) -> None:
        for name, value in kept.items():
            setattr(self, name, value)

    def resume(self, moment: float, attempt: int) -> None:
        self.status, self.since, self.attempt = CallStatus.RUNNING, moment, attempt
        self.error, self.questions = None, ()

    def end(self, status: CallStatus, moment: float, usage: TokenUsage) -> None:
        """It is over. Times are by the moments of events, so that calls lie within those around them."""
        self.status = status
        self.seconds += max(moment - self.since, 0.0)
        self.usage += usage

    def value(self, moment: float) -> MonitoredCall:
        """All of it as it is now."""
        calls = tuple(call.value(moment) for call in self.calls)
        seconds, usage = self.seconds, self.usage
        if self.status is CallStatus.RUNNING:
            seconds += max(moment - self.since, 0.0)
            below = reduce(add, (call.usage for call in calls), NO_USAGE)
            usage = below if below.total > usage.total else usage
        return MonitoredCall(
            agent=self.where.agent,
            path=self.where.path,
            id=self.where.call,
            status=self.status,
            began=self.began,
            seconds=seconds,
            inputs=self.inputs,
            output=self.output,
            error=self.error,
            questions=self.questions,
            usage=usage,
            attempt=self.attempt,
            iteration=self.iteration,
            calls=calls,
        )


class RunNotes:
    """A run, so far. Its clock stands still while it is not running."""

    def __init__(self, where: Where, moment: float, date: datetime, memory_id: Any) -> None:
        self.root = CallNotes(where, 0.0, moment)
        self.ended: float | None = None
        self._origin = moment
        self._date = date
        self._memory_id = memory_id
        self._stop_reason = ""
        self._latest = {where.call: self.root}

    @property
    def status(self) -> CallStatus:
        return self.root.status

    def value(self, moment: float) -> MonitoredRun:
        """All of it as it is now."""
        run_id = self.root.where.run_id
        return MonitoredRun(run_id, self._memory_id, self._date, self.root.value(moment), self._stop_reason)

    def hear(self, heard: Heard) -> None:
        """Note an event of this run. What was heard before, or of no call that is known, changes nothing."""
        event = heard.event
        call: CallNotes | None
        match event:
            case AgentStarted(where, _, attempt):
                call = self._begin(where, heard.moment, attempt)
                call.keep(heard.kept)
            case AgentFailed(where, _, seconds, attempt):
                call = self._latest.get(where.call)
                if call is None or (call.status is not CallStatus.RUNNING and call.attempt != attempt):
                    call = self._begin(where, heard.moment - seconds, attempt)  # it failed to begin
                self._end(call, CallStatus.FAILED, heard)
            case AgentSkipped(where):
                call = self._latest.get(where.call) or self._begin(where, heard.moment, 1)
                self._end(call, CallStatus.SKIPPED, heard)
            case AgentCompleted(where):
                self._end(self._latest.get(where.call), CallStatus.COMPLETED, heard)
            case AgentSuspended(where):
                self._end(self._latest.get(where.call), CallStatus.SUSPENDED, heard)
            case AgentCancelled(where):
                self._end(self._latest.get(where.call), CallStatus.CANCELLED, heard)
            case RunEnded(_, outcome):
                self._conclude(outcome, heard)
            case _:
                assert_never(event)

    def _begin(self, where: Where, moment: float, attempt: int) -> CallNotes:
        known = self._latest.get(where.call)
        if known is None:
            return self._add(where, moment, attempt)
        if known.status is CallStatus.RUNNING and known.attempt == attempt:
            return known
        if known is self.root or self._goes_on(known, attempt):
            if known is self.root and self.ended is not None:
                self._origin += moment - self.ended
                self.ended = None
            known.resume(moment, attempt)
            return known
        self._forget_below(where.call)
        return self._add(where, moment, attempt, after=known)

    def _goes_on(self, known: CallNotes, attempt: int) -> bool:
        """Whether a run that was resumed goes on with this call; what failed by itself is called anew."""
        if attempt > known.attempt:
            return False
        return known.status in _GOES_ON or (known.status is CallStatus.FAILED and bool(known.calls))

    def _add(self, where: Where, moment: float, attempt: int, after: CallNotes | None = None) -> CallNotes:
        """Note a new call, or another attempt after an earlier one."""
        around = self._latest.get(where.call.rpartition(".")[0], self.root)
        call = CallNotes(where, moment - self._origin, moment, attempt)
        if after is None:
            around.counted[where.path] += 1
            call.iteration = around.counted[where.path]
            around.calls.append(call)
        else:
            call.iteration = after.iteration
            around.calls.insert(around.calls.index(after) + 1, call)
        self._latest[where.call] = call
        return call

    def _forget_below(self, call: str) -> None:
        """Those that are called from now on belong to another attempt."""
        for each in [each for each in self._latest if each.startswith(f"{call}.")]:
            del self._latest[each]

    def _end(self, call: CallNotes | None, status: CallStatus, heard: Heard) -> None:
        if call is None or call.status is not CallStatus.RUNNING:
            return
        call.keep(heard.kept)
        call.end(status, heard.moment, getattr(heard.event, "usage", NO_USAGE))
        if call is self.root:
            self.ended = heard.moment

    def _conclude(self, outcome: Any, heard: Heard) -> None:
        """The last word on a run: its result may have failed to be saved after the root had completed."""
        if isinstance(outcome, Completed):
            self._stop_reason = outcome.stop_reason
        elif isinstance(outcome, Failed):
            self.root.keep(heard.kept)
            self.root.status = CallStatus.FAILED
