"""Taking turns across processes, for those who were in each other's way."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from random import random
from typing import Final
from weakref import ref

from ..driving import Driver
from ..errors import ConflictError, StoreError
from ..stores import Store

LEASE: Final = 5.0  # seconds after which the turn of a process that died is over
POLL: Final = 0.02
MOST_NOTED: Final = 1_000


class Contest:
    """Which conversations this process has been contesting of late."""

    def __init__(self) -> None:
        self._noted: dict[tuple[int, str, str], tuple[ref[Store], float]] = {}

    def note(self, store: Store, namespace: str, key: str) -> None:
        """There was a conflict: for a while nobody here writes without having the turn."""
        now = time.monotonic()
        if len(self._noted) >= MOST_NOTED:
            self._noted = {each: noted for each, noted in self._noted.copy().items() if noted[1] > now}
        self._noted[id(store), namespace, key] = ref(store), now + LEASE

    def is_on(self, store: Store, namespace: str, key: str) -> bool:
        """Whether there was a conflict a short while ago."""
        noted = self._noted.get((id(store), namespace, key))
        return noted is not None and noted[0]() is store and noted[1] > time.monotonic()


CONTEST: Final = Contest()


@asynccontextmanager
async def in_line(driver: Driver, store: Store, namespace: str, key: str) -> AsyncIterator[None]:
    """Have the turn of a conversation, as a lease beside it in the store.

    Writers come here when there was a conflict, and for a while after: else one who has just had the turn
    would be faster than the next, again and again. Who has waited for as long as a lease goes on without
    one, and comes again after a conflict: turns make conflicts rare, the versions make them harmless.
    """
    line = f"{namespace}.line"
    version = await _turn(driver, store, line, key)
    try:
        yield
    finally:
        if version:
            with suppress(StoreError):  # it took too long, or cannot be reached: the lease ends by itself
                await driver.twin(
                    partial(store.delete, line, key, expected_version=version),
                    partial(store.adelete, line, key, expected_version=version),
                )


async def _turn(driver: Driver, store: Store, line: str, key: str) -> int:
    """The version of the lease; 0 without one."""
    end = time.monotonic() + LEASE
    while time.monotonic() < end:
        if await driver.twin(store.get, store.aget, line, key) is None:  # asking keeps no writer waiting
            with suppress(ConflictError):
                return await driver.twin(
                    partial(store.put, line, key, True, expected_version=0, expires_in=LEASE),
                    partial(store.aput, line, key, True, expected_version=0, expires_in=LEASE),
                )
        await driver.sleep(POLL * random())
    return 0
