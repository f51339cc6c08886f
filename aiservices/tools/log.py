"""The durable record of what tools have done, from which a crash can be undone.

For each run of a tool that has an undo: the intent before it, the outcome after it. A live invocation holds
a lease that it renews; the record of one whose lease has run out was left by a crash.
"""

from __future__ import annotations

from collections.abc import Collection
from copy import copy
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from ..driving import Driver, KeyedLocks, Places
from ..errors import StoreError, ToolFailedError
from ..messages import ToolCall
from ..stores import Store
from .leases import LEASE_SECONDS, Lease
from .ledger import Effect

CALLS: Final = "aiservices.compensation.calls"
COMMITTED: Final = "committed"
_FORMAT: Final = 1
_ITSELF: Final = "the invocation itself"


@dataclass(frozen=True, slots=True)
class Logged:
    """One run in the log. `order` is that of completion, `None` while nothing is known of the outcome."""

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
        return {"format": _FORMAT, **asdict(self)}


def read_logged(key: str, value: Any) -> Logged:
    """The run behind a stored value. Raises `StoreError` for a form that this version does not know."""
    try:
        fields = dict(value)
        if fields.pop("format") == _FORMAT:
            return Logged(**fields)
    except (TypeError, ValueError, KeyError):
        pass
    raise StoreError(
        f"{key!r} in {CALLS!r} has a form that this version does not know", namespace=CALLS, key=key
    )


class CompensationLog:
    """The part of the log that belongs to one invocation."""

    def __init__(
        self,
        store: Store,
        driver: Driver,
        invocation_id: str,
        service: str,
        *,
        lease_seconds: float = LEASE_SECONDS,
    ) -> None:
        self._store = store
        self._driver = driver
        self._invocation_id = invocation_id
        self._service = service
        self._entries: dict[str, Logged] = {}
        self._is_committed = False
        self._lease = Lease(store, invocation_id, lease_seconds)
        self._taking = KeyedLocks()
        self._holders = {_ITSELF}
        self._over: set[str] = set()
        self._forgotten: dict[str, Logged] = {}  # by an end that was to be a success
        self._guard = Places(1)

    def driven_by(self, driver: Driver) -> CompensationLog:
        """The same log for code that another driver runs."""
        other = copy(self)
        other._driver = driver
        return other

    async def intend(self, key: str, call: ToolCall, idempotency_key: str) -> None:
        """Note that a tool is about to run. Raises `StoreError`: then it must not run."""
        async with self._driver.lock(self._taking, _ITSELF):  # the calls of a round come at once
            self._check_wanted(key, call)
            if not self._lease.is_taken:
                await self._driver.finish(self._driver.twin(self._lease.take, self._lease.atake))
        self._lease.check()
        intended = Logged(call.name, call.id, call.arguments, idempotency_key, self._service)
        async with self._driver.lock(self._taking, key):
            with self._guard.held():
                self._check_wanted(key, call)
                self._entries[key] = intended
            await self._put(key, intended)

    async def ended(self, effect: Effect) -> None:
        """Note what a run has done, once, unless it has been undone and forgotten meanwhile."""
        async with self._driver.lock(self._taking, effect.key):
            intended = self._entries.get(effect.key)
            if intended is not None and intended.order is None:
                outcome = replace(intended, order=effect.order, result=_plain(effect.value))
                await self._put(effect.key, outcome)
                self._entries[effect.key] = outcome

    async def forget(self, key: str) -> None:
        """Forget a run that has done nothing, or that has been undone.

        What still writes of it, in a thread that nobody waits for, is waited for: it would bring it back.
        """
        async with self._driver.lock(self._taking, key):
            await self._driver.twin(self._store.delete, self._store.adelete, CALLS, self._place(key))
            self._entries.pop(key, None)

    def hold(self, key: str) -> None:
        """Keep the lease for a run that may go on when the invocation is over."""
        self._holders.add(key)

    def let_go(self, key: str) -> None:
        """A run has ended in time, or never begins: its invocation still holds the lease."""
        with self._guard.held():
            self._holders.discard(key)
            self._over.add(key)

    async def close(self, *, keep: Collection[str]) -> None:
        """Forget all but the runs to `keep` and those that still go on, and let go of the lease.

        The record of a success disappears at once, as far as a crash can see: a part of it must not be
        undone when the rest was forgotten.
        """
        while gone := self._gone(keep):
            if len(gone) > 1:
                self._is_committed = True
                places = [self._place(key) for key in gone]
                await self._write(COMMITTED, {"format": _FORMAT, "gone": places})
            for key in gone:
                entry = self._entries[key]
                await self.forget(key)
                self._forgotten[key] = entry
            await self._take_back_commit()
        await self._leave_lease()

    def _gone(self, keep: Collection[str]) -> list[str]:
        """What is left to forget. Where that is nothing, runs that end from now on are not left to us."""
        with self._guard.held():
            gone = [key for key in list(self._entries) if key not in keep and key not in self._holders]
            if not gone:
                self._holders.discard(_ITSELF)
            return gone

    def leave_to_invocation(self, key: str) -> bool:
        """Be done with a run that has ended late, if its invocation goes on; else it is ours to forget."""
        with self._guard.held():
            if _ITSELF in self._holders:
                self._holders.discard(key)
                return True
            return False

    async def reopen(self) -> None:
        """Take back that runs are to be forgotten, also those that are: they may have to be undone."""
        self._holders.add(_ITSELF)
        await self._take_back_commit()
        if self._forgotten and not self._lease.is_taken:
            await self._driver.twin(self._lease.take, self._lease.atake)
        for key, entry in self._forgotten.items():
            self._entries[key] = entry
            await self._put(key, entry)
        self._forgotten = {}

    async def _take_back_commit(self) -> None:
        if self._is_committed:
            await self.forget(COMMITTED)
            self._is_committed = False

    async def release(self, key: str) -> None:
        """Be done with a run that went on; what is written of it stays. The last gives up the lease."""
        with self._guard.held():
            self._holders.discard(key)
            self._entries.pop(key, None)
        await self._leave_lease()

    def abandon(self) -> None:
        """Renew the lease no more, also where the log could not be closed: the rest is left to `recover`."""
        with self._guard.held():
            self._holders.discard(_ITSELF)
            if not self._holders:
                self._lease.stop()

    async def _leave_lease(self) -> None:
        """Give up the lease, unless somebody needs it."""
        async with self._driver.lock(self._taking, _ITSELF):  # perhaps it is just being taken
            if self._lease.is_taken and not self._holders:
                await self._driver.twin(self._lease.leave, self._lease.aleave)

    def _check_wanted(self, key: str, call: ToolCall) -> None:
        """Raise `ToolFailedError` for a run that was given up: the record may be closed already."""
        if key in self._over:
            raise ToolFailedError("nobody waits for this call any more", call=call)

    async def _put(self, key: str, entry: Logged) -> None:
        """Write, to the end: who gives up waits for what is on its way, so that nothing overtakes it."""
        await self._driver.finish(self._write(key, entry.value))

    async def _write(self, key: str, value: Any) -> None:
        await self._driver.twin(self._store.put, self._store.aput, CALLS, self._place(key), value)

    def _place(self, key: str) -> str:
        return f"{self._invocation_id}/{key}"


def _plain(value: Any) -> Any:
    """A tool's value as the log keeps it; what JSON cannot hold is kept as nothing."""
    from pydantic_core import from_json, to_json

    try:
        return from_json(to_json(value, inf_nan_mode="null"))
    except (ValueError, RecursionError):  # also of serializers, encodings and cycles
        return None
