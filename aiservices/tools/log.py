"""The durable record of what tools have done, from which a crash can be undone.

For each call of a tool that has an undo: the intent before it runs, the outcome after it. A live invocation
holds a lease that it renews; the record of one whose lease has run out was left by a crash.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from ..driving import Driver, Heartbeat
from ..messages import ToolCall
from ..stores import Store
from .ledger import Done

CALLS: Final = "aiservices.compensation.calls"
LEASES: Final = "aiservices.compensation.leases"
LEASE_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True)
class Logged:
    """One call in the log. `order` is that of completion, `None` while nothing is known of the outcome."""

    key: str
    tool: str
    call_id: str
    arguments: str
    idempotency_key: str
    service: str
    order: int | None = None
    result: Any = None

    @property
    def value(self) -> dict[str, Any]:
        """The form it is stored in."""
        return {
            "format": 1,
            "tool": self.tool,
            "call_id": self.call_id,
            "arguments": self.arguments,
            "idempotency_key": self.idempotency_key,
            "service": self.service,
            "order": self.order,
            "result": self.result,
        }


class CompensationLog:
    """The part of the log that belongs to one invocation."""

    def __init__(self, store: Store, driver: Driver, invocation_id: str, service: str) -> None:
        self._store = store
        self._driver = driver
        self._invocation_id = invocation_id
        self._service = service
        self._entries: dict[int, Logged] = {}
        self._lease: Lease | None = None
        self._order = 0

    async def intend(self, position: int, call: ToolCall, idempotency_key: str) -> None:
        """Note that a call is about to run. Raises `StoreError`: then it must not run."""
        if self._lease is None:
            self._lease = Lease(self._store, self._invocation_id)
            await self._driver.twin(self._lease.take, self._lease.atake)
        self._lease.check()
        key = f"{self._invocation_id}/{position:06d}"
        entry = Logged(key, call.name, call.id, call.arguments, idempotency_key, self._service)
        await self._put(entry)
        self._entries[position] = entry

    async def ended(self, position: int, done: Done) -> None:
        """Note the outcome of a call: what failed needs no undo and is forgotten."""
        entry = self._entries.get(position)
        if entry is None:
            return
        if done.outcome.is_error:
            await self._forget(position)
            return
        self._order += 1
        known = Logged(
            entry.key,
            entry.tool,
            entry.call_id,
            done.ran.arguments,
            entry.idempotency_key,
            entry.service,
            self._order,
            _plain(done.outcome.value),
        )
        await self._put(known)
        self._entries[position] = known

    async def undone(self, call_id: str) -> None:
        """Forget a call that has been undone."""
        for position, entry in list(self._entries.items()):
            if entry.call_id == call_id:
                await self._forget(position)

    async def close(self, *, keep: bool) -> None:
        """Let go of the lease; `keep` what is still in the log, for it could not be undone."""
        if not keep:
            for position in list(self._entries):
                await self._forget(position)
        if self._lease is not None:
            await self._driver.twin(self._lease.leave, self._lease.aleave)

    async def _put(self, entry: Logged) -> None:
        store, value = self._store, entry.value
        await self._driver.twin(store.put, store.aput, CALLS, entry.key, value)

    async def _forget(self, position: int) -> None:
        entry = self._entries.pop(position)
        await self._driver.twin(self._store.delete, self._store.adelete, CALLS, entry.key)


class Lease:
    """The claim on an invocation's record, renewed by a thread while it is held."""

    def __init__(self, store: Store, invocation_id: str, seconds: float = LEASE_SECONDS) -> None:
        self._store = store
        self._invocation_id = invocation_id
        self._seconds = seconds
        self._version = 0
        self._heartbeat: Heartbeat | None = None

    def take(self) -> None:
        """Claim it. Raises `ConflictError` when somebody else holds it."""
        self._version = self._store.put(
            LEASES, self._invocation_id, {}, expected_version=0, expires_in=self._seconds
        )
        self._heartbeat = Heartbeat(self._seconds / 3, self._renew)

    async def atake(self) -> None:
        """See `take`."""
        self._version = await self._store.aput(
            LEASES, self._invocation_id, {}, expected_version=0, expires_in=self._seconds
        )
        self._heartbeat = Heartbeat(self._seconds / 3, self._renew)

    def check(self) -> None:
        """Raise what kept the lease from being renewed: somebody else may hold it now."""
        if self._heartbeat is not None and self._heartbeat.error is not None:
            raise self._heartbeat.error

    def leave(self) -> None:
        """Give it up."""
        self._stop()
        self._store.delete(LEASES, self._invocation_id)

    async def aleave(self) -> None:
        """See `leave`."""
        self._stop()
        await self._store.adelete(LEASES, self._invocation_id)

    def _stop(self) -> None:
        if self._heartbeat is not None:
            self._heartbeat.stop()

    def _renew(self) -> None:
        self._version = self._store.put(
            LEASES, self._invocation_id, {}, expected_version=self._version, expires_in=self._seconds
        )


def _plain(value: Any) -> Any:
    """A tool's value as the log keeps it; what JSON cannot hold is kept as nothing."""
    from pydantic_core import PydanticSerializationError, to_jsonable_python

    try:
        return to_jsonable_python(value, inf_nan_mode="null")
    except PydanticSerializationError:
        return None
