"""Memories that users write: half of the methods is enough, in services of either kind."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from aiservices import ChatMemory, ChatMessage, MemoryInUseError, SystemMessage, ToolFailedError, tool
from aiservices.testing import ScriptedChatModel
from tests.memory.conversing import asks, short, talk


class Blocking(ChatMemory):
    """Has the blocking halves."""

    def __init__(self) -> None:
        self.kept: list[ChatMessage] = []

    def messages(self) -> tuple[ChatMessage, ...]:
        return tuple(self.kept)

    def add(self, *messages: ChatMessage) -> None:
        self.kept = [item for item in self.kept if not isinstance(item, SystemMessage)]
        self.kept.extend(messages)

    def clear(self) -> None:
        self.kept.clear()


class Asynchronous(ChatMemory):
    """Has the asynchronous halves."""

    def __init__(self) -> None:
        self.inner = Blocking()

    async def amessages(self) -> tuple[ChatMessage, ...]:
        await asyncio.sleep(0)
        return self.inner.messages()

    async def aadd(self, *messages: ChatMessage) -> None:
        await asyncio.sleep(0)
        self.inner.add(*messages)

    async def aclear(self) -> None:
        self.inner.clear()


KINDS = pytest.mark.parametrize("kind", [Blocking, Asynchronous])


@KINDS
def test_either_half_serves_services_of_both_kinds(invoke: Any, kind: type[ChatMemory]) -> None:
    memory = kind()
    model = ScriptedChatModel("a", "b")
    service = talk(model, memory, system_message="S")
    invoke(service, "say", "U1")
    invoke(service, "say", "U2")
    assert short(model.requests[1].messages) == "S U1 a U2"
    assert sorted(short(memory.messages()).split()) == sorted(["S", "U1", "a", "U2", "b"])


@KINDS
def test_either_half_can_be_called_in_both_ways(kind: type[ChatMemory]) -> None:
    memory = kind()

    async def main() -> None:
        await memory.aadd(SystemMessage("S"))
        assert short(await memory.amessages()) == "S"
        await memory.aclear()

    memory.add(SystemMessage("S"))
    assert short(memory.messages()) == "S"
    memory.clear()
    asyncio.run(main())
    assert memory.messages() == ()


@KINDS
def test_they_are_not_used_within_their_own_calls_either(invoke: Any, kind: type[ChatMemory]) -> None:
    services: list[Any] = []

    @tool
    def look() -> str:
        """Look."""
        return str(services[0].say("inner"))

    services.append(talk([asks("a")], kind(), tools=[look], on_tool_error="raise"))
    with pytest.raises(ToolFailedError) as caught:
        invoke(services[0], "say", "U1")
    assert isinstance(caught.value.__cause__, MemoryInUseError)


def test_a_memory_without_a_method_of_a_pair_is_refused() -> None:
    with pytest.raises(TypeError, match="Forgetful overrides neither of add or aadd; clear or aclear"):

        class Forgetful(ChatMemory):
            def messages(self) -> tuple[ChatMessage, ...]:
                return ()


def test_which_messages_are_sent_is_for_the_memory_to_say(invoke: Any) -> None:
    class Newest(Blocking):
        def fitting(self, messages: tuple[ChatMessage, ...]) -> tuple[ChatMessage, ...]:
            return messages[-2:]

    model = ScriptedChatModel("a", "b")
    memory = Newest()
    service = talk(model, memory)
    invoke(service, "say", "U1")
    invoke(service, "say", "U2")
    assert short(model.requests[1].messages) == "a U2"
    assert short(memory.messages()) == "U1 a U2 b"


@pytest.mark.parametrize("method", ["messages", "add"])
def test_an_error_of_theirs_ends_the_call(invoke: Any, method: str) -> None:
    def fail(self: Any, *messages: Any) -> Any:
        raise OSError("broken")

    memory: Any = type("Broken", (Blocking,), {method: fail})()
    model = ScriptedChatModel("a")
    with pytest.raises(OSError, match="broken"):
        invoke(talk(model, memory), "say", "U1")
    assert len(model.requests) == (method == "add")
