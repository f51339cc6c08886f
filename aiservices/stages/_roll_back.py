"""Undoing what tools have done when the invocation fails."""

from __future__ import annotations

import logging
from collections.abc import Coroutine
from typing import Any

from ..errors import StoreError
from ..invocation import Invocation, Proceed
from ..results import Result
from ..tools import LEASE_SECONDS, CompensationLog, because_of, undo_all
from ..tools.undertaking import take_part
from ._use_tools import reporting

_log = logging.getLogger("aiservices")


async def roll_back(
    call: Invocation, proceed: Proceed, *, lease_seconds: float = LEASE_SECONDS
) -> Result[Any]:
    """Undo every success when the call ends in an exception, is cancelled or its stream is closed.

    What a process does that crashes can be undone by others after `lease_seconds`.
    """
    store = call.setup.compensation_log
    if store is not None:
        call.journal.log = CompensationLog(
            store,
            call.driver,
            call.context.invocation_id,
            call.method.service,
            lease_seconds=lease_seconds,
        )
    try:
        result = await proceed(call)
        if call.journal.log is not None:  # while this fails, recover would undo what the caller relies on
            await call.driver.finish(call.journal.log.close(keep=_failed_undos(call)))
    except BaseException as error:
        try:
            await call.driver.finish(_undone(call, error))
        finally:  # also of a roll-back that was interrupted
            if call.journal.log is not None:
                call.journal.log.abandon()
        raise
    take_part(call.journal.ledger, reporting(call))
    return result


async def _undone(call: Invocation, error: BaseException) -> None:
    ledger, log = call.journal.ledger, call.journal.log
    await _noted(log.reopen() if log is not None else None, call, error)
    ledger.undoing = reason = because_of(error)
    await undo_all(call.driver, ledger, reason=reason, report=reporting(call), log=log)
    await _noted(log.close(keep=_failed_undos(call)) if log is not None else None, call, error)
    for effect in ledger.effects:
        if effect.compensation is not None and effect.compensation.error is not None:
            why = type(effect.compensation.error).__name__  # its text is for the listeners
            error.add_note(f"what the tool {effect.tool.name!r} did could not be undone: {why}")


async def _noted(
    telling_the_log: Coroutine[Any, Any, None] | None, call: Invocation, error: BaseException
) -> None:
    """Tell the log. What ended the call matters more than a log that cannot be told."""
    if telling_the_log is None:
        return
    try:
        await telling_the_log
    except StoreError as failure:
        _log.error("%s: the compensation log could not be told of the end: %s", call.method.where, failure)
        error.add_note(f"the compensation log could not be told of the end: {failure}")


def _failed_undos(call: Invocation) -> set[str]:
    """What stays in the log for `recover` to try once more."""
    return {
        effect.key
        for effect in call.journal.ledger.effects
        if effect.compensation is not None and not effect.compensation.undone
    }
