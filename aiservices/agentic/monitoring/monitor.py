"""A listener that keeps what it hears."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from ...driving import Inbox
from ..building import AgentLike, as_agent
from ..events import (
    AgentCompleted,
    AgentEvent,
    AgentFailed,
    AgentSkipped,
    AgentStarted,
    AgentSuspended,
    RunEnded,
)
from ..outcomes import Failed
from .calls import CallStatus, MonitoredRun
from .noting import Heard, RunNotes
from .report import page

Redact: TypeAlias = Callable[[str, Any], Any]
"""What to keep in place of a value, given its name."""

_GROUPS: Final = (
    (CallStatus.COMPLETED, CallStatus.SKIPPED),
    (CallStatus.FAILED,),
    (CallStatus.SUSPENDED, CallStatus.CANCELLED),
)
_BEGIN: Final = AgentStarted | AgentFailed | AgentSkipped


class Monitor:
    """Keeps the last runs of the agents it listens to.

    Of those that have completed, of those that have failed, and of those that wait or were cancelled, it
    keeps the last `max_runs` each; none for 0. Those that are running are kept beside. A run that is resumed
    goes on under the same entry. One monitor may listen to any number of systems, in any thread.

    It keeps the values that agents are given and give, not copies. `redact(name, value)` gives what to keep
    in their place: for inputs under their keys, and under `output`, `error`, `question` and `memory_id`.
    Where it raises an error, the value is not kept.

    Given to an agent within a system, it keeps each call of that agent as a run. Raises `ValueError` for a
    `max_runs` that is no whole number from 0.
    """

    def __init__(self, max_runs: int = 100, *, redact: Redact | None = None) -> None:
        self._max_runs = _checked(max_runs)
        self._redact = redact
        self._runs: dict[tuple[str, str], RunNotes] = {}
        self._inbox = Inbox(self._note)

    @property
    def max_runs(self) -> int:
        """How many runs of each group are kept. Setting it lower lets go of the oldest ones at once."""
        return self._max_runs

    @max_runs.setter
    def max_runs(self, number: int) -> None:
        with self._inbox.settled():
            self._max_runs = _checked(number)
            self._trim()

    @property
    def runs(self) -> tuple[MonitoredRun, ...]:
        """The runs as they are now, in the order in which they began."""
        with self._inbox.settled():
            moment = time.monotonic()
            return tuple(run.value(moment) for run in self._runs.values())

    def clear(self) -> None:
        """Let go of all runs but those that are running."""
        with self._inbox.settled():
            self._runs = {key: run for key, run in self._runs.items() if run.ended is None}

    def html(self, *agents: AgentLike) -> str:
        """The runs as a page that needs nothing else; before them how these agents hang together."""
        return page(self.runs, [as_agent(agent) for agent in agents])

    def on_event(self, event: AgentEvent, /) -> None:
        """Hear an event."""
        memory_id = event.where.memory_id
        shown = None if memory_id is None else self._shown("memory_id", memory_id)
        self._inbox.put(Heard(event, time.monotonic(), self._kept(event), shown))

    def __repr__(self) -> str:
        return f"Monitor(max_runs={self._max_runs})"

    def _note(self, heard: Heard) -> None:
        run = self._run_of(heard)
        if run is None:
            return
        run.hear(heard)
        if run.ended is not None:
            self._trim()

    def _run_of(self, heard: Heard) -> RunNotes | None:
        """The run that an event belongs to, begun now if it begins."""
        where = heard.event.where
        for call in _around(where.call):
            if found := self._runs.get((where.run_id, call)):
                return found
        if not isinstance(heard.event, _BEGIN):
            return None
        began = heard.moment - getattr(heard.event, "seconds", 0.0)
        run = RunNotes(where, began, datetime.now(UTC), heard.memory_id)
        self._runs[where.run_id, where.call] = run
        return run

    def _trim(self) -> None:
        for group in _GROUPS:
            ended = [(run.ended, key) for key, run in self._runs.items() if run.status in group]
            ended.sort(key=lambda each: each[0] or 0.0)
            for _, key in ended[: max(len(ended) - self._max_runs, 0)]:
                del self._runs[key]

    def _kept(self, event: AgentEvent) -> Mapping[str, Any]:
        """What is kept of an event. Not done while noting: `redact` is the user's and may be slow."""
        match event:
            case AgentStarted(_, inputs):
                shown = {key: self._shown(key, value) for key, value in inputs.items()}
                return {"inputs": MappingProxyType(shown)}
            case AgentCompleted(_, output):
                return {"output": self._shown("output", output)}
            case AgentFailed(_, error) | RunEnded(_, Failed(error)):
                return {"error": str(self._shown("error", _told(error)))}
            case AgentSkipped(_, missing):
                return {"error": f"nobody has given {missing!r}"}
            case AgentSuspended(_, pending):
                asked = tuple(str(self._shown("question", each.question)) for each in pending)
                return {"questions": asked}
            case _:
                return {}

    def _shown(self, name: str, value: Any) -> Any:
        if self._redact is None:
            return value
        try:
            return self._redact(name, value)
        except Exception as error:
            return f"(not kept: redact raised {type(error).__name__})"


def _checked(number: int) -> int:
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        raise ValueError(f"max_runs is {number!r}: give a whole number from 0")
    return number


def _around(call: str) -> list[str]:
    """The calls around a call and itself, the outermost first."""
    parts = call.split(".") if call else []
    return [".".join(parts[:depth]) for depth in range(len(parts) + 1)]


def _told(error: BaseException) -> str:
    try:
        said = str(error)
    except Exception:
        said = "(it cannot say what)"
    return f"{type(error).__name__}: {said}" if said else type(error).__name__
