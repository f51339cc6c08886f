"""A memory that sums up what it no longer keeps."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from ..driving import Driver
from ..messages import (
    AiMessage,
    ChatMessage,
    ChatRequest,
    SystemMessage,
    ToolResultMessage,
    UserMessage,
)
from ..models import ChatModel, resolve_chat_model
from ..stores import Store
from .stored import NAMESPACE, StoredChatMemory
from .units import Unit, units

SUMMARY: Final = "summary"
Cut: TypeAlias = Callable[[list[Unit], int], tuple[list[Unit], list[Unit]]]
PROMPT: Final = (
    "Sum up this conversation for your own later use. Keep names, numbers, decisions and open questions. "
    "Answer with the summary only."
)
_log = logging.getLogger("aiservices")


class SummarizingChatMemory(StoredChatMemory):
    """Keeps the newest messages and, in front of them, a summary of the older ones.

    When there are more than `max_messages`, all but the newest `keep` (in whole units) are summed up by
    `model` into one user message whose attributes say `summary`. When that fails, everything is kept.
    """

    def __init__(
        self,
        model: ChatModel | str,
        *,
        max_messages: int = 20,
        keep: int | None = None,
        prompt: str = PROMPT,
        id: Any = "default",
        store: Store | None = None,
        namespace: str = NAMESPACE,
    ) -> None:
        super().__init__(id, store, namespace)
        kept = max_messages // 2 if keep is None else keep
        if not 1 <= kept < max_messages:
            raise ValueError(f"keep is {kept} and max_messages {max_messages}: give 1 <= keep < max_messages")
        self.model = resolve_chat_model(model)
        self.max_messages = max_messages
        self.keep = kept
        self.prompt = prompt

    async def _shrunk(self, driver: Driver, messages: tuple[ChatMessage, ...]) -> tuple[ChatMessage, ...]:
        most, keep, prompt = self.max_messages, self.keep, self.prompt
        return await summed_up(driver, self.model, messages, most=most, keep=keep, prompt=prompt)


async def summed_up(
    driver: Driver,
    model: ChatModel,
    messages: tuple[ChatMessage, ...],
    *,
    most: int,
    keep: int,
    prompt: str = PROMPT,
    cut: Cut | None = None,
) -> tuple[ChatMessage, ...]:
    """More than `most` messages as a summary and the newest `keep`, in whole units.

    `cut` gives those that are summed up and those that stay, by default whole exchanges. The same object
    where there is nothing to sum up, or that fails.
    """
    if len(messages) <= most:
        return messages
    system = messages[:1] if isinstance(messages[0], SystemMessage) else ()
    old, new = (cut or between_exchanges)(units(messages[len(system) :]), keep)
    if all(_is_summary(unit) for unit in old):  # or there is nothing old at all
        return messages
    try:
        summary = await _summary(driver, model, prompt, old)
    except Exception as error:
        _log.warning("a conversation could not be summed up (%s): it is kept whole", type(error).__name__)
        return messages
    return (*system, summary, *(message for unit in new for message in unit))


async def _summary(driver: Driver, model: ChatModel, prompt: str, old: Sequence[Unit]) -> UserMessage:
    text = "\n".join(_line(message) for unit in old for message in unit)
    request = ChatRequest((SystemMessage(prompt), UserMessage(text)))
    response = await driver.twin(model.chat, model.achat, request)
    if not response.text or not response.text.strip():
        raise ValueError("the summary is empty")
    return UserMessage(
        f"Summary of the conversation so far: {response.text.strip()}", attributes={SUMMARY: True}
    )


def between_exchanges(found: list[Unit], keep: int) -> tuple[list[Unit], list[Unit]]:
    """Old and new units: the new begin with a user message, the newest one of all is among them."""
    start, length = len(found), 0
    for index in reversed(range(len(found))):
        length += len(found[index])
        if length > keep and start < len(found):
            break
        if isinstance(found[index][0], UserMessage):
            start = index
    return (found[:start], found[start:]) if start < len(found) else ([], found)


def within_exchanges(found: list[Unit], keep: int) -> tuple[list[Unit], list[Unit]]:
    """As `between_exchanges`, but of an exchange that is longer than `keep` only the newest units stay.

    What the user said stays before them, and is told to who sums up as well.
    """
    old, new = between_exchanges(found, keep)
    asked = new[: isinstance(new[0][0], UserMessage)]
    start, room = len(new) - 1, keep - len(asked) - len(new[-1])
    while start > len(asked) and len(new[start - 1]) <= room:
        start -= 1
        room -= len(new[start])
    if start <= len(asked):
        return old, new
    return [*old, *new[:start]], [*asked, *new[start:]]


def _is_summary(unit: Unit) -> bool:
    return bool(unit[0].attributes.get(SUMMARY))


def _line(message: ChatMessage) -> str:
    match message:
        case UserMessage():
            return f"User: {message.text}"
        case AiMessage():
            calls = "".join(f" [calls {call.name}({call.arguments})]" for call in message.tool_calls)
            return f"Assistant: {message.text or ''}{calls}"
        case ToolResultMessage():
            return f"Tool {message.tool_name}: {message.text}"
        case _:
            return ""
