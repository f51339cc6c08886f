"""Which messages stay in a window, and in which order."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiservices import (
    AiMessage,
    ChatMessage,
    CustomMessage,
    InMemoryStore,
    MessageWindowChatMemory,
    SystemMessage,
    TokenWindowChatMemory,
    UserMessage,
)
from aiservices.memory.units import units, windowed
from tests.memory.conversing import CountingStore, problems, short, written


@pytest.mark.parametrize(
    ("number", "added", "kept"),
    [
        (2, "U1 U2 U3", "U2 U3"),
        (3, "U1 A1 U2 A2", "U2 A2"),  # 386 keeps A1: an answer without its question
        (3, "S U1 A1 U2", "S U2"),  # 387 keeps A1
        (3, "S U1 A1 U2 A2", "S U2 A2"),
        (3, "S1 U A S2", "S2 U A"),  # 389 puts the new one last
        (3, "S U A S", "S U A"),
        (2, "U A:a R:a", "U"),  # 391 keeps the calls: the newest user message never leaves
        (2, "U A:a R:a A2", "U A2"),
        (3, "S U A:a R:a", "S U"),
        (3, "S U A:a R:a A2", "S U A2"),
        (4, "S U A:a R:a", "S U A:a R:a"),
        (3, "U A:a,b R:a R:b", "U"),
        (4, "S U A:a,b R:a R:b A2", "S U A2"),
        (1, "S U A", "S U"),
        (1, "U1 A1 U2 A2", "U2"),
        (3, "U A:a R:a A:b R:b", "U A:b R:b"),  # of one exchange the oldest round leaves first
        (4, "U1 A1 U2 A:a R:a A:b R:b", "U2 A:b R:b"),
        (3, "U S A", "S U A"),
        (3, "S U1 U2 U3", "S U2 U3"),
        (9, "A U", "A U"),  # nothing leaves where all fits
    ],
)
def test_what_is_added_one_by_one_is_kept_as_far_as_it_fits(number: int, added: str, kept: str) -> None:
    """Rows 385 to 403 and AJ-43; where they differ from our rules, the rules of the API win."""
    memory = MessageWindowChatMemory(number)
    memory.add(*written(added))
    assert short(memory.messages()) == kept


def test_a_window_can_be_changed_while_it_is_in_use() -> None:
    """Rows 399 and 400: a provider gives each id its own number, and a memory's may be set anew."""
    memory = MessageWindowChatMemory(3)
    memory.add(*written("U1 U2 U3 U4"))
    assert short(memory.messages()) == "U2 U3 U4"
    memory.max_messages = 5
    memory.add(*written("U5 U6"))
    assert short(memory.messages()) == "U2 U3 U4 U5 U6"
    memory.max_messages = 2
    assert short(memory.messages()) == "U5 U6"


def test_many_messages_are_one_read_and_one_write() -> None:
    """Rows 404 to 406, which read and write for each message."""
    store = CountingStore()
    memory = MessageWindowChatMemory(10, store=store)
    memory.add(*written("U1 A1 U2"))
    assert (store.reads, len(store.writes)) == (1, 1)
    memory.add(*written("A2"))
    assert (store.reads, len(store.writes)) == (1, 2)  # it knows what it has written
    memory.messages()
    assert store.reads == 2


def test_clearing_twice_is_no_mistake() -> None:
    memory = MessageWindowChatMemory(2)
    memory.add(UserMessage("hi"))
    memory.clear()
    memory.clear()
    assert memory.messages() == ()
    memory.add(UserMessage("hi again"))
    assert short(memory.messages()) == "hi again"


def test_a_memory_is_called_default_when_nobody_names_it() -> None:
    store = InMemoryStore()
    MessageWindowChatMemory(2, store=store).add(UserMessage("hi"))
    assert store.keys("chat") == ["default"]


@pytest.mark.parametrize("number", [0, -1, True, 1.5, None, "5"])
def test_a_window_without_room_is_refused(number: Any) -> None:
    with pytest.raises(ValueError, match="give 1 or more"):
        MessageWindowChatMemory(number)
    with pytest.raises(ValueError, match="give 1 or more"):
        TokenWindowChatMemory(number)


def test_tokens_are_counted_by_whatever_counter_is_given() -> None:
    memory = TokenWindowChatMemory(10, lambda messages: sum(len(item.text) for item in messages))  # type: ignore[union-attr,arg-type,misc]
    memory.add(UserMessage("1234"), AiMessage("56"), UserMessage("789"), AiMessage("0"))
    assert short(memory.messages()) == "1234 56 789 0"
    memory.add(UserMessage("."))
    assert short(memory.messages()) == "789 0 ."


