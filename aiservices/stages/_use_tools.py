"""Model and tools in turn, until the model asks for no more."""

from __future__ import annotations

from functools import partial
from typing import Any

from ..errors import ImmediateValueError
from ..events import Compensated, CompensationFailed, ToolFinished, ToolStarted
from ..invocation import Invocation, Proceed, changed
from ..messages import NO_USAGE, AiMessage
from ..results import Result
from ..tools import (
    Caller,
    CompensationMode,
    Done,
    Offering,
    ReturnBehavior,
    Round,
    ToolRegistry,
    ToolRequest,
    because_of_tools,
    ids_in,
    run_round,
    undo_all,
    undo_late,
)


async def use_tools(call: Invocation, proceed: Proceed) -> Result[Any]:
    """Offer the tools, run what the model asks for, and proceed again with the results."""
    setup = call.setup
    toolbox, ledger = setup.toolbox, call.journal.ledger
    offering, caller = Offering(setup.assortment, call.driver), _caller(call)
    taken = ids_in(call.history)
    while True:
        registry = await offering.next(await _tool_request(call))
        result = await proceed(changed(call, tools=registry.specs))
        message: AiMessage = result.content
        if not message.tool_calls:
            return result
        usage = call.journal.usage if toolbox.limits.max_tokens is not None else NO_USAGE
        entered = await run_round(message, registry, toolbox, caller, ledger, usage=usage, taken=taken)
        call = changed(call, exchange=(*call.exchange, *entered.messages))
        if _is_immediate(entered, registry):
            return _immediate(entered, call, result)
        call = await _compensated(entered, call)


async def _compensated(entered: Round, call: Invocation) -> Invocation:
    """Undo what was done when a call of this round failed, and let the conversation tell so.

    Where a failed call is no reason to undo the others, what it has done itself is undone all the same.
    """
    failed = [result.tool_name for result in entered.results if result.is_error]
    mode, ledger = call.setup.compensation, call.journal.ledger
    if not failed or mode is CompensationMode.OFF:
        return call
    all_of_them = mode is CompensationMode.TOOL_ERROR
    undoing = undo_all(
        call.driver,
        ledger,
        reason=because_of_tools(failed),
        of=lambda done: all_of_them or done.outcome.is_error,
        report=reporting(call),
        log=call.journal.log,
    )
    await call.driver.finish(undoing)
    return changed(call, exchange=ledger.rewritten(call.exchange))


def reporting(call: Invocation) -> Any:
    """Tells the listeners of an undo."""

    def report(done: Done) -> None:
        undone = done.compensation is not None and done.compensation.undone
        call.notify(Compensated if undone else CompensationFailed, done.execution)

    return report


async def _tool_request(call: Invocation) -> ToolRequest:
    request = await call.request()
    return ToolRequest(tuple(request.messages), call.context.memory_id, call.context.parameters)


def _caller(call: Invocation) -> Caller:
    off = call.setup.compensation is CompensationMode.OFF
    return Caller(
        driver=call.driver,
        service=call.method.service,
        invocation_id=call.context.invocation_id,
        parameters=call.context.parameters,
        memory_id=call.context.memory_id,
        log=call.journal.log,
        deadline=call.deadline,
        started=lambda asked: call.notify(ToolStarted, asked),
        finished=lambda done: call.notify(ToolFinished, done.execution),
        flush=call.flush,
        late=None if off else partial(undo_late, log=call.journal.log, report=reporting(call)),
    )


def _is_immediate(entered: Round, registry: ToolRegistry) -> bool:
    if any(result.is_error for result in entered.results):
        return False
    behaviors = [registry[result.tool_name].returns for result in entered.results]
    return behaviors[-1] is ReturnBehavior.IMMEDIATE_IF_LAST or all(
        behavior is not ReturnBehavior.TO_MODEL for behavior in behaviors
    )


def _immediate(entered: Round, call: Invocation, result: Result[Any]) -> Result[Any]:
    """The result without another request; a plain return type gets the one value there is."""
    executions = call.journal.ledger.executions
    answer = call.method.answer
    value: Any = None
    if not answer.wrapped:
        values = [done.value for done in executions[-len(entered.results) :] if done.value is not None]
        if len(values) > 1 or (values and not answer.accepts(values[0])):
            kinds = ", ".join(type(value).__name__ for value in values)
            raise ImmediateValueError(
                f"{call.method.where} cannot return what its immediate tools gave ({kinds}): "
                "declare -> Result[...] and read .tool_executions",
                call=executions[-1].call,
            )
        value = values[0] if values else None
    return changed(result, content=value, tool_executions=executions, exchange=call.exchange, immediate=True)
