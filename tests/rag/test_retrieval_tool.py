"""Retrieval that the model asks for as a tool."""

from __future__ import annotations

import asyncio
import re
from typing import Annotated, Any, Protocol

import pytest

import aiservices
from aiservices import (
    ConfigurationError,
    InvocationParameters,
    MemoryId,
    MessageWindowChatMemory,
    Result,
    ToolCall,
)
from aiservices.rag import RetrievalAugmentor, ScoredSegment, TextSegment, retrieval_tool
from aiservices.testing import ScriptedChatModel

from .looking_up import AsyncSource, Source


class Agent(Protocol):
    def ask(self, text: str) -> Result[str]: ...
    async def aask(self, text: str) -> Result[str]: ...


LOOK = ToolCall("c1", "search_knowledge", '{"query": "bees"}')


def results_of(model: ScriptedChatModel) -> str:
    return model.requests[-1].messages[-1].text or ""


@pytest.mark.parametrize("source", [Source, AsyncSource])
def test_the_model_looks_things_up_and_the_program_sees_what_was_found(
    invoke: Any, source: type[Source]
) -> None:
    passages = [ScoredSegment(TextSegment("Bees dance.", {"source": "b.txt"}), 0.9, "id1"), "{{ honey }}"]
    knowledge = source(*passages)
    model = ScriptedChatModel(LOOK, "They dance.")
    agent = aiservices.create(Agent, chat_model=model, tools=[retrieval_tool(knowledge, metadata=["source"])])
    result = invoke(agent, "ask", "What do bees do?")
    assert result.content == "They dance."
    (done,) = result.tool_executions
    assert done.value == [passages[0], ScoredSegment(TextSegment("{{ honey }}"))]
    assert result.sources == ()
    assert knowledge.texts == ["bees"]
    inside = r"\[1\] content: Bees dance\.\nsource: b\.txt\n\n\[2\] \{\{ honey \}\}"
    assert re.fullmatch(rf"<(retrieved-\w+)>\n{inside}\n</\1>", results_of(model))


def test_nothing_found_is_told_to_the_model(invoke: Any) -> None:
    model = ScriptedChatModel(LOOK, "ok")
    invoke(aiservices.create(Agent, chat_model=model, tools=[retrieval_tool(Source())]), "ask", "hi")
    assert results_of(model) == "Nothing was found."


def test_a_failing_retriever_is_told_to_the_model_like_any_failing_tool(invoke: Any) -> None:
    def broken(query: Any) -> Any:
        raise ConnectionError("gone")

    model = ScriptedChatModel(LOOK, "ok")
    invoke(aiservices.create(Agent, chat_model=model, tools=[retrieval_tool(broken)]), "ask", "hi")
    assert '"error_type": "ConnectionError"' in results_of(model)


def test_it_is_named_and_described_and_may_stand_for_a_whole_augmentor(invoke: Any) -> None:
    manual = RetrievalAugmentor(retrievers=[Source("a"), AsyncSource("b")])
    search = retrieval_tool(manual, name="search_manual", description="Search the manual.")
    model = ScriptedChatModel(ToolCall("c1", "search_manual", '{"query": "x"}'), "ok")
    result = invoke(aiservices.create(Agent, chat_model=model, tools=[search]), "ask", "hi")
    assert [each.text for each in result.tool_executions[0].value] == ["a", "b"]
    (spec,) = model.requests[0].tools
    assert (spec.name, spec.description) == ("search_manual", "Search the manual.")
    assert list(spec.parameters["properties"]) == ["query"]


def test_its_queries_know_the_caller() -> None:
    class Chat(Protocol):
        def ask(self, user: Annotated[str, MemoryId], text: str, given: InvocationParameters) -> str: ...

    knowledge = Source("a")
    chat = aiservices.create(
        Chat,
        chat_model=ScriptedChatModel(LOOK, "ok"),
        tools=[retrieval_tool(knowledge)],
        chat_memory_provider=lambda id: MessageWindowChatMemory(10, id),
    )
    chat.ask("ann", "hi", InvocationParameters({"tenant": "t1"}))
    context = knowledge.queries[0].context
    assert context is not None
    assert (context.memory_id, context.parameters["tenant"]) == ("ann", "t1")


def test_an_asynchronous_retriever_runs_on_the_loop_of_an_asynchronous_service() -> None:
    """Clients of databases and servers belong to the loop they were made on."""
    loops: list[Any] = []

    async def retrieve(query: Any) -> list[str]:
        loops.append(asyncio.get_running_loop())
        return ["a"]

    agent = aiservices.create(
        Agent, chat_model=ScriptedChatModel(LOOK, "ok"), tools=[retrieval_tool(retrieve)]
    )

    async def ask() -> None:
        await agent.aask("hi")
        assert loops == [asyncio.get_running_loop()]

    asyncio.run(ask())


def test_what_is_no_retriever_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="the retriever 3 is neither"):
        retrieval_tool(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("keys", ["source", [1]])
def test_what_are_no_keys_is_refused(keys: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"metadata (is the text 'source'|has 1 among its keys)"):
        retrieval_tool(Source(), metadata=keys)
