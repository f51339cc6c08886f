"""One memory for each id: made once, found again, let go of."""

from __future__ import annotations

import gc
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any, Protocol

import pytest

import aiservices
from aiservices import (
    ChatMemory,
    ChatMemoryAccess,
    ConfigurationError,
    InMemoryStore,
    MemoryId,
    MemoryInUseError,
    MessageWindowChatMemory,
    Store,
    StoreError,
    UserMessage,
)
from aiservices.memory import LOCKS
from aiservices.testing import ScriptedChatModel
from tests.memory.conversing import Counting, Elsewhere, Talk, chat, short, talk, written


class ReachableChat(ChatMemoryAccess, Protocol):
    def say(self, id: Annotated[Any, MemoryId], text: str) -> str: ...


class ReachableTalk(ChatMemoryAccess, Protocol):
    def say(self, text: str) -> str: ...


async def later(id: Any) -> ChatMemory:
    return MessageWindowChatMemory(9, id)


def reachable(provider: Any, *replies: Any) -> Any:
    return aiservices.create(
        ReachableChat, chat_model=ScriptedChatModel(*replies), chat_memory_provider=provider
    )


def test_each_id_has_a_conversation_of_its_own(invoke: Any) -> None:
    """Row 411"""
    model = ScriptedChatModel("a", "b", "c")
    service = chat(model, Counting())
    for id, text in ((1, "U1"), (2, "U2"), (1, "U3")):
        invoke(service, "say", id, text)
    assert [short(request.messages) for request in model.requests] == ["U1", "U2", "U1 a U3"]


def test_ten_threads_with_one_new_id_make_one_memory() -> None:
    """Row 414"""
    begin = threading.Barrier(10)
    provider = Counting()

    def slowly(id: Any) -> ChatMemory:
        threading.Event().wait(0.01)
        return provider(id)

    service = chat(["ok"] * 10, slowly)

    def say(number: int) -> str:
        begin.wait(5)
        return str(service.say("ann", f"q{number}"))

    with ThreadPoolExecutor(10) as pool:
        assert list(pool.map(say, range(10))) == ["ok"] * 10
    assert provider.made == ["ann"]


def test_a_provider_whose_methods_do_not_say_whose_conversation_it_is_is_refused() -> None:
    """MEM-18"""
    with pytest.raises(ConfigurationError, match="mark a parameter"):
        aiservices.create(Talk, chat_model=ScriptedChatModel(), chat_memory_provider=Counting())


