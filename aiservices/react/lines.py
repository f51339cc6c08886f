"""Whose turn it is on a thread."""

from __future__ import annotations

import sys
import time
from typing import Any, Final

from ..driving import Driver, NestedLocks, WouldWaitForItselfError
from ..errors import MemoryInUseError
from ..leasing import Meeting
from .reading import Reading
from .setup import Setup

LOCKS = NestedLocks()
"""One line for each thread of the process, whichever executor and object it is reached by."""

_BY_A_RUN: Final = (
    "the run that this call is made from, or that waits for it: use another thread, or call afterwards"
)
_BY_A_STREAM: Final = (
    "a stream that this code reads: read it to its end, or close it, which `break` alone does not do to an "
    "asynchronous one"
)


class Line:
    """Being the one whose turn it is on a thread. Raises `MemoryInUseError` where that would be for ever.

    For a turn that another process has, it waits no longer than a run may take. A `reading` is told the
    holder of the lease, where there is one.
    """

    def __init__(self, driver: Driver, setup: Setup, thread_id: str, reading: Reading | None = None) -> None:
        self._reading = reading
        self._key = setup.threads.line(thread_id)
        self._lock = driver.lock(LOCKS, self._key)
        self._turn = setup.threads.turn(driver, thread_id, self._refusal)
        self._what = f"{setup.name}: the thread {thread_id!r}"
        self._patience = setup.limits.timeout
        self._since = time.monotonic()

    async def __aenter__(self) -> None:
        if Reading.is_open(key=self._key):
            raise self._in_use(_BY_A_STREAM)
        try:
            await self._lock.__aenter__()
        except WouldWaitForItselfError:
            raise self._in_use() from None
        try:
            holder = await self._turn.__aenter__()
        except BaseException:
            await self._lock.__aexit__(*sys.exc_info())
            raise
        if self._reading is not None:
            self._reading.holder = holder

    async def __aexit__(self, *error: Any) -> None:
        if self._reading is not None:
            self._reading.keeper = None  # who has read may know the reading for longer
        try:
            await self._turn.__aexit__(*error)
        finally:
            await self._lock.__aexit__(*error)

    def _in_use(self, by: str = _BY_A_RUN) -> MemoryInUseError:
        return MemoryInUseError(f"{self._what} is in use by {by}")

    def _refusal(self, meeting: Meeting) -> MemoryInUseError | None:
        if Reading.is_open(holder=meeting.holder):
            return self._in_use(_BY_A_STREAM)
        if meeting.waits_for_us:
            return self._in_use()
        if self._patience is None or time.monotonic() < self._since + self._patience:
            return None
        return MemoryInUseError(
            f"{self._what} has been in use by another process for {self._patience} seconds"
        )
