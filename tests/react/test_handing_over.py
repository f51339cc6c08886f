"""Handing tasks over to other agents: rules for it, what happens in its place, and what is heard of it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

import aiservices
from aiservices import Allow, Deny, RetryCalls, ToolCall, ToolContext, ToolOutcome, ToolResultMessage
from aiservices.events import ToolFinished, ToolStarted
from aiservices.react import StopReason
from aiservices.testing import ScriptedChatModel
from tests.asking import asking
from tests.react.asking import STYLES, agent, call, calls, cancelled_when, short

both = pytest.mark.parametrize("style", STYLES)


class Instead:
    """Answers for an agent that may not be called."""

    def around(self, asked: ToolCall, context: ToolContext, proceed: Any) -> ToolOutcome:
        return ToolOutcome("from the deputy")


class Rewriting:
    def around(self, asked: ToolCall, context: ToolContext, proceed: Any) -> Any:
        return proceed(replace(asked, arguments='{"task": "another task"}'))


REFUSED = "The tool 'child' is not allowed here."
RULES = [
    pytest.param(Allow("other"), ["never"], [], REFUSED, id="AJ-67"),
    pytest.param(Instead(), ["never"], [], "from the deputy", id="AJ-68"),
    pytest.param(
        Deny("child", reason="Do it yourself."), ["never"], [], f"{REFUSED} Do it yourself.", id="AJ-69"
    ),
    pytest.param(
        RetryCalls("child", attempts=2, wait=0.001),
        [OSError("down"), "done"],
        ["a task", "a task"],
        "done",
        id="AJ-70",
    ),
    pytest.param(Rewriting(), ["done"], ["another task"], "done", id="AJ-72"),
]


@both
@pytest.mark.parametrize(("rule", "replies", "tasks", "told"), RULES)
def test_a_rule_stands_between_an_agent_and_another(
    style: str, rule: Any, replies: list[Any], tasks: list[str], told: str
) -> None:
    """AJ-67 to AJ-70, AJ-72: a refusal is a readable result, and the agent that called goes on."""
    child, child_model = agent(*replies, name="child")
    asked, _ = agent(call("child", task="a task"), "ended", tools=[child], interceptors=[rule])
    state = calls(style, asked, "invoke", "go")
    assert [item.text for item in state.messages if isinstance(item, ToolResultMessage)] == [told]
    assert (state.stop_reason, state.final_response) == (StopReason.FINAL, "ended")
    assert [short(request.messages) for request in child_model.requests] == [[f"U:{task}"] for task in tasks]


@both
def test_listeners_of_a_service_hear_of_the_agents_that_it_calls(style: str) -> None:
    """AJ-65"""
    heard: list[Any] = []
    child, _ = agent("Jane Austen", name="researcher")
    service = aiservices.create(
        asking(str),
        chat_model=ScriptedChatModel(call("researcher", task="?"), "Austen."),
        tools=[child],
        listeners=[heard.append],
    )
    assert calls(style, service, "ask", "go") == "Austen."
    began, ended = [event for event in heard if isinstance(event, ToolStarted | ToolFinished)]
    assert isinstance(began, ToolStarted)
    assert isinstance(ended, ToolFinished)
    assert began.call == ended.execution.call == call("researcher", task="?")
    assert (ended.execution.value, ended.execution.is_error) == ("Jane Austen", False)


@both
def test_cancelling_a_run_cancels_the_agent_that_it_waits_for(style: str, kept: dict[str, Any]) -> None:
    """LG-92: the run of the caller can be gone on with."""
    left: list[str] = []
    entered = asyncio.Event()

    async def endless(request: object) -> str:
        entered.set()
        try:
            await asyncio.Event().wait()
        finally:
            left.append("left")
        return "never"

    child, _ = agent(endless, "found", name="child")
    asked, model = agent(call("child", task="a"), "done", tools=[child], **kept)

    cancelled_when(entered, asked, "go", "t")
    assert left == ["left"]
    newest = asked.history("t")[0]
    assert (newest.next, newest.state.final_response) == ("action", None)
    state = calls(style, asked, "resume", "t")
    assert short(state.messages) == ["U:go", "A?c1", "R:found", "A:done"]
    assert len(model.requests) == 2
