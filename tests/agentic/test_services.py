"""AI services in systems of agents: their guardrails run, their memories stay whole."""

from __future__ import annotations

from typing import Annotated, Any, Protocol

import pytest

import aiservices
from aiservices import (
    InputGuardrailError,
    MemoryId,
    MessageWindowChatMemory,
    OutputGuardrailError,
    ReturnBehavior,
    ToolCall,
    ToolError,
    ToolResultMessage,
    input_guardrails,
    output_guardrails,
    tool,
    user_message,
)
from aiservices.agentic import AgenticScope, Failed, agent, conditional, parallel, sequence
from aiservices.messages import ChatMessage
from aiservices.testing import ScriptedChatModel
from guardrails import Accept, GuardrailRequest, Reject, Verdict

from .styles import Log, Style


def no_dropping(request: GuardrailRequest[Any]) -> Verdict[Any]:
    return Reject("it says drop") if "drop" in request.text else Accept()


class Guarded(Protocol):
    @agent(output_key="answer")
    @input_guardrails(no_dropping)
    @output_guardrails(no_dropping, max_retries=1)
    @user_message("Do {{ request }}")
    def answer(self, request: str) -> str: ...


def systems(guarded: Any, log: Log) -> dict[str, Any]:
    return {
        "sequence": sequence(sequence(guarded, name="inner"), name="outer"),
        "parallel": sequence(parallel(log.agent("beside"), guarded, name="inner"), name="outer"),
        "conditional": sequence(conditional((lambda scope: True, guarded), name="inner"), name="outer"),
    }


@pytest.mark.parametrize("kind", ["sequence", "parallel", "conditional"])
def test_guardrails_of_an_agent_run_however_it_is_reached(style: Style, log: Log, kind: str) -> None:
    """GRD-17: on the way in nothing is sent, on the way out the failure carries the path of the agent."""
    model = ScriptedChatModel("I drop it", "fine")
    made = systems(aiservices.create(Guarded, chat_model=model), log)[kind]
    refused = style.run(made, request="drop all")
    assert isinstance(refused, Failed)
    assert isinstance(refused.error, InputGuardrailError)
    assert model.requests == []
    judged = style.run(made, request="all")
    assert isinstance(judged, Failed)
    assert isinstance(judged.error, OutputGuardrailError)
    assert judged.error.__notes__ == ["in the agent outer/inner/answer"]
    assert style.run(made, request="all").scope.read("answer") == "fine"


class Boss(Protocol):
    def ask(self, text: str) -> str: ...


def test_guardrails_of_an_agent_run_when_it_is_a_tool(log: Log) -> None:
    """GRD-17"""
    guarded = aiservices.create(Guarded, chat_model=ScriptedChatModel("I drop it"))
    model = ScriptedChatModel(ToolCall("1", "inner", '{"request": "all"}'), "sorry")
    boss = aiservices.create(Boss, chat_model=model, tools=[sequence(guarded, name="inner")])
    assert boss.ask("go") == "sorry"
    result = model.requests[1].messages[-1]
    assert isinstance(result, ToolResultMessage)
    assert result.is_error
    assert "OutputGuardrailError" in result.text


class Front(Protocol):
    @agent(output_key="greeting")
    def talk(self, user: Annotated[str, MemoryId], text: str) -> aiservices.Result[str]: ...


class Expert(Protocol):
    @agent(name="expert", output_key="answer")
    def talk(self, user: Annotated[str, MemoryId], text: str) -> str: ...


def handing_over(calls: list[ToolCall]) -> tuple[Any, ScriptedChatModel]:
    """Agents that share a conversation; the first one may hand over to the other."""
    memories: dict[str, MessageWindowChatMemory] = {}

    def memory(id: str) -> MessageWindowChatMemory:
        return memories.setdefault(id, MessageWindowChatMemory(20, id))

    taken: list[str] = []

    @tool
    def t() -> str:
        return "done"

    def hand_over(to: str) -> str:
        if taken:
            raise ToolError(f"handed over to {taken[0]} already")
        taken.append(to)
        return f"handed over to {to}"

    @tool(returns=ReturnBehavior.IMMEDIATE_IF_LAST)
    def transfer_to_b() -> str:
        return hand_over("b")

    @tool(returns=ReturnBehavior.IMMEDIATE_IF_LAST)
    def transfer_to_c() -> str:
        return hand_over("c")

    model = ScriptedChatModel("done by b")
    front = aiservices.create(
        Front,
        chat_model=ScriptedChatModel(calls, "over to you"),
        chat_memory_provider=memory,
        tools=[t, transfer_to_b, transfer_to_c],
        parallel_tools=False,
    )
    expert = aiservices.create(Expert, chat_model=model, chat_memory_provider=memory)

    def is_for_b(scope: AgenticScope) -> bool:
        return taken == ["b"]

    return sequence(front, conditional((is_for_b, expert))), model


def results(messages: tuple[ChatMessage, ...]) -> list[tuple[str, bool, str]]:
    return [
        (each.tool_call_id, each.is_error, each.text)
        for each in messages
        if isinstance(each, ToolResultMessage)
    ]


def test_whom_a_conversation_is_handed_to_finds_a_result_for_every_call(style: Style) -> None:
    """TOOL-16"""
    made, model = handing_over([ToolCall("c1", "t", "{}"), ToolCall("c2", "transfer_to_b", "{}")])
    assert style.invoke(made, text="go", memory_id="u") == "done by b"
    assert results(model.request.messages) == [("c1", False, "done"), ("c2", False, "handed over to b")]


def test_of_two_hand_overs_in_one_answer_one_is_taken(style: Style) -> None:
    """TOOL-16"""
    made, model = handing_over([ToolCall("c1", "transfer_to_b", "{}"), ToolCall("c2", "transfer_to_c", "{}")])
    assert style.invoke(made, text="go", memory_id="u") == "done by b"
    assert results(model.request.messages) == [
        ("c1", False, "handed over to b"),
        ("c2", True, "handed over to b already"),
    ]
