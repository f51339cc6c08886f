"""Policies that shape requests and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from aiservices import (
    AiMessage,
    SystemMessage,
    ToolResultMessage,
    UserMessage,
)
from aiservices.react import AgentState, MessageWindow, Summary
from aiservices.testing import ScriptedChatModel
from tests.react.asking import STYLES, agent, assert_paired, call, calls, short

both = pytest.mark.parametrize("style", STYLES)


def add(a: int, b: int) -> int:
    return a + b


LONG = [UserMessage("m1"), AiMessage("m2"), UserMessage("m3"), AiMessage("m4"), UserMessage("m5")]


@both
@pytest.mark.parametrize("kind", ["def", "async def"])
def test_a_policy_shapes_the_request_only(style: str, kind: str) -> None:
    """LG-100, LG-102, AJ-59"""
    given: list[Any] = []

    def policy(messages: Any, state: AgentState) -> Any:
        given.append(list(messages))
        messages.clear()
        return [*state.messages[-2:]]

    async def apolicy(messages: Any, state: AgentState) -> Any:
        return policy(messages, state)

    asked, model = agent(
        "ok", system_message="Be brief.", conversation_policy=policy if kind == "def" else apolicy
    )
    state = calls(style, asked, "invoke", LONG)
    assert given == [LONG]
    assert model.request.messages == (SystemMessage("Be brief."), *LONG[-2:])
    assert state.messages == (*LONG, AiMessage("ok"))


def test_a_policy_sees_no_system_message_and_cannot_lose_one() -> None:
    given: list[Any] = []

    def policy(messages: Any, state: AgentState) -> Any:
        given.extend(messages)
        return messages[-1:]

    asked, model = agent("ok", conversation_policy=policy)
    asked.invoke([SystemMessage("Be kind."), *LONG])
    assert given == LONG
    assert list(model.request.messages) == [SystemMessage("Be kind."), LONG[-1]]


def test_a_policy_that_gives_no_messages_is_an_error() -> None:
    asked, _ = agent("ok", conversation_policy=lambda messages, state: "text")
    with pytest.raises(TypeError, match="it gives messages"):
        asked.invoke("go")


@pytest.mark.parametrize(
    ("size", "messages", "kept"),
    [
        (3, LONG, LONG[-3:]),
        (2, [SystemMessage("s"), *LONG], [SystemMessage("s"), LONG[-1]]),
        (
            1,
            [
                UserMessage("u"),
                AiMessage(tool_calls=[call("x")]),
                ToolResultMessage("c1", "x", "r"),
                UserMessage("v"),
            ],
            [UserMessage("v")],
        ),
    ],
)
def test_a_window_keeps_the_newest_messages(size: int, messages: Any, kept: Any) -> None:
    """LG-97, LG-98, LG-99"""
    assert list(MessageWindow(size)(messages)) == kept


def test_a_window_needs_room() -> None:
    """LG-101"""
    with pytest.raises(ValueError, match="max_messages is 0"):
        MessageWindow(0)


@both
def test_a_window_never_parts_calls_from_their_results(style: str) -> None:
    asked, model = agent(
        *[call("add", f"c{n}", a=n, b=1) for n in range(6)],
        "done",
        tools=[add],
        conversation_policy=MessageWindow(4),
    )
    state = calls(style, asked, "invoke", "go")
    assert len(state.messages) == 14
    for request in model.requests:
        assert len(request.messages) <= 4
        assert_paired(request.messages)
        assert request.messages[0] == UserMessage("go")


@both
def test_a_summary_stands_for_what_is_old(style: str) -> None:
    """AJ-53"""
    summing = ScriptedChatModel("m1 to m4", "m1 to m6")
    policy = Summary(summing, max_messages=4, keep=1)
    asked, model = agent("m6", "m8", "m10", conversation_policy=policy)
    calls(style, asked, "invoke", LONG, "t")
    assert short(model.requests[0].messages) == ["U:Summary of the conversation so far: m1 to m4", "U:m5"]
    calls(style, asked, "invoke", "m7", "t")
    assert short(model.requests[1].messages)[1:] == ["U:m5", "A:m6", "U:m7"]
    assert len(summing.requests) == 1
    state = calls(style, asked, "invoke", "m9", "t")
    assert short(model.requests[2].messages) == ["U:Summary of the conversation so far: m1 to m6", "U:m9"]
    assert "m1 to m4" in str(summing.requests[1].messages[-1])
    assert len(state.messages) == 10


@both
def test_a_summary_stands_for_the_old_rounds_of_a_long_turn_too(style: str) -> None:
    summing = ScriptedChatModel("rounds 1 and 2", "rounds 1 to 4")
    asked, model = agent(
        *(call("add", f"c{number}", a=number, b=1) for number in range(5)),
        "done",
        tools=[add],
        conversation_policy=Summary(summing, max_messages=6, keep=3),
    )
    state = calls(style, asked, "invoke", "go")
    assert len(state.messages) == 12
    sent = [short(request.messages) for request in model.requests]
    assert sent[2] == ["U:go", "A?c0", "R:1", "A?c1", "R:2"]
    assert sent[3] == ["U:Summary of the conversation so far: rounds 1 and 2", "U:go", "A?c2", "R:3"]
    assert sent[4] == [*sent[3], "A?c3", "R:4"]
    assert sent[5] == ["U:Summary of the conversation so far: rounds 1 to 4", "U:go", "A?c4", "R:5"]
    assert "User: go" in str(summing.requests[0].messages[-1])
    for request in model.requests:
        assert_paired(request.messages)


def test_a_summary_of_another_conversation_is_never_used() -> None:
    """AGT-19"""
    summing = ScriptedChatModel("of ann", "of bob")
    policy = Summary(summing, max_messages=2, keep=1)
    for name in ("ann", "bob"):
        shown = policy([UserMessage(f"I am {name}"), AiMessage("hi"), UserMessage("so?")])
        assert shown[0].text == f"Summary of the conversation so far: of {name}"  # type: ignore[union-attr]


def test_when_summing_up_fails_everything_is_sent() -> None:
    asked, model = agent(
        "ok", conversation_policy=Summary(ScriptedChatModel(OSError("down")), max_messages=2)
    )
    asked.invoke(LONG)
    assert list(model.request.messages) == LONG
    with pytest.raises(ValueError, match="keep is 5"):
        Summary(ScriptedChatModel(), max_messages=3, keep=5)
