"""The memories of a service: one for each id, made once, let go of when it can be made again."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Final, Protocol, TypeAlias
from weakref import WeakValueDictionary

from ..driving import KeyedLocks
from ..errors import MemoryInUseError
from .chat_memory import ChatMemory

ChatMemoryProvider: TypeAlias = Callable[[Any], ChatMemory]
LOCKS: Final = KeyedLocks()
"""One line for each conversation of the process, whichever service and object it is reached by."""
_in_use: ContextVar[frozenset[object]] = ContextVar("aiservices_memories_in_use", default=frozenset())


class ChatMemoryAccess(Protocol):
    """A service whose Protocol also inherits this lets its memories be reached.

    `get_chat_memory(id)` gives the memory of an id, or `None` when the service has not met the id;
    `evict_chat_memory(id)` clears it and forgets it, and says whether there was one.
    """

    def get_chat_memory(self, id: Any, /) -> ChatMemory | None:
        return memories_of(self).find(id)

    def evict_chat_memory(self, id: Any, /) -> bool:
        return memories_of(self).evict(id)


MEMORIES: Final = "__aiservices_memories__"


def memories_of(service: object) -> Memories:
    """The memories of a service, for `ChatMemoryAccess`."""
    found = getattr(service, MEMORIES)
    assert isinstance(found, Memories)
    return found


class Memories:
    """The memories of one service. A memory whose messages are in a store is kept only while it is used."""

    def __init__(self, provider: ChatMemoryProvider) -> None:
        self._provider = provider
        self._making = KeyedLocks()
        self._kept: dict[Any, ChatMemory] = {}
        self._stored: WeakValueDictionary[Any, ChatMemory] = WeakValueDictionary()

    def get(self, id: Any) -> ChatMemory:
        """The memory of an id, made when there is none. Raises `ValueError` for `None` and blank ids."""
        check_id(id)
        memory = self.known(id)
        if memory is None:
            with self._making.held(id):
                memory = self.known(id)
                if memory is None:
                    memory = self._made(id)
        return memory

    def known(self, id: Any) -> ChatMemory | None:
        """The memory of an id that was met before and is still in this process."""
        return self._kept.get(id) or self._stored.get(id)

    def find(self, id: Any) -> ChatMemory | None:
        """The memory of an id, in this process or in a store; `None` for one that no call has used."""
        memory = self.known(id)
        if memory is None:
            made = self._checked(id)
            memory = made if made.is_kept_elsewhere else None
        return memory

    @classmethod
    def shared(cls, memory: ChatMemory) -> Memories:
        """One memory for every call."""
        made = cls(lambda _: memory)
        made._kept[memory.id] = memory
        return made

    def evict(self, id: Any) -> bool:
        """Clear and forget the memory of an id."""
        memory = self.find(id)
        if memory is None:
            return False
        memory.clear()
        self._kept.pop(id, None)
        self._stored.pop(id, None)
        return True

    def _made(self, id: Any) -> ChatMemory:
        memory = self._checked(id)
        (self._stored if memory.is_kept_elsewhere else self._kept)[id] = memory
        return memory

    def _checked(self, id: Any) -> ChatMemory:
        memory = self._provider(id)
        if not isinstance(memory, ChatMemory):
            raise TypeError(f"chat_memory_provider gave a {type(memory).__name__}, not a ChatMemory")
        return memory


def check_id(id: Any) -> None:
    """Raise `ValueError` for an id under which users could share a memory by accident."""
    if id is None or (isinstance(id, str) and not id.strip()):
        raise ValueError(f"the memory id is {id!r}: a conversation needs one of its own")


def enter(memory: ChatMemory) -> Any:
    """Note that a call uses this memory. Raises `MemoryInUseError` inside a call that already does."""
    used = _in_use.get()
    if memory.lock_key in used:
        raise MemoryInUseError(
            f"the memory {memory.id!r} is in use by the call that this one is made from: "
            "call with another memory id, or after it"
        )
    return _in_use.set(used | {memory.lock_key})


def leave(token: Any) -> None:
    """Take the note back."""
    _in_use.reset(token)
