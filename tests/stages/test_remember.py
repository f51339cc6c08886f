"""What a call takes from memory, and what it leaves there."""

from __future__ import annotations

from typing import Annotated, Any, Protocol

import pytest

import aiservices
import guardrails
from aiservices import (
    AiMessage,
    ChatResponse,
    EmptyAnswerError,
    InMemoryStore,
    InputGuardrailError,
    MemoryId,
    MessageWindowChatMemory,
    Result,
    ReturnBehavior,
    SystemMessage,
    ToolCall,
    UserMessage,
    messages_from_json,
    stateless,
    tool,
)
from aiservices.memory import repaired
from aiservices.testing import ScriptedChatModel
from tests.asking import asking
from tests.memory.conversing import CountingStore, a_tool, asks, problems, remembering, short, written


def test_without_a_memory_nothing_is_remembered(invoke: Any) -> None:
    """MEM-03"""
    model = ScriptedChatModel("dog poem", "cat poem")
    service = aiservices.create(asking(str), chat_model=model)
    invoke(service, "ask", "dog")
    invoke(service, "ask", "cat")
    assert short(model.requests[1].messages) == "cat"


def test_a_turn_is_kept_whole_with_all_its_rounds_and_sent_once(invoke: Any) -> None:
    """MEM-08 and MEM-09"""
    memory = MessageWindowChatMemory(20)
    memory.add(*written("U0 A0"))
    service, model = remembering(str, memory, asks("c1"), asks("c2"), "List: …", "more", tools=[a_tool()])
    invoke(service, "ask", "U")
    assert short(model.requests[2].messages) == "U0 A0 U A:c1 R:c1 A:c2 R:c2"
    assert short(memory.messages()) == "U0 A0 U A:c1 R:c1 A:c2 R:c2 List: …"
    invoke(service, "ask", "More?")
    assert short(model.requests[3].messages) == "U0 A0 U A:c1 R:c1 A:c2 R:c2 List: … More?"


def test_a_call_is_one_read_and_one_write_of_a_whole_conversation(invoke: Any) -> None:
    """MEM-17"""
    store = CountingStore()
    service, _ = remembering(
        str, MessageWindowChatMemory(10, store=store), asks("c1"), "ok", "fine", tools=[a_tool()]
    )
    for text in ("first", "second"):
        store.reads = 0
        invoke(service, "ask", text)
        assert store.reads == 1
    assert len(store.writes) == 2
    assert all(not repaired(messages_from_json(text)).repairs for text in store.writes)


def test_a_window_too_small_for_an_exchange_spoils_nothing(invoke: Any) -> None:
    """MEM-01 and MEM-14"""
    for number in range(1, 7):
        memory = MessageWindowChatMemory(number)
        replies = [asks("c1"), "done", "a2", asks("c3", "c4"), asks("c5"), "a3", "a4"]
        service, model = remembering(str, memory, *replies, tools=[a_tool()], system_message="S")
        for text in ("u1", "u2", "u3", "u4"):
            invoke(service, "ask", text)
            assert not problems(memory.messages())
        for request in model.requests:
            assert not problems(request.messages)
            assert isinstance(request.messages[0], SystemMessage)
        firsts = [
            request.messages for request in model.requests if isinstance(request.messages[-1], UserMessage)
        ]
        assert [messages[-1].text for messages in firsts] == ["u1", "u2", "u3", "u4"]
        assert all(len(messages) <= max(number, 2) for messages in firsts)


def test_there_is_one_system_message_in_front_and_a_new_one_takes_its_place(invoke: Any) -> None:
    """MEM-15"""
    languages = iter(["de", "de", "fr"])
    memory = MessageWindowChatMemory(3)
    service, model = remembering(
        str, memory, "a", "b", "c", system_message=lambda context: f"You speak {next(languages)}"
    )
    for text in ("x", "y", "z"):
        invoke(service, "ask", text)
    assert [short(request.messages) for request in model.requests] == [
        "You speak de x",
        "You speak de y",
        "You speak fr z",
    ]
    assert short(memory.messages()) == "You speak fr z c"


def test_a_system_message_that_is_only_in_memory_is_sent(invoke: Any) -> None:
    memory = MessageWindowChatMemory(4)
    memory.add(SystemMessage("S"))
    service, model = remembering(str, memory, "a", "b")
    invoke(service, "ask", "U1")
    invoke(service, "ask", "U2")
    assert short(model.requests[1].messages) == "S U1 a U2"
    assert short(memory.messages()) == "S U2 b"


def test_an_immediate_result_ends_the_turn(invoke: Any) -> None:
    @tool(returns=ReturnBehavior.IMMEDIATE)
    def look() -> str:
        """Look."""
        return "seen"

    memory = MessageWindowChatMemory(10)
    service, model = remembering(Result[str], memory, asks("a"), "hi", tools=[look], remember="raw")
    assert invoke(service, "ask", "U1").immediate
    assert short(memory.messages()) == "U1 A:a R:a"
    invoke(service, "ask", "U2")
    assert short(model.requests[1].messages) == "U1 A:a R:a U2"


