"""Making broken conversations valid again: providers refuse a call without a result for ever."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ..messages import AiMessage, ChatMessage, SystemMessage, ToolResultMessage, UserMessage
from .units import units, with_system_first

LOST: Final = "The result of this call was lost."


@dataclass(frozen=True, slots=True)
class Repaired:
    """A conversation that can be sent, and what had to be done to it, one sentence each."""

    messages: tuple[ChatMessage, ...]
    repairs: tuple[str, ...]


def repaired(messages: Sequence[ChatMessage]) -> Repaired:
    """Make a conversation valid.

    One system message stands first, then one of the user; every call has one result right behind it, in
    the order of the calls, and every result a call; no answer is empty.
    """
    repairs: list[str] = []
    kept: list[ChatMessage] = []
    for unit in units(messages):
        first = unit[0]
        if isinstance(first, ToolResultMessage):
            repairs.append(f"a result of tool {first.tool_name!r} without its call was left out")
        elif isinstance(first, AiMessage) and first.tool_calls:
            results = [item for item in unit[1:] if isinstance(item, ToolResultMessage)]
            kept += _paired(first, results, repairs)
        elif isinstance(first, AiMessage) and says_nothing(first):
            repairs.append("an empty answer was left out")
        else:
            kept.append(first)
    return Repaired(_from_first_user(_one_system(kept, repairs), repairs), tuple(repairs))


def continued(history: Sequence[ChatMessage], added: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
    """The conversation with messages added.

    What the user says next ends what came before: calls without a result get none any more, and what is
    broken is repaired for good.
    """
    said = next((message for message in added if not isinstance(message, SystemMessage)), None)
    if isinstance(said, UserMessage):
        history = repaired(history).messages
    return with_system_first((*history, *added))


def says_nothing(message: AiMessage) -> bool:
    """Whether an answer has nothing to send again: no text, no calls, nothing its provider wants back."""
    more = message.tool_calls or message.images or message.attributes
    return not more and not (message.text and message.text.strip())


def _paired(message: AiMessage, results: list[ToolResultMessage], repairs: list[str]) -> list[ChatMessage]:
    """The calls with exactly one result each, in their order; a missing one says that it was lost."""
    waiting = list(results)
    paired: list[ChatMessage] = [message]
    for call in message.tool_calls:
        found = next((item for item in waiting if item.tool_call_id == call.id), None)
        if found is None:
            repairs.append(f"the call of tool {call.name!r} had no result and got one that says so")
            found = ToolResultMessage(call.id, call.name, LOST, is_error=True)
        else:
            waiting.remove(found)
        paired.append(found)
    repairs += [f"a result of tool {item.tool_name!r} without its call was left out" for item in waiting]
    return paired


def _one_system(messages: list[ChatMessage], repairs: list[str]) -> tuple[ChatMessage, ...]:
    ordered = with_system_first(messages)
    if len(ordered) < len(messages):
        repairs.append(f"of {len(messages) - len(ordered) + 1} system messages only the last was kept")
    return ordered


def _from_first_user(messages: tuple[ChatMessage, ...], repairs: list[str]) -> tuple[ChatMessage, ...]:
    start = next(
        (index for index, item in enumerate(messages) if isinstance(item, UserMessage)), len(messages)
    )
    early = [item for item in messages[:start] if isinstance(item, AiMessage | ToolResultMessage)]
    if not early:
        return messages
    repairs.append(f"{len(early)} messages before the first of the user were left out")
    return (*(item for item in messages[:start] if isinstance(item, SystemMessage)), *messages[start:])
