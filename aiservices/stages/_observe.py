"""Telling listeners, and putting what was done on the error that ends a call."""

from __future__ import annotations

from typing import Any

from ..errors import AiServiceError
from ..events import CallCompleted, CallFailed, CallStarted
from ..invocation import Invocation, Proceed
from ..results import Result


async def observe(call: Invocation, proceed: Proceed) -> Result[Any]:
    """Report the beginning and the end of the call."""
    journal = call.journal
    call.notify(CallStarted)
    try:
        result = await proceed(call)
    except BaseException as error:
        if isinstance(error, AiServiceError):
            error.usage, error.responses = journal.usage, tuple(journal.responses)
        call.notify(CallFailed, error, journal.responses[-1].text if journal.responses else None)
        raise
    call.notify(CallCompleted, result.content, result.usage)
    return result
