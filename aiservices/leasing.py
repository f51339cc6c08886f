"""Who runs what is saved in a store: a lease beside it, and a look at whether its owner is still alive.

A lease runs out by itself when its process has died. Where the owner was a process of this machine there is
no need to wait for that: it is gone when its number is, or belongs to a process that began later. Of what
this process holds itself it knows without looking.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeAlias

from .driving import Driver
from .errors import ConflictError, StoreError
from .stores import Entry, Store
from .tools.leases import Lease

LEASE_SECONDS: Final = 15.0
_LOOK_AGAIN: Final = 0.02


@dataclass(frozen=True, slots=True)
class Meeting:
    """A `holder` of the lease who `has_renewed` it since he was met first, or who `waits_for_us`."""

    holder: str | None
    has_renewed: bool
    waits_for_us: bool


Refusal: TypeAlias = Callable[[Meeting], Exception | None]
"""What ends the waiting for who holds the lease; `None`: wait on."""

_held: Final[set[str]] = set()
"""The holders in this process."""
_holding: ContextVar[tuple[str, ...]] = ContextVar("aiservices_leases", default=())
"""The holders within whose time this is done."""


class Leased:
    """Hold the lease of a key, as the holder that this gives. While another one does, `refusal` is asked.

    One that cannot be given up, because the store is down, runs out, and is in nobody's way in this process.
    """

    # No asynchronous generator: a loop that is shut down closes all of those together.

    def __init__(self, driver: Driver, store: Store, namespace: str, key: str, refusal: Refusal) -> None:
        self._driver = driver
        self._place = (store, namespace, key)
        self._refusal = refusal
        self._lease: Lease
        self._leaving: ExitStack

    async def __aenter__(self) -> str:
        holder = os.urandom(8).hex()  # two who hold it one after the other are not one who has renewed it
        with ExitStack() as stack:
            _held.add(holder)
            stack.callback(_held.discard, holder)
            self._lease = await _taken(self._driver, *self._place, holder, self._refusal)
            stack.enter_context(_within(holder))
            self._leaving = stack.pop_all()
        return holder

    async def __aexit__(self, *error: object) -> None:
        lease = self._lease
        with self._leaving, suppress(StoreError):
            await self._driver.finish(self._driver.twin(lease.leave, lease.aleave))


@contextmanager
def _within(holder: str) -> Iterator[None]:
    outer = _holding.get()
    inner = (*outer, holder)
    _holding.set(inner)
    try:
        yield
    finally:
        if _holding.get() is inner:  # a stream that is dropped may end in another context
            _holding.set(outer)


async def _taken(
    driver: Driver, store: Store, namespace: str, key: str, myself: str, refusal: Refusal
) -> Lease:
    met: tuple[Any, int] = (None, 0)
    while True:
        lease = Lease(store, key, LEASE_SECONDS, namespace=namespace, owner=_owner(myself))
        try:
            await driver.twin(lease.take, lease.atake)
        except ConflictError:
            held = await driver.twin(store.get, store.aget, namespace, key)
        else:
            return lease
        if held is None:
            continue
        if _is_dead(held.value):
            await _taken_away(driver, store, namespace, key, held)
            continue
        holder = held.value.get("holder")
        has_renewed = met[0] == holder and met[1] != held.version
        if error := refusal(Meeting(holder, has_renewed, waits_for_us=holder in _holding.get())):
            raise error
        met = (holder, held.version)
        await driver.sleep(_LOOK_AGAIN)


async def _taken_away(driver: Driver, store: Store, namespace: str, key: str, held: Entry) -> None:
    async def adelete() -> bool:
        return await store.adelete(namespace, key, expected_version=held.version)

    with suppress(ConflictError):  # somebody else was faster
        await driver.twin(lambda: store.delete(namespace, key, expected_version=held.version), adelete)


def _owner(holder: str) -> Mapping[str, Any]:
    pid = os.getpid()
    return {
        "holder": holder,
        "process": _process(pid),
        "machine": _machine(),
        "pid": pid,
        "began": _beginning(pid),
    }


@cache
def _process(pid: int) -> str:
    """Names this process; a child made by `fork` has another name."""
    return os.urandom(8).hex()


def _is_dead(owner: Any) -> bool:
    """Whether the owner is known to be gone; unknown is no."""
    if owner.get("process") == _process(os.getpid()):
        return owner.get("holder") not in _held
    machine = _machine()
    if machine is None or owner.get("machine") != machine or owner.get("began") is None:
        return False
    return bool(_beginning(owner["pid"]) != owner["began"])


@cache
def _machine() -> str | None:
    """Names this boot of this machine and the space in which its process numbers count."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return None


def _beginning(pid: int) -> str | None:
    """When a process began, in ticks since the boot; `None` when there is none, or it has died."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in ("Z", "X") else fields[19]
