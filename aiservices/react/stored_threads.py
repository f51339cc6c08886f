"""Threads that live in a store: a chain of checkpoints, and a head that tells the newest.

Of the messages a checkpoint tells those that its parent does not have, but all of them at the end of a run.

One process at a time has the turn of a thread, by a lease. Writing the head is what makes a checkpoint
count, and depends on the head that was read: who has lost its turn without knowing gets `ConflictError`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, TypeAlias

from ..driving import Driver
from ..errors import ConflictError, StoreError
from ..leasing import Leased, Refusal
from ..messages import ToolCall, ToolResultMessage, messages_from_json, messages_to_json
from ..stores import Entry, InMemoryStore, Store
from ..stores.encoding import encode
from .channels import Channels
from .forms import CheckpointForm
from .records import END, Checkpoint, Progress
from .state import AgentState

HEADS: Final = "aiservices.react.threads"
CHECKPOINTS: Final = "aiservices.react.checkpoints"
CALLS: Final = "aiservices.react.calls"
LEASES: Final = "aiservices.react.leases"


_OWN: Final = re.compile(r"\d+-[0-9a-f]{12}")
"""What the key of a checkpoint has after its thread's name; names of other threads may begin like it."""
WHOLE_EVERY: Final = 16
"""So many checkpoints are read at most for one that tells only what was said since the one before."""
Form: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a checkpoint is: its key, that of the one before, and the version of the head that names it."""

    key: str
    parent: str | None
    head: int


class StoredThreads:
    """Keeps threads in a store."""

    def __init__(self, store: Store, channels: Channels, form: CheckpointForm) -> None:
        self._store = store
        self._channels = channels
        self._form = form

    def line(self, thread_id: str) -> object:
        return (id(self._store), thread_id)

    def turn(
        self, driver: Driver, thread_id: str, refusal: Refusal
    ) -> AbstractAsyncContextManager[str | None]:
        if isinstance(self._store, InMemoryStore):  # no other process has it
            return nullcontext(None)
        return Leased(driver, self._store, LEASES, thread_id, refusal)

    def opened(self, thread_id: str, *, lasting: bool) -> None:
        pass

    def owned(self, thread_id: str) -> None:
        pass

    def ended(self, thread_id: str, *, waits: bool) -> None:
        pass

    async def newest(self, driver: Driver, thread_id: str) -> Checkpoint | None:
        head = await self._get(driver, HEADS, thread_id)
        if head is None:
            return None
        return await self._read(driver, thread_id, head.value["key"], head.version, {})

    async def history(self, driver: Driver, thread_id: str) -> list[Checkpoint]:
        found: list[Checkpoint] = []
        head, forms = await self._get(driver, HEADS, thread_id), dict[str, Form]()
        key: str | None = None if head is None else head.value["key"]
        while head is not None and key is not None:
            checkpoint = await self._read(driver, thread_id, key, head.version, forms)
            if checkpoint is None:
                break
            found.append(checkpoint)
            key = checkpoint.place.parent
        return found

    async def save(
        self,
        driver: Driver,
        state: AgentState,
        nodes: tuple[str, str],
        progress: Progress,
        after: Checkpoint | None,
    ) -> Checkpoint:
        before: Place | None = None if after is None else after.place
        version = 1 if after is None else after.version + 1
        thread_id = state.thread_id
        key = f"{thread_id}/{version:06d}-{os.urandom(6).hex()}"
        parent = None if before is None else before.key
        values = self._plain_channels(state, nodes[0], key)
        checkpoint = Checkpoint(self._channels.copied(state), *nodes, version, progress)
        form = {"parent": parent, **self._form.written(checkpoint, values, _kept(checkpoint, after))}
        await self._put(driver, CHECKPOINTS, key, form, 0)
        try:
            head = await self._put(
                driver, HEADS, thread_id, {"key": key}, 0 if before is None else before.head
            )
        except ConflictError as error:
            await self._delete(driver, CHECKPOINTS, key)
            error.add_note(f"another process has continued the thread {thread_id!r} meanwhile")
            raise
        return replace(checkpoint, place=Place(key, parent, head))

    async def note(self, driver: Driver, thread_id: str, run_id: str, result: ToolResultMessage) -> None:
        await self._put(driver, CALLS, f"{run_id}/{result.tool_call_id}", messages_to_json((result,)), None)

    async def noted(
        self, driver: Driver, thread_id: str, run_id: str, calls: Sequence[ToolCall]
    ) -> dict[str, ToolResultMessage]:
        found: dict[str, ToolResultMessage] = {}
        for call in calls:
            entry = await self._get(driver, CALLS, f"{run_id}/{call.id}")
            if entry is not None:
                (result,) = messages_from_json(entry.value)
                assert isinstance(result, ToolResultMessage)
                found[call.id] = result
        return found

    async def forget(self, driver: Driver, thread_id: str, run_id: str, ids: Sequence[str]) -> None:
        for id in ids:
            await self._delete(driver, CALLS, f"{run_id}/{id}")

    async def release(self, driver: Driver, thread_id: str) -> bool:
        checkpoints = await self.history(driver, thread_id)
        await self._delete(driver, HEADS, thread_id)
        for run_id in dict.fromkeys(item.progress.run_id for item in checkpoints):
            prefix = f"{run_id}/"
            for key in await driver.twin(self._store.keys, self._store.akeys, CALLS, prefix):
                await self._delete(driver, CALLS, key)
        prefix = f"{thread_id}/"
        for key in await driver.twin(self._store.keys, self._store.akeys, CHECKPOINTS, prefix):
            if _OWN.fullmatch(key, len(prefix)):  # also one that no head came to name
                await self._delete(driver, CHECKPOINTS, key)
        return bool(checkpoints)

    async def _read(
        self, driver: Driver, thread_id: str, key: str, head: int, forms: dict[str, Form]
    ) -> Checkpoint | None:
        """The checkpoint at a key. `forms` are those that were read already, and those that are now."""
        form = await self._form_at(driver, key, forms)
        if form is None:
            return None
        before: list[Form] = []
        last: Form | None = form
        while last is not None and last.get("kept"):
            last = await self._form_at(driver, last["parent"], forms)
            before += [] if last is None else [last]
        checkpoint = self._form.read(thread_id, key, form, before[::-1])
        return replace(checkpoint, place=Place(key, form["parent"], head))

    async def _form_at(self, driver: Driver, key: str, forms: dict[str, Form]) -> Form | None:
        if key not in forms:
            entry = await self._get(driver, CHECKPOINTS, key)
            if entry is None:
                return None
            forms[key] = entry.value
        return forms[key]

    def _plain_channels(self, state: AgentState, node: str, key: str) -> dict[str, Any]:
        """The user's values as JSON. Raises `StoreError` naming thread, node and channel of what is none."""
        plain: dict[str, Any] = {}
        for name, value in state.channels.items():
            try:
                plain[name] = self._channels.plain(name, value)
                encode(CHECKPOINTS, key, plain[name])
            except (StoreError, ValueError, TypeError, AttributeError) as error:
                raise StoreError(
                    f"thread {state.thread_id!r}: the state after the node {node!r} cannot be kept, because "
                    f"of its channel {name!r}, a {type(value).__name__} (give Channel(kind=...), or JSON "
                    f"values): {error}",
                    namespace=CHECKPOINTS,
                    key=key,
                ) from error
        return plain

    async def _get(self, driver: Driver, namespace: str, key: str) -> Entry | None:
        return await driver.twin(self._store.get, self._store.aget, namespace, key)

    async def _put(self, driver: Driver, namespace: str, key: str, value: Any, expected: int | None) -> int:
        put = partial(self._store.put, expected_version=expected)
        aput = partial(self._store.aput, expected_version=expected)
        return await driver.twin(put, aput, namespace, key, value)

    async def _delete(self, driver: Driver, namespace: str, key: str) -> None:
        await driver.twin(self._store.delete, self._store.adelete, namespace, key)


def _kept(checkpoint: Checkpoint, after: Checkpoint | None) -> int:
    """How many messages of a checkpoint are those of the one it comes after, all of them if any."""
    if after is None or checkpoint.next == END or checkpoint.version % WHOLE_EVERY == 0:
        return 0
    before = after.state.messages
    return len(before) if checkpoint.state.messages[: len(before)] == before else 0
