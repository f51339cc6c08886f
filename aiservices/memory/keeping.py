"""The memories of a service: one for each id, made once, let go of when it can be made again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Protocol, TypeAlias
from weakref import WeakValueDictionary

from ..driving import NestedLocks, WouldWaitForItselfError
from ..errors import MemoryInUseError, StoreError
from .chat_memory import ChatMemory
from .ids import key_of
from .stored import StoredChatMemory

ChatMemoryProvider: TypeAlias = Callable[[Any], ChatMemory]
LOCKS: Final = NestedLocks()
"""One line for each conversation of the process, whichever service and object it is reached by."""


class ChatMemoryAccess(Protocol):
    """A service whose Protocol also inherits this lets its memories be reached.

    `get_chat_memory(id)` gives the memory of an id, or `None` when the service has not met the id and a store
    knows nothing of it; `evict_chat_memory(id)` clears it and forgets it, and says whether there was one.
    A call that is running meanwhile still adds its turn to the store when it ends; where the memory has none
    that turn is forgotten with the rest.
    """

    def get_chat_memory(self, id: Any) -> ChatMemory | None:
        return memories_of(self).find(id)

    def evict_chat_memory(self, id: Any) -> bool:
        return memories_of(self).evict(id)


MEMORIES: Final = "__aiservices_memories__"


def memories_of(service: object) -> Memories:
    """The memories of a service, for `ChatMemoryAccess`."""
    found = getattr(service, MEMORIES)
    assert isinstance(found, Memories)
    return found


class Memories:
    """The memories of one service, each under the text of its id.

    A memory whose messages outlive it is kept only while it is used.
    """

    def __init__(self, provider: ChatMemoryProvider) -> None:
        self._provider = provider
        self._kept: dict[str, ChatMemory] = {}
        self._owners: dict[object, str] = {}  # whose those kept are, by what calls with them wait for
        self._stored: WeakValueDictionary[str, ChatMemory] = WeakValueDictionary()

    @classmethod
    def shared(cls, memory: ChatMemory) -> Memories:
        """One memory for every call, found under its own id."""
        return _SharedMemory(memory)

    def get(self, id: Any) -> ChatMemory:
        """The memory of an id, made when there is none. Raises `ValueError` for an id that is none."""
        key = key_of(id)
        memory = self._known(key)
        return self._made(id, key) if memory is None else memory

    def find(self, id: Any) -> ChatMemory | None:
        """The memory of an id that some call has used, perhaps in another process; else `None`."""
        key = key_of(id)
        memory = self._known(key)
        if memory is not None:
            return memory
        made = self._provided(id, key)
        return made if made.messages() else None

    def evict(self, id: Any) -> bool:
        """Clear and forget the memory of an id, also one that cannot be read any more."""
        key = key_of(id)
        known = self._known(key)
        memory = self._provided(id, key) if known is None else known
        there = known is not None or _has_messages(memory)
        memory.clear()
        self._kept.pop(key, None)
        self._owners.pop(memory.lock_key, None)
        self._stored.pop(key, None)
        return there

    def _known(self, key: str) -> ChatMemory | None:
        memory = self._kept.get(key)
        return self._stored.get(key) if memory is None else memory

    def _made(self, id: Any, key: str) -> ChatMemory:
        try:
            with LOCKS.held((self, key)):
                memory = self._known(key)
                if memory is None:
                    memory = self._provided(id, key)
                    self._keep(memory, key)
                return memory
        except WouldWaitForItselfError:
            raise MemoryInUseError(f"chat_memory_provider({id!r}) asked for the memory it makes") from None

    def _keep(self, memory: ChatMemory, key: str) -> None:
        if memory.is_kept_elsewhere:
            self._stored[key] = memory
        else:
            self._owners[memory.lock_key] = key
            self._kept[key] = memory

    def _provided(self, id: Any, key: str) -> ChatMemory:
        """Raises `ValueError` for a memory that another id has too: a user would read another's messages."""
        memory = self._provider(id)
        if not isinstance(memory, ChatMemory):
            raise TypeError(f"chat_memory_provider gave a {type(memory).__name__}, not a ChatMemory")
        if memory.is_kept_elsewhere and isinstance(memory, StoredChatMemory):
            owner = memory.key
        else:
            owner = self._owners.get(memory.lock_key, key)
        if owner != key:
            raise ValueError(
                f"chat_memory_provider gave the memory of {owner!r} for {key!r}: make one for each id and "
                "give it that id, as in lambda id: MessageWindowChatMemory(20, id)"
            )
        return memory


def _has_messages(memory: ChatMemory) -> bool:
    try:
        return bool(memory.messages())
    except StoreError:  # there is something, though it cannot be read
        return True


class _SharedMemory(Memories):
    """Never made and never let go of; other ids have no memory."""

    def __init__(self, memory: ChatMemory) -> None:
        super().__init__(lambda _: memory)
        self._kept[key_of(memory.id)] = memory

    def find(self, id: Any) -> ChatMemory | None:
        return self._known(key_of(id))

    def evict(self, id: Any) -> bool:
        memory = self.find(id)
        if memory is None:
            return False
        memory.clear()
        return True
