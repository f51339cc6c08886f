"""Memories that keep the newest messages."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from ..driving import Driver
from ..messages import ChatMessage, messages_to_json
from ..stores import Store
from .stored import NAMESPACE, StoredChatMemory
from .units import windowed

TokenCounter: TypeAlias = Callable[[Sequence[ChatMessage]], int]
_BYTES_PER_TOKEN: Final = 3


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
        if isinstance(max_messages, bool) or not isinstance(max_messages, int) or max_messages < 1:
            raise ValueError(f"max_messages is {max_messages!r}: give 1 or more")
        self.max_messages = max_messages

    def fitting(self, messages: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
        return windowed(messages, lambda kept: len(kept) <= self.max_messages)

    async def _shrunk(self, driver: Driver, messages: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
        return self.fitting(messages)


class TokenWindowChatMemory(StoredChatMemory):
    """Keeps as many of the newest messages as have at most `max_tokens` tokens.

    `counter` counts the tokens of messages; the default estimates them without a tokenizer and without
    the network, rather too many than too few. The rest is as with `MessageWindowChatMemory`.
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
        if isinstance(max_tokens, bool) or not isinstance(max_tokens, int) or max_tokens < 1:
            raise ValueError(f"max_tokens is {max_tokens!r}: give 1 or more")
        self.max_tokens = max_tokens
        self.counter = counter or estimated_tokens

    def fitting(self, messages: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
        sizes = {id(message): self.counter((message,)) for message in messages}
        return windowed(messages, lambda kept: sum(sizes[id(item)] for item in kept) <= self.max_tokens)

    async def _shrunk(self, driver: Driver, messages: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
        return self.fitting(messages)


def estimated_tokens(messages: Sequence[ChatMessage]) -> int:
    """An estimate of the tokens of messages: a third of the bytes of their JSON form.

    Measured against a common tokenizer, text takes a quarter of its bytes and dense JSON a half.
    """
    return math.ceil(len(messages_to_json(messages).encode()) / _BYTES_PER_TOKEN)
