"""Agents as tools of other agents and of services."""

from __future__ import annotations

import asyncio
import gc
from typing import Any, Protocol

import pytest

import aiservices
from aiservices import ChatRequest, ConfigurationError, ToolCall, ToolResultMessage
from aiservices.react import AgentExecutor, AgentState, as_tool, react
from aiservices.testing import ScriptedChatModel
from tests.react.asking import STYLES, agent, call, calls, short

both = pytest.mark.parametrize("style", STYLES)


def results(state: Any) -> list[str]:
    return [
        f"{item.tool_name}: {item.text}" for item in state.messages if isinstance(item, ToolResultMessage)
    ]


@both
def test_an_agent_gives_a_task_to_another(style: str) -> None:
    """AJ-63"""
    child, child_model = agent("Jane Austen", name="researcher", description="Finds things out.")
    asked, model = agent(call("researcher", task="Who wrote Emma?"), "Austen.", tools=[child])
    state = calls(style, asked, "invoke", "go")
    assert results(state) == ["researcher: Jane Austen"]
    assert short(child_model.request.messages) == ["U:Who wrote Emma?"]
    (spec,) = model.requests[0].tools
    assert (spec.name, spec.description) == ("researcher", "Finds things out.")
    assert list(spec.parameters["properties"]) == ["task"]


@both
def test_two_agents_work_side_by_side(style: str) -> None:
    """AJ-64, AJ-74"""
    one, _ = agent("1", name="one")
    two, _ = agent(OSError("down"), name="two")
    asked, _ = agent(
        [call("one", "c1", task="a"), call("two", "c2", task="b")],
        "ok",
        tools=[one, two.as_tool(on_failure="two is away")],
    )
    assert results(calls(style, asked, "invoke", "go")) == ["one: 1", "two: two is away"]


class Asker(Protocol):
    def ask(self, text: str) -> str: ...

    async def aask(self, text: str) -> str: ...


def test_services_and_functions_are_agents_too() -> None:
    service = aiservices.create(Asker, chat_model=ScriptedChatModel("from a service", "and awaited"))

    def count(task: str) -> int:
        return len(task)

    tools = [as_tool(service.ask, name="asker"), as_tool(service.aask, name="aasker"), as_tool(count)]
    for style in STYLES:
        asked, _ = agent([call("count", "c3", task="four")], "ok", tools=tools)
        assert results(calls(style, asked, "invoke", "go")) == ["count: 4"]
    asked, _ = agent([call("asker", "c1", task="a")], [call("aasker", "c2", task="b")], "ok", tools=tools)
    assert results(asked.invoke("go")) == ["asker: from a service", "aasker: and awaited"]


def test_a_service_may_use_an_agent() -> None:
    child, _ = agent("Jane Austen", name="researcher")
    service = aiservices.create(
        Asker, chat_model=ScriptedChatModel(call("researcher", task="?"), "Austen."), tools=[child]
    )
    assert service.ask("go") == "Austen."


@both
def test_agents_that_call_each_other_reach_a_depth_and_no_further(style: str) -> None:
    """AGT-28, AJ-73, NX-06"""

    def delegate(to: str) -> Any:
        def reply(request: ChatRequest) -> Any:
            last = request.messages[-1]
            return last.text if isinstance(last, ToolResultMessage) else call(to, task="deeper")

        return reply

    holder: dict[str, AgentExecutor] = {}

    class Late:
        """Brings the agent that is made later."""

        def __init__(self, name: str) -> None:
            self.name = name

        def provide(self, request: Any) -> list[Any]:
            return [holder[self.name].as_tool(max_depth=3)]

    a, a_model = agent(*[delegate("B")] * 20, tool_providers=[Late("B")], name="A")
    b, b_model = agent(*[delegate("A")] * 20, tool_providers=[Late("A")], name="B")
    holder.update(A=a, B=b)
    state = calls(style, a, "invoke", "go")
    assert state.final_response == "delegation depth 3 reached: A > B > A"
    assert len(a_model.requests) + len(b_model.requests) == 6


@both
def test_an_agent_that_takes_too_long_is_given_up(style: str) -> None:
    """AJ-71"""
    left: list[str] = []

    async def endless(request: ChatRequest) -> str:
        try:
            await asyncio.Event().wait()
        finally:
            left.append("left")
        return "never"

    child, _ = agent(endless, name="slow")
    asked, _ = agent(call("slow", task="a"), "ok", tools=[child.as_tool(timeout=0.02, on_failure="too slow")])
    assert results(calls(style, asked, "invoke", "go")) == ["slow: too slow"]
    assert left == ["left"]


