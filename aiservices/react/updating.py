"""Writing to a thread from outside, as one of its nodes would; no call is left without a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..driving import Driver
from ..errors import AgentError
from ..invocation import changed
from ..messages import AiMessage, ToolCall, ToolResultMessage
from ..tools import ids_in, with_unique_ids
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
    if as_node not in (None, ACTION) and (as_node != AGENT or speaks):
        state = await closed(setup, driver, state, progress)
    state = setup.channels.updated(state, values, where)
    if as_node == ACTION:
        state = await closed(setup, driver, state, progress, of=at.state)
    if as_node == AGENT and speaks:
        state = _answered(state, values)
    after = at.next if as_node is None else _after(as_node, state)
    if after != ACTION:
        state = await closed(setup, driver, state, progress)
    node = at.node
    if as_node is not None:
        node, state, progress = as_node, _moved(state, after), _progress(at, state, after)
    return changed_state(state, {"value": setup.answers.known(state)}), (node, after), progress


async def closed(
    setup: Setup, driver: Driver, state: AgentState, progress: Progress, of: AgentState | None = None
) -> AgentState:
    """The state with a result for each call that was open in it, or in the one `of` before.

    What has ended is told, and of the rest that it was left.
    """
    before = state if of is None else of
    message = open_calls(before)
    if message is None:
        return state
    told, after = state.messages[: len(before.messages)], state.messages[len(before.messages) :]
    given = {item.tool_call_id: item for item in after if isinstance(item, ToolResultMessage)}
    missing = [call for call in message.tool_calls if call.id not in given]
    left = {call.id: _left(call, progress) for call in missing}
    known = left | await results_of(setup.threads, driver, state.thread_id, progress, missing) | given
    results = [known[call.id] for call in message.tool_calls]
    others = [item for item in after if not isinstance(item, ToolResultMessage)]
    return changed_state(state, {"messages": (*told, *results, *others)})


def results_saying(text: str, calls: Sequence[ToolCall]) -> tuple[ToolResultMessage, ...]:
    """An error for each of these calls."""
    return tuple(ToolResultMessage(call.id, call.name, text, is_error=True) for call in calls)


def _left(call: ToolCall, progress: Progress) -> ToolResultMessage:
    """What the model is told of a call that the conversation goes on without.

    Of one that has not ended where the run was broken off nobody knows how far it came.
    """
    waited = not progress.is_judged or (progress.undecided and call.id in progress.guarded)
    told = "The call did not run" if waited else "The call was broken off, and may have done its work"
    return results_saying(f"{told}: the conversation went on without it.", [call])[0]


def _answered(state: AgentState, values: Mapping[str, Any]) -> AgentState:
    """The state after what was said in the agent's place, as if it had answered."""
    last = state.messages[-1]
    if not isinstance(last, AiMessage):
        return state
    if last.tool_calls:  # results are found by id
        message = with_unique_ids(last, ids_in(state.messages[:-1]))
        return changed_state(state, {"messages": (*state.messages[:-1], message)})
    if "final_response" in values:
        return state
    return changed_state(state, {"final_response": last.text or last.refusal or ""})


def _after(node: str, state: AgentState) -> str:
    if node == AGENT:
        return ACTION if open_calls(state) is not None else END
    return END if node == END else AGENT


def _moved(state: AgentState, after: str) -> AgentState:
    """The state at another place: nobody waits for anything there."""
    reason = None
    if after == END:
        has_none = state.stop_reason in (None, StopReason.INTERRUPTED)
        reason = StopReason.FINAL if has_none else state.stop_reason
    return changed_state(state, {"stop_reason": reason, "pending": ()})


def _progress(at: Checkpoint, state: AgentState, after: str) -> Progress:
    """How far the run is there. Who has to decide on calls is looked at when they are to run."""
    progress = at.progress.with_round(is_judged=after != ACTION)
    if after == ACTION and open_calls(state) is open_calls(at.state):
        return changed(progress, results=at.progress.results, skills=at.progress.skills)
    return progress
