"""The claim of one process on the record of an invocation, or of another piece of work."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from ..driving import Heartbeat, wait_for
from ..errors import ConflictError, StoreError
from ..stores import Store

LEASES: Final = "aiservices.compensation.leases"
LEASE_SECONDS: Final = 30.0


class Lease:
    """The claim on an invocation's record, renewed by a thread while it is held.

    It is lost when somebody else has taken it, or when it could not be renewed in time. `owner` is what its
    entry says of whoever holds it.
    """

    def __init__(
        self,
        store: Store,
        invocation_id: str,
        seconds: float = LEASE_SECONDS,
        *,
        namespace: str = LEASES,
        owner: Mapping[str, Any] | None = None,
    ) -> None:
        self._store = store
        self._invocation_id = invocation_id
        self._seconds = seconds
        self._namespace = namespace
        self._owner = dict(owner or {})
        self._version = 0
        self._ends = 0.0
        self._failure: StoreError | None = None
        self._heartbeat: Heartbeat | None = None

    @property
    def is_taken(self) -> bool:
        return self._heartbeat is not None

    def take(self) -> None:
        """Claim it. Raises `ConflictError` when somebody else holds it."""
        began = time.monotonic()
        self._taken(
            began,
            self._store.put(
                self._namespace,
                self._invocation_id,
                self._owner,
                expected_version=0,
                expires_in=self._seconds,
            ),
        )

    async def atake(self) -> None:
        """See `take`."""
        began = time.monotonic()
        self._taken(
            began,
            await self._store.aput(
                self._namespace,
                self._invocation_id,
                self._owner,
                expected_version=0,
                expires_in=self._seconds,
            ),
        )

    def check(self) -> None:
        """Raise `StoreError` when the claim is lost: somebody else may have taken it."""
        if time.monotonic() >= self._ends or isinstance(self._failure, ConflictError):
            raise StoreError(
                f"the claim on the compensation log of invocation {self._invocation_id} was lost "
                f"({self._failure or 'it was not renewed in time'}): what it did is left to recover",
                namespace=self._namespace,
                key=self._invocation_id,
            ) from self._failure

    def stop(self) -> None:
        """Renew it no more: it runs out."""
        if self._heartbeat is not None:
            self._heartbeat.stop()

    def leave(self) -> None:
        """Give it up, unless somebody else has it."""
        if self._heartbeat is not None:
            self._heartbeat.stop().result()
        with suppress(ConflictError):
            self._store.delete(self._namespace, self._invocation_id, expected_version=self._version)
        self._heartbeat = None

    async def aleave(self) -> None:
        """See `leave`."""
        if self._heartbeat is not None:
            await wait_for(self._heartbeat.stop())
        with suppress(ConflictError):
            await self._store.adelete(self._namespace, self._invocation_id, expected_version=self._version)
        self._heartbeat = None

    def _taken(self, began: float, version: int) -> None:
        self._version, self._ends = version, began + self._seconds
        self._heartbeat = Heartbeat(self._seconds / 3, self._renew)

    def _renew(self) -> bool:
        began = time.monotonic()
        try:
            self._version = self._store.put(
                self._namespace,
                self._invocation_id,
                self._owner,
                expected_version=self._version,
                expires_in=self._seconds,
            )
        except ConflictError as conflict:
            self._failure = conflict
            return False
        except StoreError as error:  # the store may be back before the claim runs out
            self._failure = error
        else:
            self._ends, self._failure = began + self._seconds, None
        return True
