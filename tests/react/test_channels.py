"""Channels: what an update leaves as it was, what it adds to, and what outlasts a turn."""

from __future__ import annotations

from typing import Any

import pytest

from aiservices import AiMessage, ChatRequest, UserMessage
from aiservices.react import AgentState, Channel
from tests.react.asking import STYLES, agent, call, calls, short

both = pytest.mark.parametrize("style", STYLES)


def add(a: int, b: int) -> int:
    return a + b


class Writing:
    """Writes to channels after each pass of its node."""

    def __init__(self, **values: Any) -> None:
        self.values = values

    def after(self, state: AgentState, update: Any) -> Any:
        return {**update, **self.values}


def counted(old: int, new: int) -> int:
    return old + new


@both
def test_an_update_leaves_the_other_channels_as_they_were(style: str, kept: dict[str, Any]) -> None:
    """LG-13"""
    asked, _ = agent(
        "ok",
        channels={"input": Channel(default="test1"), "found": None},
        call_model_hooks=[Writing(found="test")],
        **kept,
    )
    state = calls(style, asked, "invoke", "go", "t")
    assert dict(state.channels) == {"input": "test1", "found": "test"}


@both
def test_messages_are_added_alone_or_several_at_once(style: str, kept: dict[str, Any]) -> None:
    """LG-15: as many passes are counted in a channel beside them."""
    asked, _ = agent("m2", channels={"steps": Channel(counted, default=0)}, **kept)
    calls(style, asked, "invoke", "m1", "t")
    for given in (UserMessage("m3"), [AiMessage("m4"), UserMessage("m5")], (AiMessage("m6"),)):
        calls(style, asked, "update", "t", {"messages": given, "steps": 1})
    state = calls(style, asked, "state", "t")
    assert short(state.messages) == ["U:m1", "A:m2", "U:m3", "A:m4", "U:m5", "A:m6"]
    assert state.steps == 3


@both
def test_a_channel_counts_on_in_the_next_turn_of_its_thread(style: str, kept: dict[str, Any]) -> None:
    """LG-70"""
    rounds = [call("add", f"c{number}", a=number, b=1) for number in range(4)]
    asked, _ = agent(
        *rounds,
        "five",
        "six",
        tools=[add],
        channels={"steps": Channel(counted, default=0)},
        call_model_hooks=[Writing(steps=1)],
        **kept,
    )
    assert calls(style, asked, "invoke", "go", "t").steps == 5
    state = calls(style, asked, "invoke", "on", "t")
    assert (state.steps, len(state.messages)) == (6, 12)
    assert calls(style, asked, "state", "t").steps == 6


@both
def test_a_turn_begins_with_the_values_that_were_kept(style: str, kept: dict[str, Any]) -> None:
    """LG-72"""
    seen: list[dict[str, Any]] = []

    class Looking:
        def before(self, state: AgentState) -> None:
            seen.append(dict(state.channels))

    asked, _ = agent(
        "one", "two", channels={"input": None, "kept": None}, call_model_hooks=[Looking()], **kept
    )
    calls(style, asked, "invoke", "a", "t")
    calls(style, asked, "update", "t", {"input": "test2", "kept": "v"})
    calls(style, asked, "update", "t", {"input": "test1"})
    calls(style, asked, "invoke", "b", "t")
    assert seen == [{"input": None, "kept": None}, {"input": "test1", "kept": "v"}]


@both
@pytest.mark.parametrize("parallel", [True, False])
def test_ten_tools_of_one_answer_leave_ten_results_in_their_order(style: str, parallel: bool) -> None:
    """LG-39"""

    def reply(request: ChatRequest) -> Any:
        return [call("add", f"c{number}", a=number, b=0) for number in range(10)]

    asked, _ = agent(reply, "ok", tools=[add], parallel_tools=parallel)
    state = calls(style, asked, "invoke", "go")
    assert short(state.messages)[2:-1] == [f"R:{number}" for number in range(10)]
