"""Broken conversations, and what is sent of them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiservices import (
    AiMessage,
    ChatMessage,
    CustomMessage,
    InMemoryStore,
    MemoryRepaired,
    MessageWindowChatMemory,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    messages_from_json,
    messages_to_json,
)
from aiservices.memory import repaired
from aiservices.memory.repairing import LOST
from aiservices.testing import ScriptedChatModel
from tests.memory.conversing import gives, problems, short, talk, written

BROKEN = {
    "MEM-06: cut from a longer one": ("A:c1 R:c1 A U", "U"),
    "it begins with a result": ("R:a U A", "U A"),
    "it begins with an answer": ("A1 U A2", "U A2"),
    "a call without a result": ("U1 A:a U2 A", "U1 A:a R:a U2 A"),
    "a call without a result at the end": ("U A:a", "U A:a R:a"),
    "one of two results is missing": ("U A:a,b R:b A", "U A:a,b R:a R:b A"),
    "results in another order": ("U A:a,b R:b R:a A", "U A:a,b R:a R:b A"),
    "a result twice": ("U A:a R:a R:a A", "U A:a R:a A"),
    "a result without a call": ("U R:a A", "U A"),
    "a result of another call": ("U A:a R:z A", "U A:a R:a A"),
    "a result behind the next words": ("U1 A:a U2 R:a A", "U1 A:a R:a U2 A"),
    "two system messages": ("S1 U S2 A", "S2 U A"),
    "a late system message": ("U S A", "S U A"),
    "nothing of the user at all": ("S A A:a R:a", "S"),
    "two calls with one id": ("U A:a,a R:a R:a A", "U A:a,a R:a R:a A"),
}


@pytest.mark.parametrize("before", BROKEN.values(), ids=BROKEN)
def test_a_broken_conversation_is_sent_whole(before: tuple[str, str]) -> None:
    broken, whole = before
    assert short(repaired(written(broken)).messages) == whole


def test_a_lost_result_is_told_as_an_error() -> None:
    result = repaired([UserMessage("hi"), AiMessage(tool_calls=[ToolCall("c", "pay", "{}")])]).messages[-1]
    assert result == ToolResultMessage("c", "pay", LOST, is_error=True)


def test_answers_without_anything_are_left_out_and_those_with_something_stay() -> None:
    """PAR-10: providers refuse an answer with neither text nor calls."""
    said: list[ChatMessage] = [
        UserMessage("hi"),
        AiMessage(""),
        AiMessage(" \n"),
        AiMessage(None, attributes={"refusal": "No."}),
    ]
    assert repaired(said).messages == (said[0], said[3])


def test_a_valid_conversation_is_left_as_it_is() -> None:
    said = (*written("S U1 A1 U2 A:a,b R:a R:b A:c R:c A2"), CustomMessage({"kind": "note"}))
    assert repaired(said).messages == said
    assert not repaired(said).repairs


anything = st.one_of(
    st.sampled_from(["U", "A", "S", "A:a", "A:a,b", "A:a,a", "R:a", "R:b"]).map(
        lambda word: written(word)[0]
    ),
    st.sampled_from([AiMessage(""), AiMessage(None, attributes={"x": 1}), CustomMessage({"kind": "note"})]),
)


@given(st.lists(anything, max_size=14))
def test_whatever_was_loaded_is_valid_then_and_needs_no_second_repair(messages: list[ChatMessage]) -> None:
    once = repaired(messages)
    assert not problems(once.messages)
    assert repaired(once.messages).messages == once.messages
    assert not repaired(once.messages).repairs
    if not once.repairs:
        assert sorted(map(repr, once.messages)) == sorted(map(repr, messages))


def stored(*messages: ChatMessage) -> tuple[InMemoryStore, Any]:
    store = InMemoryStore()
    store.put("chat", "default", messages_to_json(messages))
    return store, MessageWindowChatMemory(20, store=store)


def test_what_is_loaded_broken_is_reported_once_and_the_store_waits_for_the_next_turn(invoke: Any) -> None:
    """MEM-06"""
    events: list[Any] = []
    store, memory = stored(*written("A:c1 R:c1 A U"))
    model = ScriptedChatModel(RuntimeError("down"), "ok", "fine")
    service = talk(model, memory, listeners=[events.append])
    before = store.get("chat", "default")
    with pytest.raises(RuntimeError):
        invoke(service, "say", "hi")
    assert store.get("chat", "default") == before

    invoke(service, "say", "hi")
    assert short(model.requests[1].messages) == "U hi"
    entry = store.get("chat", "default")
    assert entry
    assert short(messages_from_json(entry.value)) == "U hi ok"
    invoke(service, "say", "again")
    repairs = [event.repairs for event in events if isinstance(event, MemoryRepaired)]
    assert repairs == [("3 messages before the first of the user were left out",)] * 2


def test_a_repair_is_logged_where_nobody_listens(invoke: Any, caplog: pytest.LogCaptureFixture) -> None:
    """MEM-06"""
    _, memory = stored(*written("A:a R:a A U"))
    invoke(talk(["ok"], memory), "say", "hi")
    (record,) = caplog.records
    assert "3 messages before the first of the user were left out" in record.getMessage()


def test_calls_without_results_are_answered_for_good_by_the_next_turn() -> None:
    events: list[Any] = []
    _, memory = stored(*written("U A:a"))
    service = talk(["one", "two"], memory, listeners=[events.append])
    service.say("hi")
    service.say("ho")
    assert short(memory.messages()) == "U A:a R:a hi one ho two"
    assert len([event for event in events if isinstance(event, MemoryRepaired)]) == 1


def test_messages_may_be_added_by_hand_one_after_another() -> None:
    memory = MessageWindowChatMemory(20)
    for message in written("S U A:a,b R:a R:b A"):
        memory.add(message)
    assert short(memory.messages()) == "S U A:a,b R:a R:b A"
    memory.add(*written("A:c"))
    memory.add(gives("c"))
    memory.add(*written("A:d"))
    memory.add(UserMessage("never mind"))  # now the call of d is over without a result
    assert short(memory.messages()).endswith("A:c R:c A:d R:d never mind")
