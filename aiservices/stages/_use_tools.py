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
    Round,
    ToolRegistry,
    ToolRequest,
    because_of_tools,
    ids_in,
    in_turns,
    is_immediate,
    run_round,
    undo_all,
    undo_late,
)


async def use_tools(call: Invocation, proceed: Proceed) -> Result[Any]:
    """Offer the tools, run what the model asks for, and proceed again with the results."""
    using = _UsingTools(call, proceed)
    await in_turns(using.ask, using.act)
    return using.result


class _UsingTools:
    """The two sides of the loop, and how far the invocation has come."""

    result: Result[Any]
    _registry: ToolRegistry

    def __init__(self, call: Invocation, proceed: Proceed) -> None:
        self._call = call
        self._proceed = proceed
        self._offering = Offering(call.setup.assortment, call.driver)
        self._caller = _caller(call)
        self._taken = ids_in(call.history)

    async def ask(self) -> AiMessage:
        offered = self._offering.fixed
        if offered is None:
            offered = await self._offering.next(await _tool_request(self._call))
        self._registry = offered
        self.result = await self._proceed(changed(self._call, tools=offered.specs))
        message: AiMessage = self.result.content
        return message

    async def act(self, message: AiMessage) -> bool:
        call, registry = self._call, self._registry
        toolbox, journal = call.setup.toolbox, call.journal
        usage = journal.usage if toolbox.limits.max_tokens is not None else NO_USAGE
        entered = await run_round(
            message, registry, toolbox, self._caller, journal.ledger, usage=usage, taken=self._taken
        )
        self._call = changed(call, exchange=(*call.exchange, *entered.messages))
        if is_immediate(entered.results, registry):
            self.result = _immediate(entered, self._call, self.result)
            return False
        self._call = await _compensated(entered, self._call)
        return True


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
