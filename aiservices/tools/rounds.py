"""One round: the calls of an answer are run, and every one of them gets a result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..messages import NO_USAGE, AiMessage, TokenUsage
from .functions import Tool
from .identifying import with_unique_ids
from .ledger import Ledger, Round
from .limits import check_calls, check_tokens
from .running import CallRun
from .toolbox import Caller, Toolbox


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
    begins = len(ledger.requested)
    message = with_unique_ids(message, {*taken, *(done.call.id for done in ledger.requested)})
    runs = [
        CallRun(call, f"{begins + index:06d}", tools, toolbox, caller, ledger)
        for index, call in enumerate(message.tool_calls)
    ]
    try:
        check_tokens(toolbox.limits, usage)
        check_calls(toolbox.limits, message, len(ledger.rounds), ledger.counts)
        await _run(runs, toolbox, caller)
    except BaseException as error:
        _enter(message, runs, ledger, error)
        raise
    ending = _ending(runs)
    entered = _enter(message, runs, ledger, ending)
    if ending is not None:
        raise ending
    return entered


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


def _enter(message: AiMessage, runs: list[CallRun], ledger: Ledger, error: BaseException | None) -> Round:
    """Enter the round; a call that has not run, or not ended, gets a result that says so."""
    for run in runs:
        if run.done is None:
            run.end(run.broken_off("did not end" if run.has_begun else "did not run", error))
    done = [run.done for run in runs if run.done is not None]
    ledger.requested.extend(done)
    entered = Round(message, tuple(each.result for each in done), any(run.has_begun for run in runs))
    ledger.rounds.append(entered)
    return entered
