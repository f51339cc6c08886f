"""One round: the calls of an answer are run, and every one of them gets a result."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any

from ..errors import LimitExceededError
from ..messages import NO_USAGE, AiMessage, TokenUsage, ToolCall, ToolResultMessage
from .functions import ReturnBehavior, Tool
from .identifying import with_unique_ids
from .ledger import Done, Ledger, Round
from .limits import check_arguments, check_calls, check_tokens
from .running import CallRun
from .toolbox import Caller, Toolbox


async def in_turns(
    ask: Callable[[], Awaitable[AiMessage | None]],
    act: Callable[[AiMessage], Awaitable[bool]],
    *,
    message: AiMessage | None = None,
) -> None:
    """Model and tools in turn, until the model asks for no more: the one loop of services and agents.

    `ask` gives the next answer, `None` where there is to be none; `act` runs the calls of one and says
    whether to go on. With a `message` its calls come first.
    """
    while True:
        if message is None:
            message = await ask()
        if message is None or not message.tool_calls or not await act(message):
            return
        message = None


async def run_round(
    message: AiMessage,
    tools: Mapping[str, Tool[..., Any]],
    toolbox: Toolbox,
    caller: Caller,
    ledger: Ledger,
    *,
    usage: TokenUsage = NO_USAGE,
    taken: Iterable[str] = (),
) -> Round:
    """Run the calls of an answer and enter the round in the ledger.

    `taken` are ids of earlier conversation. Raises what a policy raises, and `LimitExceededError`; the
    round is entered all the same, each call with a result, also when the invocation is cancelled meanwhile.
    """
    message = with_unique_ids(message, {*taken, *(done.call.id for done in ledger.requested)})
    calls, begins = message.tool_calls, len(ledger.requested)
    try:
        check_tokens(toolbox.limits, usage)
        check_calls(toolbox.limits, message, len(ledger.rounds), ledger.counts)
    except LimitExceededError as error:
        refuse_calls(calls, tools, toolbox, caller, ledger, error=error)
        ledger.rounds.append(_round(message, ledger.requested[begins:]))
        raise
    try:
        await run_calls(calls, tools, toolbox, caller, ledger)
    finally:
        entered = _round(message, ledger.requested[begins:])
        ledger.rounds.append(entered)
    return entered


async def run_calls(
    calls: Sequence[ToolCall],
    tools: Mapping[str, Tool[..., Any]],
    toolbox: Toolbox,
    caller: Caller,
    ledger: Ledger,
) -> list[Done]:
    """Run calls side by side; each of them is entered in the ledger with a result, whatever is raised."""
    runs = _prepared(calls, tools, toolbox, caller, ledger)
    try:
        await _run(runs, toolbox, caller)
    except BaseException as error:
        _enter(runs, ledger, error)
        raise
    ending = _ending(runs)
    entered = _enter(runs, ledger, ending)
    if ending is not None:
        raise ending
    ledger.note_misfits(entered)
    check_arguments(toolbox.limits, ledger.misfits)
    return entered


def refuse_calls(
    calls: Sequence[ToolCall],
    tools: Mapping[str, Tool[..., Any]],
    toolbox: Toolbox,
    caller: Caller,
    ledger: Ledger,
    *,
    error: BaseException,
) -> list[Done]:
    """Enter calls that may not run, each with a result that says why."""
    return _enter(_prepared(calls, tools, toolbox, caller, ledger), ledger, error)


def is_immediate(results: Sequence[ToolResultMessage], tools: Mapping[str, Tool[..., Any]]) -> bool:
    """Whether the results of a round go to the caller, without another request to the model."""
    last = results[-1]
    if last.is_error or _returns(last, tools) is ReturnBehavior.TO_MODEL:  # nearly always
        return False
    if any(result.is_error for result in results):
        return False
    behaviors = [_returns(result, tools) for result in results]
    return behaviors[-1] is ReturnBehavior.IMMEDIATE_IF_LAST or ReturnBehavior.TO_MODEL not in behaviors


def _returns(result: ToolResultMessage, tools: Mapping[str, Tool[..., Any]]) -> ReturnBehavior:
    """Where a result goes; to the model also that of a tool which is not there, as a hook may give it."""
    tool = tools.get(result.tool_name)
    return ReturnBehavior.TO_MODEL if tool is None else tool.returns


def _round(message: AiMessage, entered: Sequence[Done]) -> Round:
    return Round(message, tuple(done.result for done in entered), any(done.begun for done in entered))


def _prepared(
    calls: Sequence[ToolCall],
    tools: Mapping[str, Tool[..., Any]],
    toolbox: Toolbox,
    caller: Caller,
    ledger: Ledger,
) -> list[CallRun]:
    begins = len(ledger.requested)
    return [
        CallRun(call, f"{begins + index:06d}", tools, toolbox, caller, ledger)
        for index, call in enumerate(calls)
    ]


async def _run(runs: list[CallRun], toolbox: Toolbox, caller: Caller) -> None:
    limit = toolbox.limits.max_parallel_tools if toolbox.parallel else 1

    async def in_turn(index: int, run: CallRun) -> None:
        waited = limit is not None and index >= limit
        if not (waited and _ending(runs)):  # nothing more begins when the invocation is to end
            await run.run()

    await caller.driver.gather([in_turn(index, run) for index, run in enumerate(runs)], limit=limit)


def _ending(runs: list[CallRun]) -> BaseException | None:
    """What is to end the invocation: of several, what came of the first call."""
    return next((run.raised for run in runs if run.raised is not None), None)


def _enter(runs: list[CallRun], ledger: Ledger, error: BaseException | None) -> list[Done]:
    """Enter the calls; one that has not run, or not ended, gets a result that says so."""
    for run in runs:
        if run.done is None:
            run.end(run.broken_off(error))
    done = [run.done for run in runs if run.done is not None]
    ledger.requested.extend(done)
    return done
