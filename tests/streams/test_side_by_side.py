"""Streams beside other calls: nobody waits for a reader that is slow."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Iterator
from typing import Annotated, Any, Protocol

import pytest

import aiservices
from aiservices import (
    AsyncStream,
    ChatModel,
    ChatRequest,
    MemoryId,
    MessageWindowChatMemory,
    PartialText,
    Stream,
    ToolCall,
    ToolStarted,
    tool,
)
from aiservices.testing import ScriptedChatModel
from tests.asking import answer

from .services import asked
from .styles import read


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


def test_a_blocking_stream_works_inside_a_running_loop() -> None:
    class Later(ChatModel):
        async def astream(self, request: ChatRequest) -> AsyncIterator[Any]:
            for piece in "abc":
                await asyncio.sleep(0.001)
                yield PartialText(piece)
            yield aiservices.ResponseDone(answer("abc"))

    async def main() -> None:
        assert read(asked(Iterator[str], Later())) == ["a", "b", "c"]
        assert next(asked(Iterator[str], Later())) == "a"

    asyncio.run(main())


@pytest.mark.parametrize("style", ["blocking", "asynchronous"])
def test_leaving_while_tools_run_side_by_side_undoes_all_that_was_done(style: str) -> None:
    log: list[str] = []
    working = threading.Event()

    @tool
    def work(number: int) -> str:
        """Work."""
        log.append("begun")
        working.set()
        time.sleep(0.05)
        log.append("done")
        return "done"

    @work.compensation
    def undo(number: int) -> None:
        log.append("undone")

    asks = [ToolCall(f"c{number}", "work", f'{{"number": {number}}}') for number in range(3)]
    memory = MessageWindowChatMemory(10)
    kind: Any = Stream[str] if style == "blocking" else AsyncStream[str]
    stream = asked(kind, asks, "never", tools=[work], chat_memory=memory)

    async def leaving() -> None:
        async with stream:
            async for event in stream.events():
                if isinstance(event, ToolStarted):
                    await asyncio.to_thread(working.wait)
                    break
        while log.count("begun") > log.count("undone"):
            await asyncio.sleep(0.01)  # what runs in a thread goes on, and is undone when it has ended

    if style == "asynchronous":
        asyncio.run(leaving())
    else:
        with stream:
            assert any(isinstance(event, ToolStarted) for event in stream.events())
    assert log.count("done") == log.count("undone") > 0
    assert len(memory.messages()) == 5
