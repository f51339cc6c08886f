"""Who runs a saved run, so that only one does."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Final

from ..driving import Driver
from ..errors import AgentError
from ..leasing import Leased, Meeting
from ..stores import Store

LEASES: Final = "aiservices.agentic.leases"


def owned(driver: Driver, store: Store, key: str, *, patient: bool) -> AbstractAsyncContextManager[object]:
    """Hold the lease of a run. Raises `AgentError` when somebody else runs it.

    A patient caller waits for one who may be about to end, until that one renews the lease.
    """

    def refusal(meeting: Meeting) -> AgentError | None:
        if patient and not meeting.has_renewed and not meeting.waits_for_us:
            return None
        return AgentError(f"the run {key!r} is being run at this moment, and only one may do that")

    return Leased(driver, store, LEASES, key, refusal)