@pytest.mark.parametrize("options", [{}, {"chat_memory": MessageWindowChatMemory(9)}])
def test_ids_without_a_memory_for_each_are_refused(options: Any) -> None:
    """Rows 410 and 415 (where all ids share the one memory)"""
    with pytest.raises(ConfigurationError, match="give chat_memory_provider"):
        aiservices.create(ReachableChat, chat_model=ScriptedChatModel(), **options)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"chat_memory": "memory"}, "chat_memory is a str"),
        (
            {"chat_memory": MessageWindowChatMemory},
            "chat_memory is the class MessageWindowChatMemory: give a ChatMemory",
        ),
        ({"chat_memory": MessageWindowChatMemory(9), "chat_memory_provider": Counting()}, "keep one"),
        ({"chat_memory_provider": MessageWindowChatMemory(9)}, "cannot be called"),
        ({"chat_memory_provider": later}, "chat_memory_provider is asynchronous: write def"),
        ({"remember": "all"}, "give 'validated' or 'raw'"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(options: Any, problem: str) -> None:
    with pytest.raises(ConfigurationError, match=problem):
        aiservices.create(Talk, chat_model=ScriptedChatModel(), **options)


def test_a_shared_memory_needs_an_id_too() -> None:
    memory = MessageWindowChatMemory(9)
    memory.id = " "
    with pytest.raises(ConfigurationError, match="chat_memory: the memory id is ' '"):
        talk([], memory)


def test_a_provider_that_gives_no_memory_is_an_error(invoke: Any) -> None:
    with pytest.raises(TypeError, match="chat_memory_provider gave a NoneType"):
        invoke(chat([], lambda id: None), "say", "ann", "hi")


class Own(ChatMemory):
    """Has the id of every memory that does not say one."""

    def __init__(self) -> None:
        self.kept: list[Any] = []

    def messages(self) -> tuple[Any, ...]:
        return tuple(self.kept)

    def add(self, *messages: Any) -> None:
        self.kept.extend(messages)

    def clear(self) -> None:
        self.kept.clear()


def test_a_provider_that_forgets_the_id_is_an_error_and_no_shared_conversation() -> None:
    store = Elsewhere()
    service = reachable(lambda id: MessageWindowChatMemory(9, store=store), "a", "b")
    for use in (service.get_chat_memory, service.evict_chat_memory, lambda id: service.say(id, "hi")):
        with pytest.raises(ValueError, match="gave the memory of 'default' for 'ann': make one for each id"):
            use("ann")


@pytest.mark.parametrize("kind", ["one store", "one object", "one object without an id"])
def test_a_provider_that_gives_one_memory_to_two_ids_is_an_error(kind: str) -> None:
    memory, store = Own() if "without" in kind else MessageWindowChatMemory(9), InMemoryStore()

    def provider(id: Any) -> ChatMemory:
        return MessageWindowChatMemory(9, store=store) if kind == "one store" else memory

    service = reachable(provider, "a", "b", "c")
    service.say("ann", "U1")
    service.say("ann", "U2")
    for use in (service.get_chat_memory, service.evict_chat_memory, lambda id: service.say(id, "hi")):
        with pytest.raises(ValueError, match="gave the memory of 'ann' for 'bob'"):
            use("bob")
    assert short(service.get_chat_memory("ann").messages()) == "U1 a U2 b"
    service.evict_chat_memory("ann")
    service.say("bob", "U3")  # nobody else has it now
    assert short(service.get_chat_memory("bob").messages()) == "U3 c"


def test_memories_of_the_process_need_no_id_of_their_own() -> None:
    for make in (Own, lambda: MessageWindowChatMemory(9)):
        service = reachable(lambda id, make=make: make(), "a", "b")
        service.say("ann", "U1")
        service.say("bob", "U2")
        assert short(service.get_chat_memory("bob").messages()) == "U2 b"


def test_a_provider_that_asks_for_what_it_makes_is_an_error_and_no_hang() -> None:
    services: list[Any] = []

    def provider(id: Any) -> ChatMemory:
        services[0].say(id, "hi")
        raise AssertionError

    services.append(chat([], provider))
    with pytest.raises(MemoryInUseError, match="asked for the memory it makes"):
        services[0].say("ann", "hi")


def test_a_memory_that_is_empty_and_says_so_is_still_the_one_that_was_made() -> None:
    class Sized(MessageWindowChatMemory):
        def __len__(self) -> int:
            return 0

    made: list[Any] = []

    def provider(id: Any) -> ChatMemory:
        made.append(id)
        return Sized(9, id)

    model = ScriptedChatModel("a", "b")
    service = chat(model, provider)
    service.say("ann", "U1")
    service.say("ann", "U2")
    assert made == ["ann"]
    assert short(model.requests[1].messages) == "U1 a U2"


def test_stored_conversations_are_let_go_of_and_found_again() -> None:
    """MEM-19"""
    references: list[weakref.ref[ChatMemory]] = []
    provider = Counting(Elsewhere(), 4)

    def noting(id: Any) -> ChatMemory:
        memory = provider(id)
        references.append(weakref.ref(memory))
        return memory

    service = reachable(noting, *["ok"] * 2_001)
    for number in range(2_000):
        service.say(number, "hi")
    gc.collect()
    assert not any(reference() for reference in references)
    assert not LOCKS._places
    service.say(7, "again")
    assert short(service.get_chat_memory("7").messages()) == "hi ok again ok"


@pytest.mark.parametrize("store", [None, InMemoryStore], ids=["own", "a store made for it"])
def test_conversations_in_the_process_stay_until_they_are_evicted(store: Any) -> None:
    def provider(id: Any) -> ChatMemory:
        return MessageWindowChatMemory(9, id, store and store())

    service = reachable(provider, "a", "b", "c")
    service.say("ann", "U1")
    gc.collect()
    assert short(service.get_chat_memory("ann").messages()) == "U1 a"
    reference = weakref.ref(service.get_chat_memory("ann"))
    assert service.evict_chat_memory("ann")
    gc.collect()
    assert reference() is None
    assert service.get_chat_memory("ann") is None
    service.say("ann", "U2")
    assert short(service.get_chat_memory("ann").messages()) == "U2 b"


def test_memories_are_reached_through_the_service() -> None:
    store = Elsewhere()
    service = reachable(Counting(store), "a")
    assert service.get_chat_memory("ann") is None
    assert not service.evict_chat_memory("ann")
    service.say("ann", "U1")
    assert short(service.get_chat_memory("ann").messages()) == "U1 a"
    another = reachable(Counting(store))
    assert short(another.get_chat_memory("ann").messages()) == "U1 a"
    assert another.evict_chat_memory("ann")
    assert not another.evict_chat_memory("ann")
    assert service.get_chat_memory("ann") is None or not service.get_chat_memory("ann").messages()
    assert store.keys("chat") == []


@pytest.mark.parametrize("id", [None, " "])
def test_access_by_no_id_is_refused(id: Any) -> None:
    service = reachable(Counting())
    for method in (service.get_chat_memory, service.evict_chat_memory):
        with pytest.raises(ValueError, match="the memory id is"):
            method(id)


@pytest.mark.parametrize("store", [None, Elsewhere()])
def test_a_shared_memory_is_found_under_its_own_id_only(store: Store | None) -> None:
    memory = MessageWindowChatMemory(9, "all", store)
    service: Any = aiservices.create(
        ReachableTalk, chat_model=ScriptedChatModel("a", "b"), chat_memory=memory
    )
    service.say("U1")
    assert service.get_chat_memory("all") is memory
    assert service.get_chat_memory("ann") is None
    assert not service.evict_chat_memory("ann")
    assert short(memory.messages()) == "U1 a"
    assert service.evict_chat_memory("all")
    service.say("U2")
    assert short(service.get_chat_memory("all").messages()) == "U2 b"


def test_access_to_memories_that_are_not_there_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="ChatMemoryAccess needs a chat_memory"):
        aiservices.create(ReachableTalk, chat_model=ScriptedChatModel())


