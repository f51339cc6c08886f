"""Conversations for tests: services that remember, short messages, and what makes a conversation valid."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Protocol

import aiservices
from aiservices import (
    AiMessage,
    ChatMemory,
    ChatMessage,
    ChatModel,
    Entry,
    InMemoryStore,
    MemoryId,
    MessageWindowChatMemory,
    Store,
    SystemMessage,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from aiservices.testing import ScriptedChatModel
from tests.asking import asking


class Chat(Protocol):
    """Conversations by id."""

    def say(self, id: Annotated[Any, MemoryId], text: str) -> str: ...

    async def asay(self, id: Annotated[Any, MemoryId], text: str) -> str: ...


class Talk(Protocol):
    """One conversation."""

    def say(self, text: str) -> str: ...

    async def asay(self, text: str) -> str: ...


def chat(model: ChatModel | Sequence[Any], provider: Any, **options: Any) -> Any:
    """A service with a memory for each id."""
    return aiservices.create(Chat, chat_model=_model(model), chat_memory_provider=provider, **options)


def talk(model: ChatModel | Sequence[Any], memory: Any, **options: Any) -> Any:
    """A service with one memory."""
    return aiservices.create(Talk, chat_model=_model(model), chat_memory=memory, **options)


def _model(model: ChatModel | Sequence[Any]) -> ChatModel:
    return model if isinstance(model, ChatModel) else ScriptedChatModel(*model)


def remembering(kind: Any, memory: Any, *replies: Any, **options: Any) -> Any:
    """A service whose `ask` returns this type, and its model."""
    model = ScriptedChatModel(*replies)
    return aiservices.create(asking(kind), chat_model=model, chat_memory=memory, **options), model


def a_tool(name: str = "look", text: str = "seen") -> Any:
    """A tool without parameters that gives this text."""

    def run() -> str:
        """Do it."""
        return text

    return aiservices.tool(name=name)(run)


def asks(*ids: str, name: str = "look", text: str | None = None) -> AiMessage:
    """An answer that asks for a tool, once for each id."""
    return AiMessage(text, [ToolCall(id, name, "{}") for id in ids])


def gives(id: str, text: str = "seen", name: str = "look") -> ToolResultMessage:
    return ToolResultMessage(id, name, text)


def written(code: str) -> list[ChatMessage]:
    """Messages in short: `S1 U A` are system, user and answer, `A:a,b` asks for tools, `R:a` is a result."""
    return [_message(word) for word in code.split()]


def _message(word: str) -> ChatMessage:
    kind, ids = word[0], word[2:].split(",") if ":" in word else []
    match kind:
        case "S":
            return SystemMessage(word)
        case "U":
            return UserMessage(word)
        case "R":
            return gives(ids[0])
        case _:
            return asks(*ids) if ids else AiMessage(word)


def short(messages: Iterable[ChatMessage]) -> str:
    """The reverse of `written`."""
    return " ".join(map(_word, messages))


def _word(message: ChatMessage) -> str:
    match message:
        case AiMessage(tool_calls=calls) if calls:
            return f"A:{','.join(call.id for call in calls)}"
        case ToolResultMessage():
            return f"R:{message.tool_call_id}"
        case SystemMessage() | UserMessage() | AiMessage():
            return str(message.text)
        case _:
            return "C"


def problems(messages: Sequence[ChatMessage]) -> list[str]:
    """What a strict provider would refuse a conversation for."""
    found = []
    if any(isinstance(message, SystemMessage) for message in messages[1:]):
        found.append("a system message that is not the first")
    said = [item for item in messages if isinstance(item, UserMessage | AiMessage | ToolResultMessage)]
    if said and not isinstance(said[0], UserMessage):
        found.append("it does not begin with the user")
    waiting: list[str] = []
    for message in messages:
        if isinstance(message, ToolResultMessage):
            if not waiting or waiting.pop(0) != message.tool_call_id:
                found.append(f"the result {message.tool_call_id} stands where none was asked for")
            continue
        if waiting:
            found.append(f"no result for {waiting}")
        waiting = [call.id for call in message.tool_calls] if isinstance(message, AiMessage) else []
        if isinstance(message, AiMessage) and not (message.text or message.tool_calls or message.attributes):
            found.append("an empty answer")
    return [*found, *([f"no result for {waiting}"] if waiting else [])]


class CountingStore(InMemoryStore):
    """Counts what it is asked, and keeps each value that was written."""

    def __init__(self) -> None:
        super().__init__()
        self.reads = 0
        self.writes: list[Any] = []

    def get(self, namespace: str, key: str) -> Entry | None:
        self.reads += 1
        return super().get(namespace, key)

    def put(self, namespace: str, key: str, value: Any, **options: Any) -> int:
        version = super().put(namespace, key, value, **options)
        self.writes.append(value)
        return version


class Elsewhere(Store):
    """A store whose contents outlive the process, as far as a memory can tell."""

    def __init__(self) -> None:
        self.inner = InMemoryStore()

    def get(self, namespace: str, key: str) -> Entry | None:
        return self.inner.get(namespace, key)

    def put(self, namespace: str, key: str, value: Any, **options: Any) -> int:
        return self.inner.put(namespace, key, value, **options)

    def delete(self, namespace: str, key: str, **options: Any) -> bool:
        return self.inner.delete(namespace, key, **options)

    def keys(self, namespace: str, prefix: str = "") -> list[str]:
        return self.inner.keys(namespace, prefix)


class Counting:
    """A provider that counts its calls."""

    def __init__(self, store: Store | None = None, number: int = 20) -> None:
        self.made: list[Any] = []
        self.store = store
        self.number = number

    def __call__(self, id: Any) -> ChatMemory:
        self.made.append(id)
        return MessageWindowChatMemory(self.number, id, self.store)
