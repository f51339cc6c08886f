"""Hooks around the nodes, and policies that shape requests."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from typing import Any

import pytest

from aiservices import (
    AiMessage,
    ChatRequest,
    UserMessage,
)
from aiservices.react import AgentState, Channel, StopReason
from tests.react.asking import STYLES, agent, call, calls, outputs, short

both = pytest.mark.parametrize("style", STYLES)
kinds = pytest.mark.parametrize("kind", ["blocking hook", "asynchronous hook"])


def add(a: int, b: int) -> int:
    return a + b


class Tracing:
    """Notes what it is called for."""

    def __init__(self, name: str, trace: list[str]) -> None:
        self.name = name
        self.trace = trace

    def before(self, state: AgentState) -> None:
        self.trace.append(f"{self.name} before")

    def around(self, state: AgentState, proceed: Any) -> Any:
        self.trace.append(f"{self.name} in")
        update = proceed(state)
        self.trace.append(f"{self.name} out")
        return update

    def after(self, state: AgentState, update: Any) -> None:
        self.trace.append(f"{self.name} after")


class AsyncTracing(Tracing):
    async def before(self, state: AgentState) -> None:
        self.trace.append(f"{self.name} before")

    async def around(self, state: AgentState, proceed: Any) -> Any:
        self.trace.append(f"{self.name} in")
        update = await proceed(state)
        self.trace.append(f"{self.name} out")
        return update

    async def after(self, state: AgentState, update: Any) -> None:
        self.trace.append(f"{self.name} after")


TRACING = {"blocking hook": Tracing, "asynchronous hook": AsyncTracing}


@both
@kinds
def test_the_first_hook_is_outermost(style: str, kind: str) -> None:
    """LG-41, LG-43, LG-44, AGT-19"""
    trace: list[str] = []
    hooks = [TRACING[kind](name, trace) for name in ("one", "two")]
    asked, _ = agent("ok", call_model_hooks=hooks)
    assert calls(style, asked, "invoke", "go").final_response == "ok"
    assert trace == [
        "one before",
        "one in",
        "two before",
        "two in",
        "two out",
        "two after",
        "one out",
        "one after",
    ]


@both
def test_both_nodes_have_hooks(style: str) -> None:
    """LG-56: the action node is passed only when there are calls."""
    trace: list[str] = []
    asked, _ = agent(
        call("add", a=1, b=2),
        "3",
        tools=[add],
        call_model_hooks=[Tracing("agent", trace)],
        execute_tools_hooks=[AsyncTracing("action", trace)],
    )
    calls(style, asked, "invoke", "go")
    assert [entry for entry in trace if entry.endswith(("in", "out"))] == [
        "agent in",
        "agent out",
        "action in",
        "action out",
        "agent in",
        "agent out",
    ]


@both
@kinds
def test_a_hook_changes_what_the_node_sees_and_what_it_leaves(style: str, kind: str) -> None:
    class Shaping:
        def before(self, state: AgentState) -> AgentState:
            return state.replace(messages=(UserMessage("other words"),))

        def after(self, state: AgentState, update: Any) -> Any:
            assert state.messages == (UserMessage("other words"),)
            return {**update, "final_response": update["final_response"].upper(), "log": ["asked"]}

    class AsyncShaping(Shaping):
        async def before(self, state: AgentState) -> AgentState:
            return super().before(state)

        async def after(self, state: AgentState, update: Any) -> Any:
            return super().after(state, update)

    hook = Shaping() if kind == "blocking hook" else AsyncShaping()
    log = Channel(lambda old, new: [*old, *new], default=list)
    asked, model = agent("ok", "ok", call_model_hooks=[hook], channels={"log": log})
    state = calls(style, asked, "invoke", "go", "t")
    assert short(model.request.messages) == ["U:other words"]
    assert short(state.messages) == ["U:other words", "A:ok"]
    assert (state.final_response, state.log, state["log"], state.channels["log"]) == ("OK", *[["asked"]] * 3)
    assert calls(style, asked, "invoke", "more", "t").log == ["asked", "asked"]


@both
@kinds
def test_a_hook_may_answer_in_the_place_of_the_node(style: str, kind: str) -> None:
    class Cached:
        def around(self, state: AgentState, proceed: Any) -> Any:
            return {"messages": AiMessage("cached"), "final_response": "cached"}

    class AsyncCached:
        async def around(self, state: AgentState, proceed: Any) -> Any:
            return {"messages": AiMessage("cached"), "final_response": "cached"}

    asked, model = agent(call_model_hooks=[Cached() if kind == "blocking hook" else AsyncCached()])
    state = calls(style, asked, "invoke", "go")
    assert (state.final_response, state.stop_reason, model.requests) == ("cached", StopReason.FINAL, [])


@both
@kinds
def test_a_hook_may_run_the_node_again(style: str, kind: str) -> None:
    """LG-49, LG-50: failed attempts reach neither state nor checkpoints"""

    class Retrying:
        def around(self, state: AgentState, proceed: Any) -> Any:
            for _ in range(2):
                try:
                    return proceed()
                except OSError:
                    pass
            return proceed(state)

    class AsyncRetrying:
        async def around(self, state: AgentState, proceed: Any) -> Any:
            for _ in range(2):
                try:
                    return await proceed()
                except OSError:
                    pass
            return await proceed(state)

    hook = Retrying() if kind == "blocking hook" else AsyncRetrying()
    asked, model = agent(OSError("1"), OSError("2"), "ok", call_model_hooks=[hook])
    state = calls(style, asked, "invoke", "go", "t")
    assert short(state.messages) == ["U:go", "A:ok"]
    assert len(model.requests) == 3
    assert len(asked.history("t")) == 2


@both
@pytest.mark.parametrize("method", ["before", "around", "after"])
def test_a_failing_hook_is_named_and_the_run_can_go_on(style: str, method: str) -> None:
    """AGT-19, AJ-36"""

    class Failing:
        failures = 1

        def fail(self, *_: Any) -> Any:
            if self.failures:
                self.failures -= 1
                raise ValueError("oh")

    def around(self: Any, state: AgentState, proceed: Any) -> Any:
        self.fail()
        return proceed(state)

    setattr(Failing, method, around if method == "around" else Failing.fail)
    asked, _ = agent(call("add", a=1, b=2), "3", tools=[add], execute_tools_hooks=[Failing()])
    with pytest.raises(ValueError, match="oh") as caught:
        calls(style, asked, "invoke", "go", "t")
    assert f"raised by the hook Failing.{method} of the node 'action'" in caught.value.__notes__
    assert asked.history("t")[0].next == "action"
    assert calls(style, asked, "resume", "t").final_response == "3"


def test_a_hook_that_only_lets_an_error_pass_is_not_named() -> None:
    asked, _ = agent(OSError("down"), call_model_hooks=[Tracing("one", [])])
    with pytest.raises(OSError) as caught:
        asked.invoke("go")
    assert not any("hook" in note for note in caught.value.__notes__)


def test_what_a_hook_leaves_out_has_a_result_all_the_same() -> None:
    class Forgetful:
        def around(self, state: AgentState, proceed: Any) -> Any:
            update = proceed(state)
            return {"messages": [UserMessage("by the way"), update["messages"][1]]}

    asked, _ = agent(
        [call("add", "c1", a=1, b=2), call("add", "c2", a=2, b=2)],
        "ok",
        tools=[add],
        execute_tools_hooks=[Forgetful()],
    )
    assert short(asked.invoke("go").messages) == [
        "U:go",
        "A?c1,c2",
        "E:The call did not run: a hook left it out.",
        "R:4",
        "U:by the way",
        "A:ok",
    ]


def test_hooks_of_many_threads_see_their_own_state() -> None:
    """AGT-19"""

    class Counting:
        def __init__(self) -> None:
            self.seen: dict[str, set[Any]] = {}

        def before(self, state: AgentState) -> AgentState:
            self.seen.setdefault(state.thread_id, set()).add(state.who)
            return state.replace(who=state.thread_id)

    hook = Counting()
    asked, _ = agent(*["ok"] * 60, call_model_hooks=[hook], channels={"who": None})
    ids = [f"t{number}" for number in range(20)]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(3):
            list(pool.map(lambda id: asked.invoke("go", id), ids))
    assert hook.seen == {id: {None, id} for id in ids}


WHO: ContextVar[str] = ContextVar("who", default="nobody")


@both
def test_context_variables_reach_hooks_tools_and_policies(style: str) -> None:
    """LG-33, LG-35"""
    seen: list[str] = []

    def look() -> None:
        seen.append(WHO.get())

    async def policy(messages: Any, state: AgentState) -> Any:
        look()
        return messages

    class Looking:
        def before(self, state: AgentState) -> None:
            look()

        async def around(self, state: AgentState, proceed: Any) -> Any:
            look()
            return await proceed(state)

    asked, _ = agent(
        call("look"),
        "ok",
        tools=[look],
        call_model_hooks=[Looking()],
        conversation_policy=policy,
        execute_tools_hooks=[Looking()],
    )
    token = WHO.set("ann")
    calls(style, asked, "invoke", "go")
    WHO.reset(token)
    assert seen == ["ann"] * 9


@both
def test_a_stream_passes_through_hooks(style: str) -> None:
    """LG-47: what a blocking hook stands around comes when it is done"""
    for hook in (Tracing("one", []), AsyncTracing("one", [])):
        asked, _ = agent("a b c", call_model_hooks=[hook])
        shown = outputs(style, asked, "go", tokens=True)
        assert [output.event.text for output in shown if output.event] == ["a", " b", " c"]  # type: ignore[union-attr]
        assert [output.node for output in shown if not output.event] == ["start", "agent", "end"]


def test_a_hook_sees_every_request_of_its_run() -> None:
    seen: list[int] = []

    def reply(request: ChatRequest) -> Any:
        seen.append(len(request.messages))
        return call("add", f"c{len(seen)}", a=1, b=1) if len(seen) < 3 else "done"

    asked, _ = agent(reply, reply, reply, tools=[add], call_model_hooks=[Tracing("one", [])])
    asked.invoke("go")
    assert seen == [1, 3, 5]


@both
def test_a_channel_counts_updates_of_equal_values(style: str, kept: dict[str, Any]) -> None:
    class Counting:
        def after(self, state: AgentState, update: Any) -> Any:
            return {**update, "asked": 1, "who": "x"}

    channels = {"asked": Channel(lambda old, new: old + new, default=0), "who": lambda old, new: old + new}
    asked, _ = agent("a", "b", "c", call_model_hooks=[Counting()], channels=channels, **kept)
    states = [calls(style, asked, "invoke", "go", "t") for _ in range(3)]
    assert [(state.asked, state.who) for state in states] == [(1, "x"), (2, "xx"), (3, "xxx")]


def test_an_update_that_hands_back_the_state_changes_nothing() -> None:
    """AGT-20"""

    class Echoing:
        def after(self, state: AgentState, update: Any) -> Any:
            return {**state.channels, **update}

    asked, _ = agent(
        "a",
        call_model_hooks=[Echoing()],
        channels={"log": Channel(lambda old, new: old + new, default=lambda: ["begun"])},
    )
    assert asked.invoke("go").log == ["begun"]


@both
def test_an_error_of_the_model_is_not_laid_at_a_hooks_door(style: str) -> None:
    class Looking:
        def before(self, state: AgentState) -> None:
            pass

    asked, _ = agent(OSError("down"), call_model_hooks=[Looking(), Tracing("a", [])])
    with pytest.raises(OSError, match="down") as caught:
        calls(style, asked, "invoke", "go")
    assert not [note for note in caught.value.__notes__ if "hook" in note]
