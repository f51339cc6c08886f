"""Threads that are written to, or go back, while calls have no results: nothing runs unasked."""

from __future__ import annotations

from typing import Any

import pytest

from aiservices import AgentError, AiMessage, ToolResultMessage, UserMessage
from aiservices.react import AgentExecutor, Approve, Refuse, StopReason
from tests.react.asking import STYLES, agent, assert_paired, call, calls, short

both = pytest.mark.parametrize("style", STYLES)


def waiting(kept: dict[str, Any], ran: list[str], *replies: Any) -> AgentExecutor:
    """An agent whose thread `t` has run one call and waits for somebody to decide on another."""

    def look(at: str) -> str:
        ran.append(at)
        return f"saw {at}"

    def send(to: str) -> str:
        ran.append(to)
        return f"sent to {to}"

    wanted = [call("look", "c1", at="a"), call("send", "c2", to="b")]
    asked, _ = agent(wanted, *replies, tools=[look, send], approvals={"send": True}, **kept)
    assert [item.id for item in asked.invoke("go", "t").pending] == ["c2"]
    return asked


@both
def test_a_thread_that_goes_back_to_where_it_waited_waits_again(style: str, kept: dict[str, Any]) -> None:
    ran: list[str] = []
    asked = waiting(kept, ran, "done", "then not")
    version = asked.history("t")[0].version
    calls(style, asked, "resume", "t", Approve())
    back = calls(style, asked, "resume", "t", version=version)
    assert (back.stop_reason, [item.id for item in back.pending]) == (StopReason.INTERRUPTED, ["c2"])
    state = calls(style, asked, "resume", "t", Refuse())
    assert short(state.messages)[2:] == ["R:saw a", "E:The call of 'send' was not approved.", "A:then not"]
    assert ran == ["a", "b"]


def test_a_decision_may_come_with_the_version(kept: dict[str, Any]) -> None:
    ran: list[str] = []
    asked = waiting(kept, ran, "done", "then not")
    version = asked.history("t")[0].version
    asked.resume("t", Approve())
    state = asked.resume("t", Refuse("too late"), version)
    assert short(state.messages)[3] == "E:The call of 'send' was not approved: too late"
    assert ran == ["a", "b"]


def test_going_back_to_before_a_round_runs_the_round_again(kept: dict[str, Any]) -> None:
    ran: list[str] = []
    asked = waiting(kept, ran, "done", "done again")
    before = asked.history("t")[1].version
    asked.resume("t", Approve())
    assert [item.id for item in asked.resume("t", version=before).pending] == ["c2"]
    assert ran == ["a", "b", "a"]


@both
def test_calls_that_are_written_as_the_agent_are_approved_too(style: str, kept: dict[str, Any]) -> None:
    ran: list[str] = []
    asked = waiting(kept, ran, "never mind", "done")
    asked.invoke("forget it", "t")
    written = AiMessage(tool_calls=[call("look", "c3", at="x"), call("send", "c4", to="y")])
    calls(style, asked, "update", "t", {"messages": written}, as_node="agent")
    state = calls(style, asked, "resume", "t")
    assert ([item.id for item in state.pending], ran) == (["c4"], ["a", "x"])
    state = calls(style, asked, "resume", "t", Approve())
    assert (state.final_response, ran) == ("done", ["a", "x", "y"])
    assert_paired(state.messages)


@both
@pytest.mark.parametrize(
    ("values", "as_node", "said"),
    [
        ({}, "action", ["R:saw a", "E:The call did not run: the conversation went on without it."]),
        ({"messages": ToolResultMessage("c2", "send", "by hand")}, "action", ["R:saw a", "R:by hand"]),
        ({"messages": ToolResultMessage("c1", "look", "no")}, "action", ["R:no", "E:The call did not run"]),
        ({"messages": UserMessage("more")}, "start", ["R:saw a", "E:The call did not run", "U:more"]),
        ({"messages": AiMessage("so")}, "agent", ["R:saw a", "E:The call did not run", "A:so"]),
        ({}, "end", ["R:saw a", "E:The call did not run"]),
    ],
)
def test_an_update_leaves_no_call_without_a_result(
    style: str, kept: dict[str, Any], values: dict[str, Any], as_node: str, said: list[str]
) -> None:
    ran: list[str] = []
    asked = waiting(kept, ran, "done")
    state = calls(style, asked, "update", "t", values, as_node=as_node).state
    assert_paired(state.messages)
    told = short(state.messages)[2:]
    assert all(text.startswith(wanted) for text, wanted in zip(told, said, strict=True))
    assert (state.pending, state.stop_reason is StopReason.INTERRUPTED) == ((), False)
    assert_paired(calls(style, asked, "resume", "t").messages)
    assert ran == ["a"]


def test_nothing_is_said_between_calls_and_their_results(kept: dict[str, Any]) -> None:
    asked = waiting(kept, [], "done")
    with pytest.raises(AgentError, match="give the results as_node='action'"):
        asked.update("t", {"messages": UserMessage("wait")})
    asked.update("t", {"active_skills": ["a"]})
    state = asked.resume("t", Approve())
    assert (state.final_response, state.active_skills) == ("done", ("a",))