def test_a_message_beyond_all_tokens_stays_when_it_is_the_users_newest() -> None:
    memory = TokenWindowChatMemory(50)
    memory.add(*written("S U1 A1"), UserMessage("word " * 1_000))
    assert len(memory.messages()) == 2
    memory.add(AiMessage("ok"), UserMessage("hi"))
    assert short(memory.messages()) == "S hi"


message = st.sampled_from(["U", "A", "S", "A:a", "A:a,b", "R:a", "R:b"]).map(lambda word: written(word)[0])
turns = st.sampled_from(["U A", "U A:a R:a A", "U A:a,b R:a R:b A:c R:c A", "U", "U A:a R:a", "S"])
talks = st.lists(turns, max_size=8).map(lambda found: written(" ".join(found)))
sizes = st.integers(1, 12)


@given(talks, sizes)
def test_a_window_over_a_valid_conversation_is_valid_and_keeps_the_newest_user_message(
    messages: list[ChatMessage], number: int
) -> None:
    users = [item for item in messages if isinstance(item, UserMessage)]
    kept = windowed(messages, number, lambda _: 1)
    assert not problems(kept)
    assert not users or any(item is users[-1] for item in kept)
    assert [item for item in messages if isinstance(item, SystemMessage)][-1:] == [
        item for item in kept if isinstance(item, SystemMessage)
    ]
    at_least = len([item for item in kept if isinstance(item, SystemMessage)]) + bool(users)
    assert len(kept) <= max(number, at_least)
    assert windowed(kept, number, lambda _: 1) == kept


@given(st.lists(message, max_size=12), sizes)
def test_whatever_is_given_units_stay_whole_and_in_order(messages: list[ChatMessage], number: int) -> None:
    kept = windowed(messages, number, lambda _: 1)
    rest = [item for item in messages if not isinstance(item, SystemMessage)]
    before = {tuple(map(id, unit)) for unit in units(rest)}
    assert {tuple(map(id, unit)) for unit in units(kept) if not isinstance(unit[0], SystemMessage)} <= before
    assert windowed(kept, number, lambda _: 1) == kept


@given(talks, sizes)
def test_nothing_leaves_that_would_have_fitted(messages: list[ChatMessage], number: int) -> None:
    kept = windowed(messages, number, lambda _: 1)
    rest = units([item for item in messages if not isinstance(item, SystemMessage)])
    system = len([item for item in kept if isinstance(item, SystemMessage)])
    questions = [index for index, unit in enumerate(rest) if isinstance(unit[0], UserMessage)]
    for start in questions:
        length = system + sum(len(unit) for unit in rest[start:])
        assert length > number or len(kept) >= length


def test_a_message_of_a_providers_own_leaves_with_what_it_stands_beside() -> None:
    memory = MessageWindowChatMemory(4)
    memory.add(CustomMessage({"kind": "note"}), *written("U1 A1"))
    assert short(memory.messages()) == "C U1 A1"
    memory.add(*written("U2 A2"))
    assert short(memory.messages()) == "U1 A1 U2 A2"


def test_the_cost_grows_with_the_length_and_not_with_its_square() -> None:
    def seconds(number: int) -> float:
        messages = written("U A " * number)
        begin = time.process_time()
        windowed(messages, 2, lambda _: 1)
        return time.process_time() - begin

    seconds(100)
    few, many = (min(seconds(number) for _ in range(5)) for number in (500, 5_000))
    assert many < 40 * few


@pytest.mark.parametrize("make", [MessageWindowChatMemory, TokenWindowChatMemory])
def test_a_path_is_no_store(make: Any) -> None:
    with pytest.raises(TypeError, match=r"store is a str: give a Store, such as SqlStore"):
        make(9, store="chat.db")


def test_a_counter_that_cannot_count_is_refused_at_once() -> None:
    with pytest.raises(TypeError, match="give a function of messages"):
        TokenWindowChatMemory(9, counter=3)  # type: ignore[arg-type]


@pytest.mark.parametrize("given", ["hi", None, ["hi"]])
def test_what_is_no_message_is_not_added(given: Any) -> None:
    memory = MessageWindowChatMemory(9)
    with pytest.raises(TypeError, match="is no message: give a UserMessage"):
        memory.add(given)
    assert memory.messages() == ()
