"""Streams beside other calls: nobody waits for a reader that is slow."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Annotated, Any, Protocol

import aiservices
from aiservices import (
    ChatModel,
    ChatRequest,
    MemoryId,
    MessageWindowChatMemory,
    PartialText,
)
from aiservices.testing import ScriptedChatModel
from tests.asking import answer


class Talker(Protocol):
    def tell(self, who: Annotated[str, MemoryId], text: str) -> Iterator[str]: ...

    def ask(self, who: Annotated[str, MemoryId], text: str) -> str: ...


class Slow(ChatModel):
    def stream(self, request: ChatRequest) -> Iterator[Any]:
        for piece in "abc":
            time.sleep(0.1)
            yield PartialText(piece)
        yield aiservices.ResponseDone(answer("abc"))


def test_streams_of_two_conversations_interleave() -> None:
    """ASY-04"""
    memories: dict[Any, MessageWindowChatMemory] = {}

    def memory(key: Any) -> MessageWindowChatMemory:
        return memories.setdefault(key, MessageWindowChatMemory(10, id=key))

    service = aiservices.create(Talker, chat_model=Slow(), chat_memory_provider=memory)
    order: list[str] = []

    def reading(who: str) -> None:
        order.extend(f"{who}{piece}" for piece in service.tell(who, "x"))

    begin = time.monotonic()
    threads = [threading.Thread(target=reading, args=(who,)) for who in "xy"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert time.monotonic() - begin < 0.3 * 1.5
    assert {each[1] for each in order[:2]} == {"a"}
    assert {key: len(each.messages()) for key, each in memories.items()} == {"x": 2, "y": 2}


def test_a_stream_that_is_being_read_keeps_no_plain_call_waiting() -> None:
    memories: dict[Any, MessageWindowChatMemory] = {}
    model = ScriptedChatModel("the stream", "the call", "again")
    service = aiservices.create(
        Talker,
        chat_model=model,
        chat_memory_provider=lambda key: memories.setdefault(key, MessageWindowChatMemory(10, id=key)),
    )
    stream = service.tell("ana", "first")
    assert next(stream) == "the"
    assert service.ask("ana", "second") == "the call"
    assert "".join(stream) == " stream"
    said = [getattr(message, "text", None) for message in memories["ana"].messages()]
    assert said == ["second", "the call", "first", "the stream"]
    assert service.ask("ana", "third") == "again"
