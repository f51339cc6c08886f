"""What was retrieved for a call, on its way to the model beside the user's message."""

from __future__ import annotations

from ..driving import Driver
from ..messages import UserMessage
from ..segments import ScoredSegment
from .augmentor import RetrievalAugmentor


class Knowledge:
    """Contents, and how they are put into a message. The message last made is kept, for it is sent again."""

    __slots__ = ("_augmentor", "_made", "contents")

    def __init__(self, contents: tuple[ScoredSegment, ...], augmentor: RetrievalAugmentor) -> None:
        self.contents = contents
        self._augmentor = augmentor
        self._made: tuple[UserMessage, UserMessage] | None = None

    async def joined(self, driver: Driver, message: UserMessage) -> UserMessage:
        """The message with the contents in it."""
        if self._made is None or self._made[0] is not message:
            self._made = message, await self._augmentor.injected(driver, self.contents, message)
        return self._made[1]
