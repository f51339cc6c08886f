"""What memory costs: loading and committing a long conversation, and many conversations."""

from __future__ import annotations

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Protocol

import aiservices
from aiservices import (
    AiMessage,
    ChatMessage,
    ChatModel,
    InMemoryStore,
    MemoryId,
    MessageWindowChatMemory,
    SqlStore,
    Store,
    TokenWindowChatMemory,
    UserMessage,
)

from .measuring import block, resident

WORDS = "The quick brown fox jumps over the lazy dog, and then it asks for its order. "


class Conversation(Protocol):
    def say(self, id: Annotated[Any, MemoryId], text: str) -> str: ...


def conversation(number: int) -> list[ChatMessage]:
    turn: list[ChatMessage] = [UserMessage(WORDS * 2), AiMessage(WORDS * 3)]
    return turn * (number // 2)


async def turn_us(store: Store, number: int, window: int) -> dict[str, float]:
    """Microseconds of CPU to load and commit, by a memory that is new and by one that has done so before."""
    MessageWindowChatMemory(100_000, number, store).add(*conversation(number))
    turn = conversation(2)

    def new() -> None:
        memory = MessageWindowChatMemory(window, number, store)
        memory.messages()
        memory.add(*turn)

    known = MessageWindowChatMemory(window, number, store)

    def again() -> None:
        known.messages()
        known.add(*turn)

    calls = max(5, 20_000 // window)
    return {
        "new_us": min([await block(new, calls) for _ in range(3)]),
        "known_us": min([await block(again, calls) for _ in range(3)]),
    }


async def memory(model: ChatModel) -> dict[str, Any]:
    with TemporaryDirectory() as folder, SqlStore(str(Path(folder) / "chat.db")) as sqlite:
        stores = {"in_memory": InMemoryStore(), "sqlite": sqlite}
        rows: dict[str, Any] = {
            f"{name}_{number}": await turn_us(store, number, number)
            for name, store in stores.items()
            for number in (100, 200, 400)
        }
        rows["sqlite_10000_in_a_window_of_100"] = await turn_us(sqlite, 10_000, 100)
        token = TokenWindowChatMemory(100_000, store=InMemoryStore())
        token.add(*conversation(100))
        said = token.messages()
        rows["token_window_100_us"] = min([await block(lambda: token.fitting(said), 200) for _ in range(3)])
        rows["conversations"] = await conversations(sqlite, model)
    return rows


async def conversations(store: Store, model: ChatModel, number: int = 10_000) -> dict[str, float]:
    """Growth of the process over so many conversations of one call, in megabytes."""
    service = aiservices.create(
        Conversation,
        chat_model=model,
        chat_memory_provider=lambda id: MessageWindowChatMemory(20, id, store),
    )
    for id in range(500):
        service.say(id, "hi")
    begin = resident()
    for id in range(number // 2):
        service.say(id, "hi")
    middle = resident()
    for id in range(number // 2, number):
        service.say(id, "hi")
    await asyncio.sleep(0)
    return {"first_half_mb": middle - begin, "second_half_mb": resident() - middle}
