"""Undoing what tools have done when the invocation fails."""

from __future__ import annotations

from typing import Any

from ..invocation import Invocation, Proceed
from ..results import Result
from ..tools import because_of, undo_all
from ._use_tools import reporting


async def roll_back(call: Invocation, proceed: Proceed) -> Result[Any]:
    """Undo every success when the call ends in an exception, is cancelled or its stream is closed."""
    try:
        return await proceed(call)
    except BaseException as error:
        await call.driver.finish(_undone(call, error))
        raise


async def _undone(call: Invocation, error: BaseException) -> None:
    ledger = call.journal.ledger
    told = await undo_all(call.driver, ledger, reason=because_of(error), report=reporting(call))
    ledger.rewrite(told, ())
