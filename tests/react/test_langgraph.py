"""An agent as a node of a real LangGraph graph."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from aiservices import (
    AgentError,
    AiMessage,
    ImageContent,
    InMemoryStore,
    MissingExtraError,
    PdfContent,
    TextContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from aiservices.react import AgentState
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


@both
def test_a_node_cannot_wait_for_approval(style: str) -> None:
    """Nobody would come back for it, so that nothing of it stays."""
    store = InMemoryStore()
    options: dict[str, Any] = {"tools": [add], "approvals": {"add": True}, "checkpointer": store}
    asked, _ = agent(call("add", a=1, b=2), **options)
    with pytest.raises(AgentError, match="approve add"):
        run(style, graph(asked.as_langgraph_node()), [HumanMessage("go")])
    assert store.keys("aiservices.react.threads") == []


@both
@pytest.mark.parametrize("shape", [dict, SimpleNamespace])
def test_a_graph_whose_conversation_has_another_name_is_told_how_to_say_so(style: str, shape: Any) -> None:
    asked, _ = agent()
    node, state = asked.as_langgraph_node(), shape(conversation=[HumanMessage("Hi")])
    with pytest.raises(AgentError, match=r"the state of the graph has no 'messages'.*messages_key="):
        node.invoke(state) if style == "blocking" else asyncio.run(node.ainvoke(state))


@both
def test_messages_that_the_graph_has_not_made_objects_of_are_read_as_langchain_reads_them(style: str) -> None:
    asked, model = agent("ok")
    said = [{"role": "system", "content": "Be kind."}, ("user", "Hello"), ("ai", "Hi"), "Who are you?"]
    node = asked.as_langgraph_node()
    given = {"messages": said}
    added = node.invoke(given) if style == "blocking" else asyncio.run(node.ainvoke(given))
    assert short(model.requests[0].messages) == ["SystemMessage", "U:Hello", "A:Hi", "U:Who are you?"]
    assert [item.content for item in added["messages"]] == ["ok"]


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


@both
def test_arguments_that_are_no_mapping_reach_the_graph_and_come_back(style: str) -> None:
    odd = [ToolCall("c1", "add", "no JSON"), ToolCall("c2", "add", "[1]"), call("add", "c3", a=1, b=2)]
    asked, model = agent(odd, "sorry", "again", tools=[add])
    node = asked.as_langgraph_node()
    messages = run(style, graph(node), [HumanMessage("go")])
    assert [item["id"] for item in messages[1].invalid_tool_calls] == ["c1", "c2"]
    run(style, graph(node), [*messages, HumanMessage("and now?")])
    answer = model.requests[-1].messages[1]
    assert {(item.id, item.arguments) for item in answer.tool_calls} == {  # type: ignore[union-attr]
        (item.id, item.arguments) for item in odd
    }


def test_what_hooks_leave_out_of_the_conversation_hides_no_answer() -> None:
    class Trimming:
        def before(self, state: AgentState) -> AgentState:
            return state.replace(messages=state.messages[-1:])

    asked, _ = agent("the answer", call_model_hooks=[Trimming()])
    said = [HumanMessage("a"), AIMessage("b"), HumanMessage("c")]
    messages = run("blocking", graph(asked.as_langgraph_node()), said)
    assert [item.content for item in messages] == ["a", "b", "c", "the answer"]


def test_media_reach_the_agent() -> None:
    asked, model = agent("seen")
    said: list[Any] = [
        "Look",
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,eHg="}},
        {"type": "image", "url": "https://example.org/a.png"},
        {"type": "file", "base64": "eHg=", "mime_type": "application/pdf"},
    ]
    run("blocking", graph(asked.as_langgraph_node()), [HumanMessage(said)])
    assert model.request.messages[0].contents == (  # type: ignore[union-attr]
        TextContent("Look"),
        ImageContent(data=b"xx", media_type="image/png"),
        ImageContent(url="https://example.org/a.png"),
        PdfContent(data=b"xx"),
    )


def test_contents_that_no_agent_can_read_are_refused() -> None:
    asked, model = agent("seen")
    said: list[Any] = [{"type": "file", "base64": "eHg=", "mime_type": "application/zip"}]
    with pytest.raises(AgentError, match="a LangChain content of the type 'file' cannot be read"):
        run("blocking", graph(asked.as_langgraph_node()), [HumanMessage(said)])
    assert model.requests == []


def test_calls_of_other_nodes_need_their_results() -> None:
    asked, model = agent("ok")
    said = [HumanMessage("go"), AIMessage("", tool_calls=[{"id": "x", "name": "add", "args": {}}])]
    with pytest.raises(AgentError, match="begins with calls that have no results"):
        run("blocking", graph(asked.as_langgraph_node()), said)
    assert model.requests == []
