"""A memory whose messages are in a store: one read for a call, one write for what it adds."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Final

from ..driving import ASYNCHRONOUS, BLOCKING, Driver
from ..errors import ConflictError, StoreError
from ..guessing import kind_of
from ..messages import ChatMessage, messages_from_json, messages_to_json
from ..stores import InMemoryStore, Store
from .chat_memory import ChatMemory
from .ids import key_of
from .queueing import CONTEST, in_line
from .repairing import continued

ATTEMPTS: Final = 10
NAMESPACE: Final = "chat"


class StoredChatMemory(ChatMemory):
    """Keeps the messages under the text of its id in a store; a subclass says which of them stay.

    What is added is appended to what the store holds at that moment: when another process has written in
    between, the conversation is read again and the messages are appended to that, ten times at most; then
    `ConflictError` is raised. Its `turn`, and that of every `StoreError` at a write, holds the messages that
    are not kept. After a conflict the processes take turns.
    """

    def __init__(self, id: Any, store: Store | None, namespace: str) -> None:
        if not isinstance(store, Store | None):
            raise TypeError(f"store is {kind_of(store)}: give a Store, such as SqlStore('chat.db')")
        self.id = id
        self.key = key_of(id)
        self.store = _checked(store) if store is not None else InMemoryStore()
        self.namespace = namespace
        self._known: tuple[int, tuple[ChatMessage, ...]] | None = None

    @abstractmethod
    async def _shrunk(self, driver: Driver, messages: tuple[ChatMessage, ...]) -> tuple[ChatMessage, ...]:
        """What of these messages stays."""

    @property
    def lock_key(self) -> object:
        return (id(self.store), self.namespace, self.key)

    @property
    def is_kept_elsewhere(self) -> bool:
        return not isinstance(self.store, InMemoryStore)  # which may be this memory's own

    def messages(self) -> tuple[ChatMessage, ...]:
        return self.fitting(BLOCKING.run(self._read(BLOCKING))[1])

    def add(self, *messages: ChatMessage) -> None:
        BLOCKING.run(self._add(BLOCKING, messages))

    def clear(self) -> None:
        self.store.delete(self.namespace, self.key)

    async def amessages(self) -> tuple[ChatMessage, ...]:
        return self.fitting((await ASYNCHRONOUS.run(self._read(ASYNCHRONOUS)))[1])

    async def aadd(self, *messages: ChatMessage) -> None:
        await ASYNCHRONOUS.run(self._add(ASYNCHRONOUS, messages))

    async def aclear(self) -> None:
        await self.store.adelete(self.namespace, self.key)

    async def _read(self, driver: Driver) -> tuple[int, tuple[ChatMessage, ...]]:
        entry = await driver.twin(self.store.get, self.store.aget, self.namespace, self.key)
        known = self._known
        if entry is None:
            known = (0, ())
        elif known is None or entry.version != known[0]:
            known = (entry.version, self._decoded(entry.value))
        self._known = known
        return known

    async def _add(self, driver: Driver, added: tuple[ChatMessage, ...]) -> None:
        attempts, place = ATTEMPTS, (self.store, self.namespace, self.key)
        try:
            if not CONTEST.is_on(*place):
                if await self._appended(driver, added):
                    return
                attempts -= 1
            for _ in range(attempts - 1):
                async with in_line(driver, *place):
                    self._known = None  # what was read before is likely to be old
                    if await self._appended(driver, added):
                        return
            async with in_line(driver, *place):
                self._known = None
                await self._append(driver, added)
        except StoreError as error:
            error.turn = added
            raise

    async def _appended(self, driver: Driver, added: tuple[ChatMessage, ...]) -> bool:
        try:
            await self._append(driver, added)
        except ConflictError:
            self._known = None
            CONTEST.note(self.store, self.namespace, self.key)
            return False
        return True

    async def _append(self, driver: Driver, added: tuple[ChatMessage, ...]) -> None:
        version, history = self._known or await self._read(driver)
        messages = await self._shrunk(driver, continued(history, added))
        self._known = await self._write(driver, messages, version), messages

    async def _write(self, driver: Driver, messages: Sequence[ChatMessage], version: int) -> int:
        try:
            text = messages_to_json(messages)
        except ValueError as error:
            raise self._error(f"cannot be kept: {error}") from error

        def put() -> int:
            return self.store.put(self.namespace, self.key, text, expected_version=version)

        async def aput() -> int:
            return await self.store.aput(self.namespace, self.key, text, expected_version=version)

        return await driver.twin(put, aput)

    def _decoded(self, value: Any) -> tuple[ChatMessage, ...]:
        try:
            return messages_from_json(value)
        except (ValueError, TypeError) as error:
            raise self._error(f"is no conversation: {error}") from error

    def _error(self, problem: str) -> StoreError:
        message = f"the conversation {self.key!r} in {self.namespace!r} {problem}"
        return StoreError(message, namespace=self.namespace, key=self.key)


def _checked(store: object) -> Store:
    if not isinstance(store, Store):
        raise TypeError(
            f"store is a {type(store).__name__}: give a Store, such as SqlStore('chat.db') for a file"
        )
    return store
