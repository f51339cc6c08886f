"""Writing to a thread from outside, as one of its nodes would; no call is left without a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..driving import Driver
from ..errors import AgentError
from ..invocation import changed
from ..memory import repaired
from ..messages import FrozenMapping, ToolCall, ToolResultMessage
from .records import ACTION, AGENT, END, Checkpoint, Progress, open_calls, results_of
from .setup import Setup
from .state import AgentState, StopReason, changed_state


async def updated(
    setup: Setup, driver: Driver, at: Checkpoint, values: Mapping[str, Any], as_node: str | None
) -> tuple[AgentState, tuple[str, str], Progress]:
    """The state with new values, the nodes it stands between, and how far its run has come.

    Raises `ConfigurationError` for an unknown channel, `AgentError` for messages that would come between
    calls and their results.
    """
    state, progress, where = at.state, at.progress, f"the update of thread {at.state.thread_id!r}"
    speaks = isinstance(values, Mapping) and bool(values.get("messages"))
    if open_calls(state) is not None and as_node is None and speaks:
        raise AgentError(
            f"{where}: calls have no results yet, and nothing can be said before them: give the results "
            "as_node='action', or go on without them as_node='start'",
            agent=setup.name,
        )
    if as_node is None:
        return setup.channels.updated(state, values, where), (at.snapshot.node, at.snapshot.next), progress
    if as_node != ACTION and (as_node != AGENT or speaks):
        state = await closed(setup, driver, state, progress)
    state = setup.channels.updated(state, values, where)
    if as_node == ACTION:
        state = await closed(setup, driver, state, progress, of=at.state)
    after = _after(as_node, state)
    if after == ACTION:  # whether somebody has to decide on these calls is looked at when they are to run
        progress = changed(progress, is_judged=False, guarded=(), decisions=FrozenMapping(), results=())
    reason = None
    if after == END:
        reason = StopReason.FINAL if state.stop_reason is StopReason.INTERRUPTED else state.stop_reason
    return changed_state(state, {"stop_reason": reason, "pending": ()}), (as_node, after), progress


async def closed(
    setup: Setup, driver: Driver, state: AgentState, progress: Progress, of: AgentState | None = None
) -> AgentState:
    """The state with a result for each call that was open in it, or in the one `of` before.

    What has ended is told, and of the rest that it was left.
    """
    message = open_calls(state if of is None else of)
    if message is None:
        return state
    given = {item.tool_call_id for item in state.messages if isinstance(item, ToolResultMessage)}
    missing = [call for call in message.tool_calls if call.id not in given]
    ended = await results_of(setup.threads, driver, state.thread_id, progress, missing)
    left = results_saying("The call did not run: the conversation went on without it.", missing)
    results = [ended.get(result.tool_call_id, result) for result in left]
    return changed_state(state, {"messages": repaired((*state.messages, *results)).messages})


def results_saying(text: str, calls: Sequence[ToolCall]) -> tuple[ToolResultMessage, ...]:
    """An error for each of these calls."""
    return tuple(ToolResultMessage(call.id, call.name, text, is_error=True) for call in calls)


def _after(node: str, state: AgentState) -> str:
    if node == AGENT:
        return ACTION if open_calls(state) is not None else END
    return END if node == END else AGENT