@both
def test_a_failure_is_told_to_the_agent_that_called(style: str) -> None:
    child, _ = agent(OSError("down"), OSError("down"), name="child")
    asked, _ = agent(
        call("child", "c1", task="a"),
        call("other", "c2", task="b"),
        "ok",
        tools=[
            child,
            child.as_tool(name="other", on_failure=lambda error: f"not today: {error}"),
        ],
    )
    state = calls(style, asked, "invoke", "go")
    assert results(state)[0].startswith('child: TOOL_ERROR: {"error_type": "OSError"')
    assert results(state)[1] == "other: not today: down"
    assert state.final_response == "ok"


@both
def test_an_agent_that_stops_short_or_waits_has_no_answer(style: str) -> None:
    def add(a: int) -> int:
        return a

    short_, _ = agent(call("add", a=1), tools=[add], max_steps=1, name="short")
    waits, _ = agent(call("add", a=1), tools=[add], approvals={"add": True}, name="waits")
    asked, _ = agent(
        [call("short", "c1", task="a"), call("waits", "c2", task="b")], "ok", tools=[short_, waits]
    )
    assert results(calls(style, asked, "invoke", "go")) == [
        "short: The agent 'short' stopped without an answer: max_steps.",
        "waits: The agent 'waits' waits for somebody to approve: add.",
    ]


@both
@pytest.mark.parametrize("remembers", [False, True])
def test_calls_of_one_run_may_share_a_conversation(style: str, remembers: bool) -> None:
    """AGT-29"""
    child, child_model = agent("noted", "Ana", "who?", name="child")
    asks: list[Any] = [call("child", "c1", task="I am Ana"), call("child", "c2", task="Who am I?"), "ok"]
    asked, _ = agent(
        *asks, call("child", "c3", task="Who am I?"), "ok", tools=[child.as_tool(remembers=remembers)]
    )
    calls(style, asked, "invoke", "go", "t")
    calls(style, asked, "invoke", "go", "t")
    seen = [short(request.messages) for request in child_model.requests]
    shared = ["U:I am Ana", "A:noted", "U:Who am I?"]
    assert seen == [["U:I am Ana"], shared if remembers else shared[2:], ["U:Who am I?"]]


@both
def test_an_agent_calls_itself_in_a_thread_of_its_own(style: str) -> None:
    holder: list[AgentExecutor] = []

    class Itself:
        def provide(self, request: Any) -> list[Any]:
            return [holder[0]]

    asked, _ = agent(call("agent", task="inner"), "inner answer", "outer answer", tool_providers=[Itself()])
    holder.append(asked)
    state = calls(style, asked, "invoke", "go", "t")
    assert (results(state), state.final_response) == (["agent: inner answer"], "outer answer")


@pytest.mark.parametrize("options", [{"max_depth": 0}, {"name": "no name"}, {"on_failure": 3}])
def test_unfit_options_are_refused(options: Any) -> None:
    child, _ = agent()
    with pytest.raises(ConfigurationError):
        react(chat_model=ScriptedChatModel(), tools=[child.as_tool(**options)])


def test_what_cannot_be_asked_is_no_agent() -> None:
    with pytest.raises(ConfigurationError, match="is no agent"):
        as_tool(ToolCall("a", "b", "c"))


@pytest.mark.parametrize("timeout", [0, -1.0, float("nan")])
def test_a_time_out_of_no_time_is_refused(timeout: float) -> None:
    sub, _ = agent(name="sub")
    with pytest.raises(ConfigurationError, match="timeout is"):
        sub.as_tool(timeout=timeout)


@both
def test_what_is_remembered_of_runs_has_an_end(style: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aiservices.react.subagents.MOST_REMEMBERED", 2)
    threads: list[str] = []

    class Noting:
        def before(self, state: AgentState) -> None:
            threads.append(state.thread_id)

    child, _ = agent(*["noted"] * 6, name="child", call_model_hooks=[Noting()])
    asks: list[Any] = [call("child", "c1", task="a"), call("child", "c2", task="b"), "ok"]
    asked, _ = agent(*asks * 3, tools=[child.as_tool(remembers=True)])
    for _ in range(3):
        calls(style, asked, "invoke", "go")
    gc.collect()
    assert [len(child.history(id)) for id in threads[::2]] == [0, 4, 4]


@both
def test_an_agent_that_waits_for_nobody_leaves_nothing(style: str) -> None:
    waiting: list[str] = []

    def is_guarded(wanted: ToolCall, state: AgentState) -> bool:
        waiting.append(state.thread_id)
        return True

    def add(a: int, b: int) -> int:
        raise AssertionError

    child, _ = agent(call("add", a=1, b=2), name="child", tools=[add], approvals={"add": is_guarded})
    asked, _ = agent(call("child", task="a"), "ok", tools=[child])
    state = calls(style, asked, "invoke", "go")
    assert "waits for somebody to approve: add" in results(state)[0]
    gc.collect()
    assert child.history(waiting[0]) == []
