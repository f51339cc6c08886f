"""What bounds a run when nothing is said, and that a bound which was reached is named."""

from __future__ import annotations

import inspect

import pytest

from aiservices import LimitExceededError, Limits, TokenUsage
from aiservices.messages import AiMessage, ChatRequest, ChatResponse
from aiservices.react import StopReason, react
from tests.react.asking import STYLES, agent, call, calls

both = pytest.mark.parametrize("style", STYLES)


def add(a: int, b: int) -> int:
    return a + b


def endless(request: ChatRequest) -> ChatResponse:
    """An answer that asks for a tool, whatever was said."""
    return ChatResponse(AiMessage(tool_calls=[call("add", a=1, b=1)]), usage=TokenUsage(1000, 1000))


@both
def test_an_agent_that_never_ends_stops_after_twenty_steps(style: str) -> None:
    """AJ-06: tokens have no bound unless one is given."""
    asked, model = agent(*[endless] * 21, tools=[add])
    assert calls(style, asked, "invoke", "go").stop_reason is StopReason.MAX_STEPS
    assert len(model.requests) == 20
    assert inspect.signature(react).parameters["max_steps"].default == 20
    assert (Limits().timeout, Limits().max_tokens) == (600, None)


@both
@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (Limits(max_round_trips=3), "max_round_trips=3"),
        (Limits(max_tool_calls=3), "max_tool_calls=3"),
        (Limits(max_tokens=7000), "max_tokens=7000"),
    ],
    ids=["rounds", "calls", "tokens"],
)
def test_a_limit_that_is_reached_is_named_with_its_number(style: str, limits: Limits, words: str) -> None:
    """LG-25"""
    asked, model = agent(*[endless] * 9, tools=[add], limits=limits)
    with pytest.raises(LimitExceededError, match=words) as caught:
        calls(style, asked, "invoke", "go", "t")
    assert caught.value.limit == words.partition("=")[0]
    assert len(model.requests) == 4
    assert asked.state("t").stop_reason is StopReason.LIMIT