def test_a_service_may_write_these_methods_itself() -> None:
    class Careful(ChatMemoryAccess, Protocol):
        def say(self, id: Annotated[str, MemoryId], text: str) -> str: ...

        def evict_chat_memory(self, id: Any, /) -> bool:
            return id != "root" and super().evict_chat_memory(id)

    service = aiservices.create(
        Careful, chat_model=ScriptedChatModel("a", "b"), chat_memory_provider=Counting()
    )
    service.say("root", "U1")
    service.say("ann", "U2")
    assert (service.evict_chat_memory("root"), service.evict_chat_memory("ann")) == (False, True)
    assert service.get_chat_memory("root") is not None


def test_a_conversation_that_cannot_be_read_can_be_evicted() -> None:
    store = Elsewhere()
    store.put("chat", "ann", {"no": "conversation"})
    service = reachable(Counting(store), "a")
    with pytest.raises(StoreError):
        service.say("ann", "hi")
    assert service.evict_chat_memory("ann")
    assert service.say("ann", "hi") == "a"


def test_what_is_evicted_during_a_call_begins_anew_with_its_turn() -> None:
    services: list[Any] = []

    def reply(request: Any) -> str:
        services[0].evict_chat_memory("ann")
        return "b"

    store = Elsewhere()
    services.append(reachable(Counting(store), "a", reply))
    services[0].say("ann", "U1")
    services[0].say("ann", "U2")
    assert short(services[0].get_chat_memory("ann").messages()) == "U2 b"


def test_one_store_serves_several_ids_and_namespaces() -> None:
    """Row 416, whose store holds one conversation only"""
    store = InMemoryStore()
    MessageWindowChatMemory(9, "ann", store).add(*written("U1"))
    MessageWindowChatMemory(9, "bob", store).add(*written("U2"))
    MessageWindowChatMemory(9, "ann", store, "archive").add(UserMessage("U3"))
    assert short(MessageWindowChatMemory(9, "ann", store).messages()) == "U1"
    assert store.keys("chat") == ["ann", "bob"]


def test_memories_are_reached_by_position_and_by_name() -> None:
    service = reachable(lambda id: MessageWindowChatMemory(9, id), "a")
    service.say("ann", "hi")
    assert service.get_chat_memory(id="ann") is service.get_chat_memory("ann")
    assert service.evict_chat_memory(id="ann")


@pytest.mark.parametrize(("store", "kept"), [(InMemoryStore(), "hi a"), (None, None)])
def test_a_call_that_runs_while_its_memory_is_evicted_adds_its_turn_to_the_store(
    store: Store | None, kept: str | None
) -> None:
    def meanwhile(request: Any) -> str:
        assert service.evict_chat_memory("ann")
        return "a"

    service = reachable(lambda id: MessageWindowChatMemory(9, id, store), meanwhile)
    service.say("ann", "hi")
    found = service.get_chat_memory("ann")
    assert (found and short(found.messages())) == kept
