"""Conversation policies that come with the framework: what of a long conversation a request holds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Any, Final

from ..driving import BLOCKING, Driver
from ..memory import summed_up, windowed
from ..memory.summarizing import PROMPT, within_exchanges
from ..messages import ChatMessage
from ..models import ChatModel, resolve_chat_model

MOST_KNOWN: Final = 100
"""So many summaries are remembered, each by the very messages that it sums up."""


class MessageWindow:
    """The newest `max_messages` messages, in whole rounds: calls and their results leave together.

    The system message counts where the messages hold one. The newest user message always stays. Raises
    `ValueError` for less than 1.
    """

    def __init__(self, max_messages: int) -> None:
        if max_messages < 1:
            raise ValueError(f"max_messages is {max_messages}: give 1 or more")
        self.max_messages = max_messages

    async def drive(
        self, driver: Driver, messages: Sequence[ChatMessage], state: Any
    ) -> Sequence[ChatMessage]:
        return self(messages, state)

    def __call__(self, messages: Sequence[ChatMessage], state: Any = None) -> Sequence[ChatMessage]:
        return windowed(messages, self.max_messages, lambda message: 1) if messages else messages


class Summary:
    """The newest `keep` messages, and before them a summary of the older ones, which `model` writes.

    Calls and their results stay together, and the newest user message always stays. Conversations of up to
    `max_messages` are left as they are. When summing up fails, all is sent. A conversation that grows is
    summed up anew when what follows its last summary has grown too long.
    """

    def __init__(
        self,
        model: ChatModel | str,
        *,
        max_messages: int = 40,
        keep: int | None = None,
        prompt: str = PROMPT,
    ) -> None:
        kept = max_messages // 2 if keep is None else keep
        if not 1 <= kept < max_messages:
            raise ValueError(f"keep is {kept} and max_messages {max_messages}: give 1 <= keep < max_messages")
        self.model = resolve_chat_model(model)
        self.max_messages = max_messages
        self.keep = kept
        self.prompt = prompt
        self._known: dict[tuple[ChatMessage, ...], tuple[ChatMessage, ...]] = {}

    async def drive(
        self, driver: Driver, messages: Sequence[ChatMessage], state: Any
    ) -> Sequence[ChatMessage]:
        given = tuple(messages)
        old = max((each for each in self._known.copy() if given[: len(each)] == each), key=len, default=())
        shown = (*self._known[old], *given[len(old) :]) if old else given
        most, keep, prompt = self.max_messages, self.keep, self.prompt
        shrunk = await summed_up(
            driver, self.model, shown, most=most, keep=keep, prompt=prompt, cut=within_exchanges
        )
        if shrunk is not shown:
            same = _same_at_the_end(shrunk, given)
            head = given[: len(given) - same], shrunk[: len(shrunk) - same]
            self._known = dict([*self._known.copy().items(), head][-MOST_KNOWN:])
        return shrunk

    def __call__(self, messages: Sequence[ChatMessage], state: Any = None) -> Sequence[ChatMessage]:
        shown: Sequence[ChatMessage] = BLOCKING.run(self.drive(BLOCKING, messages, state))
        return shown


def _same_at_the_end(first: Sequence[ChatMessage], second: Sequence[ChatMessage]) -> int:
    """How many messages both end with."""
    pairs = zip(reversed(first), reversed(second), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] is pair[1], pairs))
