"""Undoing what tools have done when the invocation fails."""

from __future__ import annotations

from typing import Any

from ..invocation import Invocation, Proceed
from ..results import Result
from ..tools import CompensationLog, because_of, undo_all
from ._use_tools import reporting


async def roll_back(call: Invocation, proceed: Proceed) -> Result[Any]:
    """Undo every success when the call ends in an exception, is cancelled or its stream is closed."""
    store = call.setup.compensation_log
    if store is not None:
        call.journal.log = CompensationLog(
            store, call.driver, call.context.invocation_id, call.method.service
        )
    try:
        result = await proceed(call)
    except BaseException as error:
        await call.driver.finish(_undone(call, error))
        raise
    if call.journal.log is not None:
        await call.driver.finish(call.journal.log.close(keep=False))
    return result


async def _undone(call: Invocation, error: BaseException) -> None:
    ledger, log = call.journal.ledger, call.journal.log
    told = await undo_all(call.driver, ledger, reason=because_of(error), report=reporting(call), log=log)
    ledger.rewrite(told, ())
    if log is not None:
        await log.close(keep=True)
