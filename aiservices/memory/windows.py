"""Memories that keep the newest messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from ..driving import Driver
from ..messages import ChatMessage
from ..stores import Store
from .stored import NAMESPACE, StoredChatMemory
from .tokens import estimated_tokens
from .units import windowed

TokenCounter: TypeAlias = Callable[[Sequence[ChatMessage]], int]


class MessageWindowChatMemory(StoredChatMemory):
    """Keeps the newest `max_messages` messages, the system message among them.

    A call of tools and its results leave together, and the newest user message stays, also where that is
    more than the number. Without a `store` the conversation lives as long as this object.
    """

    def __init__(
        self,
        max_messages: int,
        id: Any = "default",
        store: Store | None = None,
        namespace: str = NAMESPACE,
    ) -> None:
        super().__init__(id, store, namespace)
        self.max_messages = _positive("max_messages", max_messages)

    def fitting(self, messages: tuple[ChatMessage, ...]) -> tuple[ChatMessage, ...]:
        return windowed(messages, self.max_messages, lambda message: 1)

    async def _shrunk(self, driver: Driver, messages: tuple[ChatMessage, ...]) -> tuple[ChatMessage, ...]:
        return self.fitting(messages)


class TokenWindowChatMemory(StoredChatMemory):
    """Keeps as many of the newest messages as have at most `max_tokens` tokens.

    `counter` counts the tokens of messages, and is asked for one at a time; the default estimates them
    without a tokenizer and without the network, rather too many than too few. The rest is as with
    `MessageWindowChatMemory`.
    """

    def __init__(
        self,
        max_tokens: int,
        counter: TokenCounter | None = None,
        *,
        id: Any = "default",
        store: Store | None = None,
        namespace: str = NAMESPACE,
    ) -> None:
        super().__init__(id, store, namespace)
        self.max_tokens = _positive("max_tokens", max_tokens)
        self.counter = estimated_tokens if counter is None else counter
        if not callable(self.counter):
            raise TypeError(
                f"counter is {self.counter!r:.80}: give a function of messages that counts their tokens"
            )

    def fitting(self, messages: tuple[ChatMessage, ...]) -> tuple[ChatMessage, ...]:
        sizes = {id(message): self.counter((message,)) for message in messages}
        return windowed(messages, self.max_tokens, lambda message: sizes[id(message)])

    async def _shrunk(self, driver: Driver, messages: tuple[ChatMessage, ...]) -> tuple[ChatMessage, ...]:
        return self.fitting(messages)


def _positive(name: str, number: int) -> int:
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise ValueError(f"{name} is {number!r}: give 1 or more")
    return number
