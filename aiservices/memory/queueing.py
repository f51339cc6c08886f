"""Taking turns across processes, for those who were in each other's way."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from random import random
from typing import Final

from ..driving import Driver
from ..errors import ConflictError, StoreError
from ..stores import Store

LEASE: Final = 5.0  # seconds after which the turn of a process that died is over
POLL: Final = 0.02
MOST_NOTED: Final = 1_000


class Contest:
    """Which conversations this process has been contesting of late."""

    def __init__(self) -> None:
        self._until: dict[object, float] = {}

    def note(self, key: object) -> None:
        """There was a conflict: for a while nobody here writes without having the turn."""
        now = time.monotonic()
        if len(self._until) >= MOST_NOTED:
            self._until = {each: until for each, until in self._until.copy().items() if until > now}
        self._until[key] = now + LEASE

    def __contains__(self, key: object) -> bool:
        return self._until.get(key, 0) > time.monotonic()


CONTEST: Final = Contest()


@asynccontextmanager
async def in_line(driver: Driver, store: Store, namespace: str, key: str) -> AsyncIterator[None]:
    """Have the turn of a conversation, as a lease beside it in the store.

    Writers come here when there was a conflict, and for a while after: else one who has just had the turn
    would be faster than the next, again and again. Who has waited for as long as a lease goes on without
    one: turns make conflicts rare, and it is the versions that make them harmless.
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
        try:
            return await driver.twin(
                partial(store.put, line, key, True, expected_version=0, expires_in=LEASE),
                partial(store.aput, line, key, True, expected_version=0, expires_in=LEASE),
            )
        except ConflictError:
            await driver.sleep(POLL * random())
    return 0
