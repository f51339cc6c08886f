"""Telling listeners, and putting what was done on the result or on the error that ends a call."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import Any, Final

from ..errors import AiServiceError
from ..events import CallCompleted, CallFailed, CallStarted
from ..invocation import Invocation, Proceed, changed
from ..metering import spend
from ..results import Result

_calls: Final = count()


async def observe(call: Invocation, proceed: Proceed) -> Result[Any]:
    """Report the beginning and the end of the call, exactly one of each."""
    journal, number = call.journal, next(_calls)
    try:
        call.notify(CallStarted)
        result = _noted(_whole(await proceed(call), call), call)
    except BaseException as error:
        if isinstance(error, AiServiceError):
            _note(error, call, number)
        spend(journal.usage)
        call.notify(CallFailed, error, journal.text)
        raise
    spend(result.usage)
    call.notify(CallCompleted, result.content, result.usage)
    return result


def _noted(result: Result[Any], call: Invocation) -> Result[Any]:
    """The result with why an answer was asked for again and what guardrails remarked."""
    reasks, findings = call.journal.reasks, call.journal.findings
    if not reasks and not findings:
        return result
    return changed(result, reasks=tuple(reasks), guardrail_findings=(*findings, *result.guardrail_findings))


def _whole(result: Result[Any], call: Invocation) -> Result[Any]:
    """The result with what a stage left out of it: a request it made and whose answer it did not choose."""
    if not isinstance(result, Result):
        raise TypeError(f"{call.method.where}: a stage gave a {type(result).__name__}: it gives a Result")
    if result.responses == tuple(call.journal.responses):
        return result
    told, others = list(result.responses), []
    for response in call.journal.responses:
        if response in told:
            told.remove(response)
        else:
            others.append(response)
    usage = sum((response.usage for response in others), result.usage)
    return replace(result, usage=usage, responses=(*others, *result.responses))


def _note(error: AiServiceError, call: Invocation, number: int) -> None:
    """Put on the error what this call did.

    What it already carries is kept when it comes from a call within this one, so that nothing spent is
    lost; when it is from a call before (a model may raise one exception object again and again) it is not.
    """
    done = call.journal
    usage, responses, executions = done.usage, tuple(done.responses), done.ledger.executions
    notes = vars(error)
    if notes.get("_call", -1) > number:
        usage, responses = usage + error.usage, (*responses, *error.responses)
        executions = (*executions, *error.tool_executions)
    error.usage, error.responses, error.tool_executions = usage, responses, executions
    notes["_call"] = number
