"""Conversations in stores: several writers, damaged rows, stores that fail."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from aiservices import (
    AiMessage,
    ConflictError,
    Entry,
    InMemoryStore,
    MessageWindowChatMemory,
    StoreError,
    UserMessage,
    messages_to_json,
)
from aiservices.memory.stored import ATTEMPTS
from aiservices.testing import ScriptedChatModel
from tests.memory.conversing import CountingStore, a_tool, asks, short, talk, written


def two(store: Any, number: int = 20) -> tuple[Any, Any]:
    """Two memories of one conversation, as two processes have them."""
    return MessageWindowChatMemory(number, "ann", store), MessageWindowChatMemory(number, "ann", store)


def test_what_another_process_wrote_meanwhile_stays_and_nothing_is_asked_again(invoke: Any) -> None:
    store = CountingStore()
    mine, other = two(store)
    runs: list[int] = []

    def meanwhile(request: Any) -> str:
        other.add(*written("U2 A2"))
        return "A1"

    model = ScriptedChatModel(asks("a"), meanwhile)
    service = talk(model, mine, tools=[a_tool()], listeners=[runs.append])
    invoke(service, "say", "U1")
    assert short(mine.messages()) == short(other.messages()) == "U2 A2 U1 A:a R:a A1"
    assert len(model.requests) == 2


def test_two_who_add_in_turn_always_see_each_other() -> None:
    mine, other = two(InMemoryStore(), 6)
    for number in range(10):
        (mine, other)[number % 2].add(UserMessage(f"U{number}"), AiMessage(f"A{number}"))
    assert short(mine.messages()) == short(other.messages()) == "U7 A7 U8 A8 U9 A9"


def test_a_window_is_applied_to_what_is_really_there() -> None:
    mine, other = two(InMemoryStore(), 4)
    mine.add(*written("U1 A1"))
    other.add(*written("U2 A2"))
    mine.add(*written("U3 A3"))
    assert short(mine.messages()) == "U2 A2 U3 A3"


class Contested(InMemoryStore):
    """Somebody else is always faster."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.times = times
        self.tries = 0

    def put(self, namespace: str, key: str, value: Any, **options: Any) -> int:
        if namespace != "chat":  # the line in which those who were in each other's way take turns
            return super().put(namespace, key, value, **options)
        self.tries += 1
        if self.tries <= self.times:
            super().put(namespace, key, messages_to_json([UserMessage(f"other{self.tries}")]))
        return super().put(namespace, key, value, **options)


def test_a_path_is_no_store() -> None:
    with pytest.raises(TypeError, match=r"store is a str: give a Store, such as SqlStore\('chat.db'\)"):
        MessageWindowChatMemory(9, "ann", "chat.db")  # type: ignore[arg-type]


def test_a_turn_is_tried_ten_times_and_then_handed_to_the_caller(invoke: Any) -> None:
    store = Contested(99)
    model = ScriptedChatModel(asks("a"), "A1")
    service = talk(model, MessageWindowChatMemory(9, store=store), tools=[a_tool()])
    with pytest.raises(ConflictError) as caught:
        invoke(service, "say", "U1")
    assert store.tries == ATTEMPTS == 10
    assert short(caught.value.turn) == "U1 A:a R:a A1"
    assert caught.value.responses[-1].text == "A1"
    assert len(model.requests) == 2


def test_nobody_is_left_in_line(invoke: Any) -> None:
    for times in (1, 99):
        store = Contested(times)
        with suppress(ConflictError):
            invoke(talk(["A1"], MessageWindowChatMemory(9, store=store)), "say", "U1")
        assert not store.keys("chat.line")


def test_after_a_conflict_the_turn_is_taken_for_a_while_and_before_one_it_is_not() -> None:
    class Noting(Contested):
        def put(self, namespace: str, key: str, value: Any, **options: Any) -> int:
            namespaces.append(namespace)
            return super().put(namespace, key, value, **options)

    namespaces: list[str] = []
    for times, expected in ((0, "chat chat"), (1, "chat chat.line chat chat.line chat")):
        memory = MessageWindowChatMemory(9, store=Noting(times))
        for _ in range(2):
            memory.add(UserMessage("hi"))
        assert " ".join(namespaces) == expected
        namespaces.clear()


def test_a_turn_of_a_process_that_died_is_waited_for_until_it_is_over(invoke: Any) -> None:
    store = Contested(1)
    store.put("chat.line", "default", True, expires_in=0.1)
    memory = MessageWindowChatMemory(9, store=store)
    invoke(talk(["A1"], memory), "say", "U1")
    assert short(memory.messages()) == "other1 U1 A1"


def test_the_tenth_try_may_succeed(invoke: Any) -> None:
    store = Contested(9)
    memory = MessageWindowChatMemory(9, store=store)
    invoke(talk(["A1"], memory), "say", "U1")
    assert short(memory.messages()) == "other9 U1 A1"


DAMAGED = {
    "no text": {"messages": []},
    "a number": 7,
    "nothing": None,
    "no JSON": '{"version": 1, "mess',
    "an object": '{"hello": 1}',
    "a newer version": '{"version": 999, "messages": []}',
    "no message": '[{"type": "user"}]',
    "a text": '"hello"',
}


@pytest.mark.parametrize("value", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_row_is_an_error_that_names_it_and_stays_as_it_is(invoke: Any, value: Any) -> None:
    store = InMemoryStore()
    store.put("chat", "ann", value)
    before = store.get("chat", "ann")
    model = ScriptedChatModel("never")
    memory = MessageWindowChatMemory(9, "ann", store)
    with pytest.raises(StoreError, match="'ann' in 'chat' is no conversation") as caught:
        invoke(talk(model, memory), "say", "hi")
    assert (caught.value.namespace, caught.value.key) == ("chat", "ann")
    assert not model.requests
    with pytest.raises(StoreError):
        memory.add(UserMessage("hi"))
    assert store.get("chat", "ann") == before
    memory.clear()
    assert memory.messages() == ()


def test_an_error_does_not_repeat_what_stands_in_a_damaged_row() -> None:
    store = InMemoryStore()
    store.put("chat", "ann", '[{"type": "user", "contents": "my secret"}]')
    with pytest.raises(StoreError) as caught:
        MessageWindowChatMemory(9, "ann", store).messages()
    assert "secret" not in str(caught.value)


class Down(InMemoryStore):
    """Cannot be reached."""

    def get(self, namespace: str, key: str) -> Entry | None:
        raise StoreError("the store is down", namespace=namespace, key=key)


def test_a_store_that_is_down_is_an_error_before_the_model_is_asked(invoke: Any) -> None:
    model = ScriptedChatModel("never")
    with pytest.raises(StoreError, match="down"):
        invoke(talk(model, MessageWindowChatMemory(9, store=Down())), "say", "hi")
    assert not model.requests


def test_a_conversation_is_read_again_after_it_was_deleted_and_begun_anew() -> None:
    store = InMemoryStore()
    mine, other = two(store)
    mine.add(*written("U1 A1"))
    other.clear()
    mine.add(*written("U2 A2"))
    assert short(mine.messages()) == "U2 A2"
    store.delete("chat", "ann")
    assert mine.messages() == ()


def test_an_unknown_store_version_is_read_once_only() -> None:
    store = CountingStore()
    memory = MessageWindowChatMemory(9, store=store)
    memory.messages()
    memory.add(*written("U1 A1"))
    assert store.reads == 1
    memory.add(*written("U2 A2"))
    assert store.reads == 1
