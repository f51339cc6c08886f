"""Threads that are written to, or go back, while calls have no results: nothing runs unasked."""

from __future__ import annotations

from typing import Any

import pytest

from aiservices import (
    AgentError,
    AiMessage,
    LimitExceededError,
    Limits,
    ToolResultMessage,
    UserMessage,
)
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


@both
@pytest.mark.parametrize("as_node", ["start", "action"])
def test_after_an_update_nothing_waits_for_the_calls_of_before(
    style: str, kept: dict[str, Any], as_node: str
) -> None:
    ran: list[str] = []
    asked = waiting(kept, ran, call("look", "c3", at="z"), "done")
    calls(style, asked, "update", "t", {}, as_node=as_node)
    state = calls(style, asked, "resume", "t")
    assert (state.stop_reason, ran) == (StopReason.FINAL, ["a", "z"])


def test_after_a_limit_nothing_waits_for_the_calls_of_before(kept: dict[str, Any]) -> None:
    wanted = [call("look", "c1", at="a"), call("send", "c2", to="b")]
    ran: list[str] = []

    def look(at: str) -> str:
        ran.append(at)
        return at

    def send(to: str) -> str:
        raise AssertionError

    options = {"tools": [look, send], "approvals": {"send": True}, "limits": Limits(max_tool_calls=1)}
    asked, _ = agent(wanted, call("look", "c3", at="z"), "done", **options, **kept)
    with pytest.raises(LimitExceededError):
        asked.invoke("go", "t")
    assert (asked.resume("t").final_response, ran) == ("done", ["z"])


def test_calls_written_as_the_agent_have_ids_and_results_of_their_own(kept: dict[str, Any]) -> None:
    ran: list[str] = []
    asked = waiting(kept, ran, "done")
    asked.update("t", {"messages": AiMessage(tool_calls=[call("look", "c1", at="new")])}, as_node="agent")
    state = asked.resume("t")
    assert (ran, short(state.messages)[-2:]) == (["a", "new"], ["R:saw new", "A:done"])
    assert state.messages[4].tool_calls[0].id not in ("c1", "c2")
    assert_paired(state.messages)


def test_a_thread_that_goes_back_knows_no_results_of_later_calls(kept: dict[str, Any]) -> None:
    ran: list[str] = []
    asked = waiting(kept, ran, call("look", "c1", at="other"), "done")
    asked.resume("t", version=asked.history("t")[-1].version)
    assert ran == ["a", "other"]


def test_results_are_kept_when_calls_are_to_be_judged_again(kept: dict[str, Any]) -> None:
    ran: list[str] = []
    asked = waiting(kept, ran, "done", "done again")
    version = asked.history("t")[0].version
    asked.resume("t", Approve())
    asked.resume("t", version=version)
    asked.update("t", {}, as_node="agent")
    assert [item.id for item in asked.resume("t").pending] == ["c2"]
    assert (asked.resume("t", Approve()).final_response, ran) == ("done again", ["a", "b", "b"])


@both
def test_what_is_written_as_the_agent_is_its_answer(style: str, kept: dict[str, Any]) -> None:
    asked, _ = agent(OSError("down"), response_format=int, **kept)
    with pytest.raises(OSError):
        asked.invoke("How many?", "t")
    snapshot = calls(style, asked, "update", "t", {"messages": AiMessage("3")}, as_node="agent")
    assert snapshot.next == "end"
    state = calls(style, asked, "resume", "t")
    assert (state.final_response, state.value, state.stop_reason) == ("3", 3, StopReason.FINAL)
    assert snapshot.state == state


def test_a_call_that_was_broken_off_is_not_said_not_to_have_run(kept: dict[str, Any]) -> None:
    def break_off(at: str) -> str:
        raise KeyboardInterrupt

    asked, _ = agent(call("break_off", at="a"), "done", tools=[break_off], **kept)
    with pytest.raises(KeyboardInterrupt):
        asked.invoke("go", "t")
    state = asked.invoke("and now?", "t")
    assert short(state.messages)[2].startswith("E:The call was broken off, and may have done its work")
    assert_paired(state.messages)


def test_what_was_said_before_the_user_stays_when_calls_are_passed_by(kept: dict[str, Any]) -> None:
    asked, _ = agent(call("send", to="b"), "done", tools=[send], approvals={"send": True}, **kept)
    asked.invoke([AiMessage("Welcome!"), UserMessage("go")], "t")
    state = asked.invoke("never mind", "t")
    assert short(state.messages)[:2] == ["A:Welcome!", "U:go"]
    assert_paired(state.messages)


def send(to: str) -> str:
    raise AssertionError


def test_calls_that_are_written_where_none_run_have_results(kept: dict[str, Any]) -> None:
    asked, model = agent(OSError("down"), "done", **kept)
    with pytest.raises(OSError):
        asked.invoke("go", "t")
    asked.update("t", {"messages": AiMessage(tool_calls=[call("look", at="a")])}, as_node="start")
    assert_paired(asked.resume("t").messages)
    assert_paired(model.requests[-1].messages)
