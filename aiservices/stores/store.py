"""What a store is: eight methods in four pairs, of which one half each is enough."""

from __future__ import annotations

from functools import partial
from typing import Any, Final, TypeVar

from ..closing import Closable
from ..driving import run_in_background, run_in_worker, wait_for
from .encoding import copied
from .entry import Entry

T = TypeVar("T")


class Store(Closable):
    """Versioned JSON values under a namespace and a key: memories, scopes, checkpoints, leases.

    Every write gives the entry a new version, a positive integer. `expected_version` makes a write depend
    on the entry being at that version still, 0 meaning that there is none; where it is not, nothing is
    written and `ConflictError` tells the version found. Of several writers who expect the same version
    exactly one succeeds, over all threads and processes. **A version is never used twice for a key**, also
    when the entry was deleted or has expired in between: who holds an old version cannot take a new
    entry for the one he knew. Versions need not be consecutive; only compare them.

    An entry written with `expires_in` (seconds) is a lease: after that time it is absent for every method.
    Each `put` says anew whether and when the entry expires.

    Values are copied in and out. What cannot be stored is a `StoreError` that names namespace and key, and
    so is a store that is down and an entry that cannot be read; what is stored stays as it is.

    A subclass overrides `get` or `aget`, `put` or `aput`, `delete` or `adelete`, `keys` or `akeys`; the
    other half of each pair works by way of it: blocking methods asked from asynchronous code run in a worker
    thread, asynchronous ones asked from blocking code on a background loop. A pair without any half is a
    `TypeError` when the class is created. `aiservices.testing.stores` checks all of this for any store.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        missing = [
            f"neither {name} nor a{name}"
            for name in _METHODS
            if getattr(cls, name) is getattr(Store, name) and getattr(cls, f"a{name}") is _twin(name)
        ]
        if missing:
            raise TypeError(f"{cls.__name__} overrides {', '.join(missing)}: a store needs one of each")

    def get(self, namespace: str, key: str) -> Entry | None:
        """The entry under a key, or `None` where there is none."""
        return run_in_background(self.aget(namespace, key))

    def put(
        self,
        namespace: str,
        key: str,
        value: Any,
        *,
        expected_version: int | None = None,
        expires_in: float | None = None,
    ) -> int:
        """Write an entry and return its new version. Raises `ConflictError`."""
        return run_in_background(
            self.aput(namespace, key, value, expected_version=expected_version, expires_in=expires_in)
        )

    def delete(self, namespace: str, key: str, *, expected_version: int | None = None) -> bool:
        """Delete an entry and say whether there was one. Raises `ConflictError`, also for an absent one."""
        return run_in_background(self.adelete(namespace, key, expected_version=expected_version))

    def keys(self, namespace: str, prefix: str = "") -> list[str]:
        """The keys in a namespace that begin with a prefix, exactly, sorted by code points."""
        return run_in_background(self.akeys(namespace, prefix))

    async def aget(self, namespace: str, key: str) -> Entry | None:
        """See `get`."""
        return await wait_for(run_in_worker(partial(self.get, namespace, key)))

    async def aput(
        self,
        namespace: str,
        key: str,
        value: Any,
        *,
        expected_version: int | None = None,
        expires_in: float | None = None,
    ) -> int:
        """See `put`. The value is copied before anything is awaited."""
        snapshot = copied(namespace, key, value)
        put = partial(self.put, expected_version=expected_version, expires_in=expires_in)
        return await wait_for(run_in_worker(partial(put, namespace, key, snapshot)))

    async def adelete(self, namespace: str, key: str, *, expected_version: int | None = None) -> bool:
        """See `delete`."""
        work = partial(self.delete, namespace, key, expected_version=expected_version)
        return await wait_for(run_in_worker(work))

    async def akeys(self, namespace: str, prefix: str = "") -> list[str]:
        """See `keys`."""
        return await wait_for(run_in_worker(partial(self.keys, namespace, prefix)))


_METHODS: Final = ("get", "put", "delete", "keys")


def _twin(name: str) -> object:
    return getattr(Store, f"a{name}")
