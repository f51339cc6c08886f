"""Threads: what is kept of them, how they go on, and how they are forgotten."""

from __future__ import annotations

from typing import Any

import pytest

from aiservices import (
    AgentError,
    AiMessage,
    ConfigurationError,
    UserMessage,
)
from aiservices.react import Channel, StopReason
from tests.react.asking import STYLES, agent, assert_paired, call, calls, short

both = pytest.mark.parametrize("style", STYLES)


def add(a: int, b: int) -> int:
    return a + b


@both
def test_a_thread_remembers_its_turns_and_each_has_its_own_answer(style: str, kept: dict[str, Any]) -> None:
    """LG-94, LG-95, LG-96"""
    asked, model = agent(
        call("add", a=1, b=1), "two", call("add", a=2, b=2), "four", "just so", tools=[add], **kept
    )
    assert calls(style, asked, "invoke", "1 + 1?", "t").final_response == "two"
    assert len(model.requests) == 2
    assert calls(style, asked, "invoke", "2 + 2?", "t").final_response == "four"
    assert len(model.requests) == 4
    state = calls(style, asked, "invoke", "sure?", "t")
    assert state.final_response == "just so"
    assert_paired(state.messages)
    assert short(state.messages) == [
        "U:1 + 1?",
        "A?c1",
        "R:2",
        "A:two",
        "U:2 + 2?",
        "A?c1-2",
        "R:4",
        "A:four",
        "U:sure?",
        "A:just so",
    ]
    assert calls(style, asked, "state", "t") == state


def test_the_final_response_is_cleared_when_a_turn_begins(kept: dict[str, Any]) -> None:
    asked, _ = agent("one", "two", **kept)
    asked.invoke("a", "t")
    first = next(iter(asked.stream("b", "t")))
    assert (first.node, first.state.final_response, first.state.stop_reason) == ("start", None, None)


@both
def test_without_a_thread_each_run_begins_anew(style: str, kept: dict[str, Any]) -> None:
    asked, model = agent("one", "two", **kept)
    first, second = (calls(style, asked, "invoke", text) for text in ("a", "b"))
    assert first.thread_id != second.thread_id
    assert len(model.requests[1].messages) == 1
    assert calls(style, asked, "state", first.thread_id) == first
    assert [item.node for item in asked.history(first.thread_id)] == ["agent", "start"]


def test_an_unnamed_thread_can_be_continued_by_its_name(kept: dict[str, Any]) -> None:
    asked, model = agent("one", "two", **kept)
    state = asked.invoke("a")
    asked.invoke("b", state.thread_id)
    assert short(model.requests[1].messages) == ["U:a", "A:one", "U:b"]


@both
def test_the_history_tells_every_step_newest_first(style: str, kept: dict[str, Any]) -> None:
    """LG-67"""
    asked, _ = agent(call("add", a=1, b=2), "3", tools=[add], **kept)
    calls(style, asked, "invoke", "go", "t")
    history = calls(style, asked, "history", "t")
    assert [(item.node, item.next, item.version) for item in history] == [
        ("agent", "end", 4),
        ("action", "agent", 3),
        ("agent", "action", 2),
        ("start", "agent", 1),
    ]
    assert [len(item.state.messages) for item in history] == [4, 3, 2, 1]
    assert history[0].state == asked.state("t")


def test_what_is_not_there_is_an_error_or_nothing(kept: dict[str, Any]) -> None:
    asked, _ = agent(**kept)
    assert asked.history("t") == []
    assert asked.release("t") is False
    for ask in (asked.state, asked.resume):
        with pytest.raises(AgentError, match="there is no thread 't'"):
            ask("t")
    with pytest.raises(AgentError, match="there is no thread 't'") as caught:
        asked.update("t", {})
    assert ("a checkpointer keeps threads beyond it" in str(caught.value)) is ("checkpointer" not in kept)


@both
def test_a_finished_thread_is_resumed_without_a_call(style: str, kept: dict[str, Any]) -> None:
    """LG-68"""
    asked, model = agent("one", **kept)
    state = calls(style, asked, "invoke", "a", "t")
    assert calls(style, asked, "resume", "t") == state
    assert len(model.requests) == 1
    assert len(asked.history("t")) == 2


@both
def test_a_run_that_failed_goes_on_where_it_was(style: str, kept: dict[str, Any]) -> None:
    """LG-29"""
    ran: list[int] = []

    def note(n: int) -> str:
        ran.append(n)
        return f"noted {n}"

    asked, model = agent(call("note", n=1), OSError("down"), "done", tools=[note], **kept)
    with pytest.raises(OSError, match="down") as caught:
        calls(style, asked, "invoke", "go", "t")
    assert caught.value.__notes__ == ["in a run of 'agent' on thread 't', after the node 'action'"]
    state = calls(style, asked, "resume", "t")
    assert short(state.messages) == ["U:go", "A?c1", "R:noted 1", "A:done"]
    assert ran == [1]
    assert model.requests[1].messages == model.requests[2].messages