@pytest.mark.parametrize(("remember", "kept"), [("validated", "7"), ("raw", "x")])
def test_rejected_answers_and_what_is_said_about_them_are_never_kept(
    invoke: Any, remember: Any, kept: str
) -> None:
    memory = MessageWindowChatMemory(10)
    service, model = remembering(
        int, memory, asks("a"), "x", "y", "7", tools=[a_tool()], parse_retries=2, remember=remember
    )
    assert invoke(service, "ask", "U") == 7
    assert short(memory.messages()) == f"U A:a R:a {kept}"
    assert len(model.requests) == 4


@pytest.mark.parametrize(("remember", "kept"), [("validated", "I say b."), ("raw", "bad")])
def test_the_answer_is_kept_as_the_guardrails_left_it_or_as_the_model_gave_it(
    invoke: Any, remember: Any, kept: str
) -> None:
    def judge(request: Any) -> Any:
        if request.text == "bad":
            return guardrails.Reprompt("it is bad", "Say something else.")
        return guardrails.Rewrite(f"I say {request.text}.")

    memory = MessageWindowChatMemory(10)
    service, _ = remembering(str, memory, "bad", "b", output_guardrails=[judge], remember=remember)
    assert invoke(service, "ask", "U") == "I say b."
    assert short(memory.messages()) == f"U {kept}"


def test_the_user_message_is_kept_as_the_guardrails_left_it_and_without_instructions(invoke: Any) -> None:
    memory = MessageWindowChatMemory(10)
    service, model = remembering(
        int, memory, "7", input_guardrails=[lambda request: guardrails.Rewrite("U without secrets")]
    )
    assert invoke(service, "ask", "U with secrets") == 7
    assert short(memory.messages()) == "U without secrets 7"
    assert model.request.messages[-1].text.startswith("U without secrets\n")


def test_an_input_that_is_refused_leaves_memory_as_it_was(invoke: Any) -> None:
    memory = MessageWindowChatMemory(10)
    service, _ = remembering(str, memory, input_guardrails=[lambda request: guardrails.Fatal("no")])
    with pytest.raises(InputGuardrailError):
        invoke(service, "ask", "U")
    assert memory.messages() == ()


@pytest.mark.parametrize("form", [ChatResponse, None, AiMessage, str])
def test_an_answer_without_text_and_calls_is_not_kept(invoke: Any, form: Any) -> None:
    """PAR-10"""
    memory = MessageWindowChatMemory(10)
    service, model = remembering(form, memory, asks("a"), AiMessage(" "), "hi", tools=[a_tool()])
    if form in (ChatResponse, None):
        invoke(service, "ask", "U1")
    else:
        with pytest.raises(EmptyAnswerError):
            invoke(service, "ask", "U1")
    assert short(memory.messages()) == "U1 A:a R:a"
    invoke(service, "ask", "U2")
    assert short(model.requests[-1].messages) == "U1 A:a R:a U2"


@pytest.mark.parametrize(("text", "kept"), [(None, "U"), ("look at that", "U look at that")])
def test_calls_that_nobody_runs_are_not_kept(invoke: Any, text: str | None, kept: str) -> None:
    memory = MessageWindowChatMemory(10)
    service, _ = remembering(AiMessage, memory, asks("a", text=text))
    assert invoke(service, "ask", "U").tool_calls
    assert short(memory.messages()) == kept


def test_thinking_attributes_and_signatures_come_back_as_they_were(invoke: Any) -> None:
    """MEM-21"""
    call = ToolCall("c1", "look", "{}", {"thought_signature": "ts"})
    plan = AiMessage("let me look", [call], "plan", {"signature": "s"})
    done = AiMessage("done", thinking="it went well", attributes={"signature": "s2"})
    store = InMemoryStore()
    memory = MessageWindowChatMemory(10, store=store)
    service, model = remembering(str, memory, plan, done, "hi", tools=[a_tool()])
    assert invoke(service, "ask", "U1") == "done"
    assert model.requests[1].messages[1] == plan
    other, model = remembering(str, MessageWindowChatMemory(10, store=store), "hi")
    invoke(other, "ask", "U2")
    assert model.request.messages[1] == plan
    assert model.request.messages[3] == done


def test_a_stateless_method_neither_reads_nor_writes() -> None:
    class Desk(Protocol):
        def say(self, id: Annotated[str, MemoryId], text: str) -> str: ...

        @stateless
        def sum_up(self, text: str) -> str: ...

    model, store = ScriptedChatModel("a", "b"), CountingStore()
    service = aiservices.create(
        Desk, chat_model=model, chat_memory_provider=lambda id: MessageWindowChatMemory(9, id, store)
    )
    service.say("ann", "U1")
    reads = store.reads
    service.sum_up("U2")
    assert short(model.requests[1].messages) == "U2"
    assert (store.reads, len(store.writes)) == (reads, 1)
