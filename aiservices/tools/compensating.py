"""Undoing what tools have done: in reverse, once, and honest about what could not be undone."""

from __future__ import annotations

import logging
from collections.abc import Callable
from enum import StrEnum
from typing import Final

from tenacity import AsyncRetrying, RetryError, stop_after_attempt, wait_exponential_jitter

from ..driving import Driver
from ..messages import Compensation
from .ledger import Done, Ledger
from .log import CompensationLog

ATTEMPTS: Final = 3
FIRST_WAIT: Final = 0.05
_log = logging.getLogger("aiservices")


class CompensationMode(StrEnum):
    """When the successes of an invocation are undone.

    `TOOL_ERROR`: when a call of a round fails, and when the invocation does; `INVOCATION_FAILURE`: only
    when the invocation ends in an exception or is cancelled; `OFF`: never.
    """

    TOOL_ERROR = "tool_error"
    INVOCATION_FAILURE = "invocation_failure"
    OFF = "off"


async def undo_all(
    driver: Driver,
    ledger: Ledger,
    *,
    reason: str,
    report: Callable[[Done], None] = lambda done: None,
    log: CompensationLog | None = None,
) -> dict[int, str]:
    """Undo every success that can be undone, the last to end first.

    Gives, by its index in `ledger.requested`, what the model is to be told of each call. An undo that fails
    is retried and then reported as failed; the others run all the same. Nothing is undone twice.
    """
    told: dict[int, str] = {}
    for done in reversed(ledger.done):
        if done.can_be_undone:
            done.compensation = await attempt_undo(driver, done.call.name, done.undo(), reason)
            if log is not None and done.compensation.undone:
                await log.undone(done.call.id)
            told[ledger.requested.index(done)] = _text(done.call.name, done.compensation)
            report(done)
    return told


async def attempt_undo(
    driver: Driver, name: str, prepared: Callable[[], object], reason: str
) -> Compensation:
    """Run the undo of a tool, again and again a few times when it fails."""
    try:
        async for attempt in AsyncRetrying(
            sleep=driver.sleep,
            stop=stop_after_attempt(ATTEMPTS),
            wait=wait_exponential_jitter(multiplier=FIRST_WAIT, jitter=FIRST_WAIT),
        ):
            with attempt:
                await driver.call(prepared)
    except RetryError as error:
        cause = error.last_attempt.exception()
        kind = type(cause).__name__
        _log.error("undoing tool %s failed %d times (%s)", name, ATTEMPTS, kind)
        return Compensation(undone=False, reason=reason, error=cause)
    return Compensation(undone=True, reason=reason)


def _text(name: str, compensation: Compensation) -> str:
    if compensation.undone:
        return f"Tool '{name}' was executed successfully but was rolled back {compensation.reason}"
    return (
        f"Tool '{name}' was executed successfully and should have been rolled back {compensation.reason}, "
        f"but undoing it failed ({type(compensation.error).__name__}): what it did still stands"
    )


def because_of_tools(failed: list[str]) -> str:
    """The reason when calls of a round failed."""
    return f"due to failure of tool '{failed[0]}'"


def because_of(error: BaseException) -> str:
    """The reason when the invocation failed."""
    return f"because the invocation failed ({type(error).__name__})"
