"""What a chat memory is: the messages of one conversation, as far as they are to be sent again."""

from __future__ import annotations

from abc import ABC
from functools import partial
from typing import Any, Final

from ..driving import run_in_background, run_in_worker, wait_for
from ..messages import ChatMessage


class ChatMemory(ABC):  # noqa: B024 - either half of each pair of methods will do
    """The messages of one conversation.

    A subclass overrides `messages` or `amessages`, `add` or `aadd`, `clear` or `aclear`; the other half of
    each pair works by way of it. What is added in one go is kept whole or not at all. `id` names the
    conversation.
    """

    id: Any = "default"

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        missing = [
            f"{name} or a{name}"
            for name in _METHODS
            if all(getattr(cls, half) is getattr(ChatMemory, half) for half in (name, f"a{name}"))
        ]
        if missing:
            raise TypeError(f"{cls.__name__} overrides neither of {'; '.join(missing)}: a memory needs one")

    def messages(self) -> tuple[ChatMessage, ...]:
        """The messages to send again, the system message first."""
        return run_in_background(self.amessages())

    def add(self, *messages: ChatMessage) -> None:
        """Add messages at the end; a system message takes the place of the one there is."""
        run_in_background(self.aadd(*messages))

    def clear(self) -> None:
        """Forget everything."""
        run_in_background(self.aclear())

    async def amessages(self) -> tuple[ChatMessage, ...]:
        """See `messages`."""
        return await wait_for(run_in_worker(self.messages))

    async def aadd(self, *messages: ChatMessage) -> None:
        """See `add`."""
        await wait_for(run_in_worker(partial(self.add, *messages)))

    async def aclear(self) -> None:
        """See `clear`."""
        await wait_for(run_in_worker(self.clear))

    def fitting(self, messages: tuple[ChatMessage, ...]) -> tuple[ChatMessage, ...]:
        """Which of these messages, the newest last, are sent to a model; all of them by default."""
        return messages

    @property
    def lock_key(self) -> object:
        """What calls with this memory wait for: two objects of one conversation have the same."""
        return id(self)

    @property
    def is_kept_elsewhere(self) -> bool:
        """Whether the messages outlive this object, so that a service need not keep it between calls."""
        return False


_METHODS: Final = ("messages", "add", "clear")
