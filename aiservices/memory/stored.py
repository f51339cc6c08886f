"""A memory whose messages are in a store: one read for a call, one write for what it adds."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Final

from ..driving import ASYNCHRONOUS, BLOCKING, Driver
from ..errors import ConflictError, StoreError
from ..messages import ChatMessage, messages_from_json, messages_to_json
from ..stores import InMemoryStore, Store
from .chat_memory import ChatMemory, merged

ATTEMPTS: Final = 10
NAMESPACE: Final = "chat"


class StoredChatMemory(ChatMemory):
    """Keeps the messages under its id in a store; a subclass says which of them stay.

    What is added is appended to what the store holds at that moment: when another process has written in
    between, the conversation is read again and the messages are appended to that, ten times at most; then
    `ConflictError` is raised and the messages are in its `turn`.
    """

    def __init__(self, id: Any, store: Store | None, namespace: str) -> None:
        if id is None or (isinstance(id, str) and not id.strip()):
            raise ValueError(f"a memory needs an id, not {id!r}")
        self.id = id
        self.store = store if store is not None else InMemoryStore()
        self.namespace = namespace
        self._has_own_store = store is None
        self._known: tuple[int, tuple[ChatMessage, ...]] = (0, ())

    @abstractmethod
    async def _shrunk(self, driver: Driver, messages: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
        """What of these messages stays."""

    @property
    def key(self) -> str:
        """The key in the store: the id as text."""
        return str(self.id)

    @property
    def lock_key(self) -> object:
        return (id(self.store), self.namespace, self.key)

    @property
    def is_kept_elsewhere(self) -> bool:
        return not self._has_own_store

    def messages(self) -> tuple[ChatMessage, ...]:
        return BLOCKING.run(self._read(BLOCKING))[1]

    def add(self, *messages: ChatMessage) -> None:
        BLOCKING.run(self._add(BLOCKING, messages))

    def clear(self) -> None:
        self.store.delete(self.namespace, self.key)

    async def amessages(self) -> tuple[ChatMessage, ...]:
        return (await ASYNCHRONOUS.run(self._read(ASYNCHRONOUS)))[1]

    async def aadd(self, *messages: ChatMessage) -> None:
        await ASYNCHRONOUS.run(self._add(ASYNCHRONOUS, messages))

    async def aclear(self) -> None:
        await self.store.adelete(self.namespace, self.key)

    async def _read(self, driver: Driver) -> tuple[int, tuple[ChatMessage, ...]]:
        entry = await driver.twin(self.store.get, self.store.aget, self.namespace, self.key)
        if entry is None:
            self._known = (0, ())
        elif entry.version != self._known[0]:
            self._known = (entry.version, self._decoded(entry.value))
        return self._known

    async def _add(self, driver: Driver, added: Sequence[ChatMessage]) -> None:
        version, history = self._known
        attempt = 1
        while True:
            if not version:
                version, history = await self._read(driver)
            messages = await self._shrunk(driver, merged(history, added))
            try:
                self._known = await self._write(driver, messages, version), messages
            except ConflictError as error:
                if attempt == ATTEMPTS:
                    error.turn = tuple(added)
                    raise
            else:
                return
            version, attempt = 0, attempt + 1

    async def _write(self, driver: Driver, messages: Sequence[ChatMessage], version: int) -> int:
        text = messages_to_json(messages)

        def put() -> int:
            return self.store.put(self.namespace, self.key, text, expected_version=version)

        async def aput() -> int:
            return await self.store.aput(self.namespace, self.key, text, expected_version=version)

        return await driver.twin(put, aput)

    def _decoded(self, value: Any) -> tuple[ChatMessage, ...]:
        try:
            return messages_from_json(value)
        except (ValueError, TypeError) as error:
            raise StoreError(
                f"{self.key!r} in {self.namespace!r} is no conversation: {error}",
                namespace=self.namespace,
                key=self.key,
            ) from error