@both
def test_a_thread_can_go_on_from_any_version(style: str, kept: dict[str, Any]) -> None:
    ran: list[int] = []

    def note(n: int) -> str:
        ran.append(n)
        return f"noted {n}"

    asked, _ = agent(call("note", n=1), "first", "second", "third", tools=[note], **kept)
    asked.invoke("go", "t")
    state = calls(style, asked, "resume", "t", version=3)
    assert (state.final_response, ran) == ("second", [1])
    state = calls(style, asked, "resume", "t", version=2)
    assert (state.final_response, ran) == ("third", [1, 1])
    versions = [item.version for item in asked.history("t")]
    assert versions == list(range(len(versions), 0, -1))
    with pytest.raises(AgentError, match="no version 99"):
        asked.resume("t", version=99)


@both
def test_an_update_writes_as_a_node_would(style: str, kept: dict[str, Any]) -> None:
    """LG-69, LG-75, LG-79"""
    asked, model = agent(
        "one", "two", channels={"log": Channel(lambda old, new: old + new, default=list)}, **kept
    )
    calls(style, asked, "invoke", "a", "t")
    saved = calls(style, asked, "update", "t", {"log": ["x"]})
    assert (saved.node, saved.next, saved.state.log) == ("agent", "end", ["x"])
    assert asked.resume("t").log == ["x"]
    saved = calls(style, asked, "update", "t", {"messages": UserMessage("b"), "log": ["y"]}, as_node="start")
    assert (saved.next, saved.state.stop_reason) == ("agent", None)
    state = calls(style, asked, "resume", "t")
    assert short(state.messages) == ["U:a", "A:one", "U:b", "A:two"]
    assert state.log == ["x", "y"]
    assert len(model.requests) == 2


def test_an_update_as_the_agent_leads_on_to_its_calls(kept: dict[str, Any]) -> None:
    """LG-59, LG-60"""
    asked, _ = agent("one", "3", tools=[add], **kept)
    asked.invoke("a", "t")
    saved = asked.update("t", {"messages": AiMessage(tool_calls=[call("add", a=1, b=2)])}, as_node="agent")
    assert saved.next == "action"
    assert short(asked.resume("t").messages) == ["U:a", "A:one", "A?c1", "R:3", "A:3"]
    assert asked.update("t", {}, as_node="agent").next == "end"
    assert asked.update("t", {}, as_node="end").next == "end"


def test_an_update_of_what_is_not_there_is_refused(kept: dict[str, Any]) -> None:
    asked, _ = agent("one", **kept)
    asked.invoke("a", "t")
    with pytest.raises(ConfigurationError, match="no node 'nope'"):
        asked.update("t", {}, as_node="nope")
    with pytest.raises(ConfigurationError, match="no channel 'nope'; there are: messages"):
        asked.update("t", {"nope": 1})
    assert len(asked.history("t")) == 2


@both
def test_a_released_thread_is_gone(style: str, kept: dict[str, Any]) -> None:
    """LG-73"""
    asked, model = agent(call("add", a=1, b=2), "3", "anew", tools=[add], **kept)
    calls(style, asked, "invoke", "a", "t")
    assert calls(style, asked, "release", "t") is True
    assert asked.history("t") == []
    calls(style, asked, "invoke", "b", "t")
    assert short(model.requests[2].messages) == ["U:b"]
    if kept:
        store = kept["checkpointer"]
        asked.release("t")
        assert not [
            key
            for name in ("threads", "checkpoints", "calls")
            for key in store.keys(f"aiservices.react.{name}")
        ]


@both
def test_threads_may_be_released_when_a_run_ends_well(style: str, kept: dict[str, Any]) -> None:
    """LG-78"""
    asked, _ = agent(
        OSError("down"),
        "fine",
        call("add", a=1, b=2),
        tools=[add],
        approvals={"add": True},
        release_thread=True,
        **kept,
    )
    with pytest.raises(OSError):
        calls(style, asked, "invoke", "a", "t")
    assert asked.history("t")
    assert calls(style, asked, "resume", "t").final_response == "fine"
    assert asked.history("t") == []
    assert calls(style, asked, "invoke", "b", "t").stop_reason is StopReason.INTERRUPTED
    assert asked.history("t")


def test_a_turn_that_was_left_open_is_closed_by_the_next(kept: dict[str, Any]) -> None:
    asked, model = agent(call("add", a=1, b=2), "never mind", tools=[add], approvals={"add": True}, **kept)
    asked.invoke("a", "t")
    state = asked.invoke("forget it", "t")
    assert_paired(state.messages)
    assert state.pending == ()
    assert "went on without it" in short(model.requests[1].messages)[2]


@both
def test_a_thread_is_found_under_a_number_too(style: str, kept: dict[str, Any]) -> None:
    asked, _ = agent("one", **kept)
    state = calls(style, asked, "invoke", "a", 7)
    assert state.thread_id == "7"
    assert calls(style, asked, "state", 7) == calls(style, asked, "resume", 7) == state
    assert len(calls(style, asked, "history", 7)) == 2
    assert calls(style, asked, "update", 7, {"final_response": "two"}).state.final_response == "two"
    assert calls(style, asked, "release", 7) is True
    for method in ("state", "history", "resume", "release"):
        with pytest.raises(ValueError, match="memory id"):
            calls(style, asked, method, None)


@pytest.mark.parametrize("messages", [None, 3, "text", ["text"]])
def test_an_update_with_what_is_no_message_is_refused(messages: Any) -> None:
    asked, _ = agent("one")
    asked.invoke("a", "t")
    with pytest.raises(ConfigurationError, match="messages are those of a conversation"):
        asked.update("t", {"messages": messages})
