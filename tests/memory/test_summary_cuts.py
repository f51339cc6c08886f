"""Where a conversation is cut to be summed up, when, and that a summary is kept like what it stands for."""

from __future__ import annotations

from typing import Any

import pytest

from aiservices import InMemoryStore, SummarizingChatMemory
from aiservices.testing import ScriptedChatModel
from tests.memory.conversing import short, written


def summarizing(*replies: Any, store: InMemoryStore | None = None, **options: Any) -> Any:
    model = ScriptedChatModel(*replies)
    return SummarizingChatMemory(model, store=store, **options), model


def shown(memory: Any) -> str:
    return short(memory.messages()).replace("Summary of the conversation so far: ", "=")


@pytest.mark.parametrize(("messages", "times"), [("U1 A1 U2 A2", 1), ("U1 A1 U2", 0), ("U1 A1", 0), ("", 0)])
def test_a_conversation_is_summed_up_when_it_is_longer_than_allowed(messages: str, times: int) -> None:
    """AJ-46"""
    memory, model = summarizing("S", max_messages=3, keep=2)
    memory.add(*written(messages))
    assert len(model.requests) == times
    assert shown(memory) == ("=S U2 A2" if times else messages)


@pytest.mark.parametrize("keep", [1, 2, 3, 4])
def test_the_cut_is_before_what_a_user_said(keep: int) -> None:
    """AJ-47, AJ-49: never within an exchange, however few messages are to be kept."""
    memory, _ = summarizing("S", max_messages=5, keep=keep)
    memory.add(*written("U1 A:a R:a U2 A:b R:b"))
    assert shown(memory) == "=S U2 A:b R:b"


def test_a_conversation_that_begins_where_the_cut_would_be_stays_whole() -> None:
    """AJ-48: there is nothing before it to sum up."""
    memory, model = summarizing(max_messages=3, keep=2)
    memory.add(*written("U1 A:a R:a A1"))
    assert (shown(memory), model.requests) == ("U1 A:a R:a A1", [])


def test_another_memory_goes_on_from_the_summary_that_was_kept() -> None:
    """AJ-45, AJ-57: and what was cleared leaves no summary behind."""
    store = InMemoryStore()
    first, _ = summarizing("S", max_messages=3, keep=2, store=store)
    first.add(*written("U1 A1 U2 A2"))
    again, model = summarizing("T", max_messages=3, keep=2, store=store)
    assert shown(again) == "=S U2 A2"
    again.add(*written("U3 A3"))
    assert shown(again) == "=T U3 A3"
    assert "S" in model.request.messages[1].text
    again.clear()
    third, _ = summarizing(max_messages=3, keep=2, store=store)
    assert shown(third) == ""
    third.add(*written("U4"))
    assert shown(third) == "U4"
