"""An agent as a node of a real LangGraph graph."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

from aiservices import AgentError, AiMessage, MissingExtraError, ToolResultMessage, UserMessage
from tests.react.asking import STYLES, agent, call, short

both = pytest.mark.parametrize("style", STYLES)

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # theirs, not ours
    langgraph = pytest.importorskip("langgraph.graph")
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage


def add(a: int, b: int) -> int:
    return a + b


def graph(node: Any) -> Any:
    built = langgraph.StateGraph(langgraph.MessagesState)
    built.add_node("ours", node)
    built.add_edge(langgraph.START, "ours")
    built.add_edge("ours", langgraph.END)
    return built.compile()


def run(style: str, compiled: Any, messages: list[Any]) -> list[Any]:
    given = {"messages": messages}
    state = compiled.invoke(given) if style == "blocking" else asyncio.run(compiled.ainvoke(given))
    found: list[Any] = state["messages"]
    return found


@both
def test_a_graph_runs_our_agent_as_a_node(style: str) -> None:
    asked, model = agent(call("add", a=1, b=2), "It is 3.", tools=[add])
    messages = run(style, graph(asked.as_langgraph_node()), [HumanMessage("1 + 2?")])
    assert [type(item) for item in messages] == [HumanMessage, AIMessage, ToolMessage, AIMessage]
    assert messages[1].tool_calls[0]["args"] == {"a": 1, "b": 2}
    assert (messages[2].tool_call_id, messages[2].content, messages[2].status) == ("c1", "3", "success")
    assert messages[3].content == "It is 3."
    assert short(model.requests[0].messages) == ["U:1 + 2?"]


@both
def test_the_conversation_of_the_graph_reaches_the_agent(style: str) -> None:
    asked, model = agent("ok", system_message="Be brief.")
    said = [
        SystemMessage("And kind."),
        HumanMessage("a"),
        AIMessage("", tool_calls=[{"id": "x", "name": "add", "args": {"a": 1}}]),
        ToolMessage("no", tool_call_id="x", name="add", status="error"),
        AIMessage("b"),
        HumanMessage("c"),
    ]
    assert len(run(style, graph(asked.as_langgraph_node()), said)) == 7
    system, *rest = model.request.messages
    assert system.text == "Be brief.\n\nAnd kind."  # type: ignore[union-attr]
    assert rest == [
        UserMessage("a"),
        AiMessage(tool_calls=[call("add", "x", a=1)]),
        ToolResultMessage("x", "add", "no", is_error=True),
        AiMessage("b"),
        UserMessage("c"),
    ]


def test_a_node_cannot_wait_for_approval() -> None:
    asked, _ = agent(call("add", a=1, b=2), tools=[add], approvals={"add": True})
    with pytest.raises(AgentError, match="approve add"):
        run("blocking", graph(asked.as_langgraph_node()), [HumanMessage("go")])


def test_without_langgraph_the_extra_is_named() -> None:
    program = (
        "import sys; sys.modules['langgraph'] = None\n"
        "from aiservices.react import react\n"
        "from aiservices.testing import ScriptedChatModel\n"
        "try:\n    react(chat_model=ScriptedChatModel()).as_langgraph_node()\n"
        "except ImportError as error:\n    print(type(error).__name__, error)\n"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(MissingExtraError.__name__)
    assert "aiservices[langgraph]" in done.stdout
