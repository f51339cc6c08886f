"""Summaries in the place of what no longer fits."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from aiservices import (
    AiMessage,
    ChatModel,
    ChatRequest,
    ChatResponse,
    InMemoryStore,
    SummarizingChatMemory,
    UserMessage,
    messages_from_json,
)
from aiservices.memory.summarizing import SUMMARY
from aiservices.testing import ScriptedChatModel
from tests.memory.conversing import short, talk, written

HISTORY = "U1 A:c1,c2 R:c1 R:c2 A1 U2 A:c3 R:c3"


def kept(store: InMemoryStore) -> str:
    entry = store.get("chat", "default")
    assert entry
    return short(messages_from_json(entry.value)).replace("Summary of the conversation so far: ", "=")


def summarizing(*replies: Any, keep: int = 4, max_messages: int = 8) -> tuple[Any, Any, InMemoryStore]:
    """A memory with the history of MEM-22, the model of its summaries, and its store."""
    model, store = ScriptedChatModel(*replies), InMemoryStore()
    memory = SummarizingChatMemory(model, max_messages=max_messages, keep=keep, store=store)
    memory.add(*written(HISTORY))
    return memory, model, store


def test_whole_exchanges_are_summed_up_once_when_there_are_too_many(invoke: Any) -> None:
    """MEM-22"""
    memory, model, store = summarizing("S", "never")
    service = talk(["ok", "fine"], memory)
    assert not model.requests
    invoke(service, "say", "U3")
    assert len(model.requests) == 1
    assert kept(store) == "=S U3 ok"
    invoke(service, "say", "U4")
    assert len(model.requests) == 1
    assert kept(store) == "=S U3 ok U4 fine"


@pytest.mark.parametrize(
    ("keep", "expected"),
    [(5, "=S U2 A:c3 R:c3 U3 ok"), (4, "=S U3 ok"), (2, "=S U3 ok"), (1, "=S U3 ok")],
)
def test_what_is_kept_begins_with_the_user_and_holds_the_newest_exchange(keep: int, expected: str) -> None:
    memory, _, store = summarizing("S", keep=keep)
    talk(["ok"], memory).say("U3")
    assert kept(store) == expected


def test_the_next_request_has_the_system_message_then_the_summary_then_the_rest() -> None:
    """AJ-44"""
    memory, _, _ = summarizing("S")
    model = ScriptedChatModel("ok", "fine")
    service = talk(model, memory, system_message="Be brief.")
    service.say("U3")
    service.say("U4")
    asked = model.requests[1].messages
    assert short(asked) == "Be brief. Summary of the conversation so far: S U3 ok U4"
    assert dict(asked[1].attributes) == {SUMMARY: True}


def test_the_model_of_the_summary_reads_everything_that_leaves() -> None:
    memory, model, _ = summarizing("S")
    talk(["ok"], memory).say("U3")
    assert model.request.messages[1].text == (
        "User: U1\nAssistant:  [calls look({})] [calls look({})]\nTool look: seen\nTool look: seen\n"
        "Assistant: A1\nUser: U2\nAssistant:  [calls look({})]\nTool look: seen"
    )


def test_a_later_summary_takes_up_the_earlier_one() -> None:
    """AJ-51"""
    memory, model, store = summarizing("first", "second", keep=2, max_messages=4)
    assert kept(store) == "=first U2 A:c3 R:c3"
    talk(["ok"], memory).say("U3")
    assert "first" in model.requests[1].messages[1].text
    assert kept(store) == "=second U3 ok"


def test_a_summary_alone_is_not_summed_up_again_and_again() -> None:
    memory, model, store = summarizing("first", keep=1, max_messages=3)
    assert kept(store) == "=first U2 A:c3 R:c3"
    memory.add(*written("A2"))
    memory.add(*written("A3"))
    assert len(model.requests) == 1
    assert kept(store) == "=first U2 A:c3 R:c3 A2 A3"


@pytest.mark.parametrize("failure", [RuntimeError("down"), "", " \n", AiMessage()])
def test_when_a_summary_fails_everything_is_kept_and_it_is_tried_again_later(
    failure: Any, caplog: pytest.LogCaptureFixture
) -> None:
    memory, model, store = summarizing(failure, "S")
    service = talk(["ok", "fine"], memory)
    with caplog.at_level(logging.WARNING, "aiservices"):
        assert service.say("U3") == "ok"
    assert kept(store) == f"{HISTORY} U3 ok"
    assert "kept whole" in caplog.text
    service.say("U4")
    assert kept(store) == "=S U3 ok U4 fine"
    assert len(model.requests) == 2


class Reverse(ChatModel):
    """Has an asynchronous half only."""

    async def achat(self, request: ChatRequest) -> ChatResponse:
        said = request.messages[-1]
        assert isinstance(said, UserMessage)
        return ChatResponse(AiMessage(said.text[::-1][:9]))


def test_a_model_of_either_kind_serves_services_of_both(invoke: Any) -> None:
    memory = SummarizingChatMemory(Reverse(), max_messages=2)
    service = talk(["one", "two"], memory)
    invoke(service, "say", "U1")
    invoke(service, "say", "U2")
    assert short(memory.messages()).startswith("Summary of the conversation so far: eno :tnat")


@pytest.mark.parametrize(("most", "keep"), [(4, 4), (4, 0), (1, None), (4, 5)])
def test_numbers_that_leave_nothing_to_sum_up_are_refused(most: int, keep: int | None) -> None:
    with pytest.raises(ValueError, match="keep"):
        SummarizingChatMemory(ScriptedChatModel(), max_messages=most, keep=keep)


def test_a_summary_is_a_message_of_the_user_that_can_be_told_apart() -> None:
    memory, _, _ = summarizing("S", max_messages=7)
    first = memory.messages()[0]
    assert isinstance(first, UserMessage)
    assert first.attributes[SUMMARY] is True
