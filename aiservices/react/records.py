"""What is kept of a thread: checkpoints, with what a run needs to go on from one."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from ..driving import Driver
from ..invocation import changed
from ..leasing import Refusal
from ..messages import (
    NO_USAGE,
    AiMessage,
    ChatMessage,
    FrozenMapping,
    TokenUsage,
    ToolCall,
    ToolResultMessage,
)
from .decisions import Decision
from .state import AgentState, Snapshot

START: Final = "start"
AGENT: Final = "agent"
ACTION: Final = "action"
END: Final = "end"
NODES: Final = (START, AGENT, ACTION, END)
_NOBODY: Final = frozenset[str]()


@dataclass(frozen=True)  # without slots, for `changed`
class Progress:
    """How far a run has come: for its limits, and for the calls of the round that is open.

    `run_id` names the run for good: keys of its tool calls are made of it. `guarded` are the calls of the
    open round that somebody has to decide on, as far as that `is_judged`, `decisions` what was decided, and
    `results` those of its calls that had ended when it began to wait, `skills` those that were active when
    it was asked for, where the state knows others. `forgotten` are ids of calls that the state knows no more.
    """

    run_id: str
    steps: int = 0
    rounds: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    usage: TokenUsage = NO_USAGE
    guarded: tuple[str, ...] = ()
    is_judged: bool = True
    decisions: Mapping[str, Decision] = field(default_factory=dict)
    results: tuple[ToolResultMessage, ...] = ()
    skills: tuple[str, ...] | None = None
    forgotten: frozenset[str] = _NOBODY

    def with_round(
        self,
        guarded: tuple[str, ...] = (),
        *,
        is_judged: bool = True,
        skills: tuple[str, ...] | None = None,
    ) -> Progress:
        """The same run with a round that has only begun, or with none: nothing is left of the one before."""
        is_same = self.is_judged is is_judged and self.skills is skills  # none, nearly always
        if is_same and not (guarded or self.guarded or self.decisions or self.results):
            return self
        return changed(
            self, guarded=guarded, is_judged=is_judged, decisions=FrozenMapping(), results=(), skills=skills
        )

    @property
    def undecided(self) -> frozenset[str]:
        """The calls of the open round that somebody still has to decide on."""
        if not self.guarded:
            return _NOBODY
        return frozenset(id for id in self.guarded if id not in self.decisions)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What a `Snapshot` tells, the run it belongs to, and its `place`, which is for who keeps it."""

    state: AgentState
    node: str
    next: str
    version: int
    progress: Progress
    place: Any = None

    @property
    def snapshot(self) -> Snapshot:
        return Snapshot(self.state, self.node, self.next, self.version)


class Threads(Protocol):
    """Where threads are kept. The notes are results of calls whose round is not over."""

    def line(self, thread_id: str) -> object:
        """What runs of one thread wait in line for."""
        ...

    def turn(
        self, driver: Driver, thread_id: str, refusal: Refusal
    ) -> AbstractAsyncContextManager[str | None]:
        """Have the turn of a thread among all processes, and wait for it until there is a refusal.

        What it gives is the holder of the lease, where there is one.
        """
        ...

    def opened(self, thread_id: str, *, lasting: bool) -> object:
        """Get ready for a thread; what is returned keeps one that is not to last."""
        ...

    def owned(self, thread_id: str) -> object:
        """What a session holds so that its thread lasts as long as the session does."""
        ...

    def ended(self, thread_id: str, *, waits: bool) -> None:
        """A run is over, or waits for decisions."""
        ...

    async def newest(self, driver: Driver, thread_id: str) -> Checkpoint | None: ...
    async def history(self, driver: Driver, thread_id: str) -> list[Checkpoint]: ...

    async def save(
        self,
        driver: Driver,
        state: AgentState,
        nodes: tuple[str, str],
        progress: Progress,
        after: Checkpoint | None,
    ) -> Checkpoint: ...

    async def note(self, driver: Driver, thread_id: str, run_id: str, result: ToolResultMessage) -> None: ...

    async def noted(
        self, driver: Driver, thread_id: str, run_id: str, calls: Sequence[ToolCall]
    ) -> dict[str, ToolResultMessage]: ...

    def forget(
        self, driver: Driver, thread_id: str, run_id: str, ids: Sequence[str]
    ) -> Coroutine[Any, Any, None]: ...
    async def release(self, driver: Driver, thread_id: str) -> bool: ...


async def results_of(
    threads: Threads, driver: Driver, thread_id: str, progress: Progress, calls: Sequence[ToolCall]
) -> dict[str, ToolResultMessage]:
    """The results of those calls that have ended in a round that is not over."""
    known = {result.tool_call_id: result for result in progress.results}
    return known | await threads.noted(driver, thread_id, progress.run_id, calls)


def open_calls(state: AgentState) -> AiMessage | None:
    """The answer whose calls have no results yet."""
    last = state.messages[-1] if state.messages else None
    return last if isinstance(last, AiMessage) and last.tool_calls else None


def has_open_round(messages: Sequence[ChatMessage]) -> bool:
    """Whether something is said after calls before each of them has its result."""
    missing: set[str] = set()
    for message in messages:
        if isinstance(message, ToolResultMessage):
            missing.discard(message.tool_call_id)
        elif missing:
            return True
        elif isinstance(message, AiMessage):
            missing = {call.id for call in message.tool_calls}
    return bool(missing) and not isinstance(messages[-1], AiMessage)
