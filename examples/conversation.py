"""A chat that survives a restart.

python examples/conversation.py                      a scripted model, in a scratch file
python examples/conversation.py openai:gpt-5-mini    a real one; what was said is in conversation.db
"""

import sys
import tempfile
from pathlib import Path
from typing import Annotated, Protocol

import aiservices
from aiservices import (
    ChatModel,
    ChatRequest,
    InMemoryStore,
    MemoryId,
    MessageWindowChatMemory,
    Store,
    UserMessage,
    system_message,
)
from aiservices.testing import ScriptedChatModel


class Friend(Protocol):
    @system_message("You are a friend with a good memory. Answer in one sentence.")
    def say(self, user: Annotated[str, MemoryId], text: str) -> str: ...


def store_in(file: Path) -> Store:
    try:
        from aiservices import SqlStore
    except ImportError as missing:
        print(f"(kept in memory only: {missing})")
        return InMemoryStore()
    return SqlStore(str(file))


def friend(chat_model: str | ChatModel, store: Store) -> Friend:
    return aiservices.create(
        Friend,
        chat_model=chat_model,
        chat_memory_provider=lambda id: MessageWindowChatMemory(50, id, store),
    )


def recalling(request: ChatRequest) -> str:
    """What the scripted friend answers: what it was told first."""
    told = next(message for message in request.messages if isinstance(message, UserMessage))
    return f"You told me: {told.text}"


def main(chat_model: str | None = None, folder: Path = Path()) -> None:
    store = store_in(folder / "conversation.db")
    first = friend(chat_model or ScriptedChatModel("Nice to meet you, Ann!"), store)
    print("Ann:   ", text := "I am Ann, and I keep bees.")
    print("friend:", first.say("ann", text))

    del first  # the program ends here, and is started again
    second = friend(chat_model or ScriptedChatModel(recalling), store)
    print("Ann:   ", text := "What do you know about me?")
    print("friend:", second.say("ann", text))
    store.close()


if __name__ == "__main__":
    if sys.argv[1:]:
        main(sys.argv[1])
    else:
        with tempfile.TemporaryDirectory() as scratch:
            main(folder=Path(scratch))
