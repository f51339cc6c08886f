"""Threads that live in the process."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from weakref import WeakValueDictionary

from ..driving import Driver
from ..leasing import Refusal
from ..messages import ToolCall, ToolResultMessage
from .channels import Channels
from .records import Checkpoint, Progress
from .state import AgentState


class Thread:
    """One thread: its checkpoints, oldest first, and notes of the open round."""

    __slots__ = ("__weakref__", "checkpoints", "has_owner", "id", "notes")

    def __init__(self, id: str) -> None:
        self.id = id
        self.has_owner = False
        self.checkpoints: list[Checkpoint] = []
        self.notes: dict[tuple[str, str], ToolResultMessage] = {}


class ProcessThreads:
    """Keeps named threads until they are released, others while somebody holds a state or session of them.

    An unnamed thread that waits for decisions is kept, too: somebody will come back for it.
    """

    def __init__(self, channels: Channels) -> None:
        self._channels = channels
        self._lasting: dict[str, Thread] = {}
        self._waiting: dict[str, Thread] = {}
        self._all: WeakValueDictionary[str, Thread] = WeakValueDictionary()

    def line(self, thread_id: str) -> object:
        return (id(self), thread_id)

    def turn(
        self, driver: Driver, thread_id: str, refusal: Refusal
    ) -> AbstractAsyncContextManager[str | None]:
        return nullcontext(None)

    def opened(self, thread_id: str, *, lasting: bool) -> Thread:
        thread = self._all.get(thread_id)
        if thread is None:
            self._all[thread_id] = thread = Thread(thread_id)
        if lasting and not thread.has_owner:
            self._lasting[thread_id] = thread
        return thread

    def owned(self, thread_id: str) -> Thread:
        thread = self.opened(thread_id, lasting=False)
        thread.has_owner = True
        return thread

    def ended(self, thread_id: str, *, waits: bool) -> None:
        thread = self._all.get(thread_id)
        if waits and thread is not None:
            self._waiting[thread_id] = thread
        else:
            self._waiting.pop(thread_id, None)

    async def newest(self, driver: Driver, thread_id: str) -> Checkpoint | None:
        thread = self._all.get(thread_id)
        return thread.checkpoints[-1] if thread is not None and thread.checkpoints else None

    async def history(self, driver: Driver, thread_id: str) -> list[Checkpoint]:
        thread = self._all.get(thread_id)
        return [] if thread is None else thread.checkpoints[::-1]

    async def save(
        self,
        driver: Driver,
        state: AgentState,
        nodes: tuple[str, str],
        progress: Progress,
        after: Checkpoint | None,
    ) -> Checkpoint:
        thread = self._all[state.thread_id]
        version = thread.checkpoints[-1].version + 1 if thread.checkpoints else 1
        saved = Checkpoint(self._channels.copied(state), *nodes, version, progress)
        thread.checkpoints.append(saved)
        return saved

    async def note(self, driver: Driver, thread_id: str, run_id: str, result: ToolResultMessage) -> None:
        self._all[thread_id].notes[run_id, result.tool_call_id] = result

    async def noted(
        self, driver: Driver, thread_id: str, run_id: str, calls: Sequence[ToolCall]
    ) -> dict[str, ToolResultMessage]:
        notes = self._all[thread_id].notes
        if not notes:
            return {}
        return {call.id: notes[run_id, call.id] for call in calls if (run_id, call.id) in notes}

    async def forget(self, driver: Driver, thread_id: str, run_id: str, ids: Sequence[str]) -> None:
        self._all[thread_id].notes.clear()

    async def release(self, driver: Driver, thread_id: str) -> bool:
        thread = self._all.get(thread_id)
        self._lasting.pop(thread_id, None)
        self._waiting.pop(thread_id, None)
        if thread is None or not thread.checkpoints:
            return False
        thread.checkpoints.clear()  # a session may still hold it, and begins anew
        thread.notes.clear()
        return True
