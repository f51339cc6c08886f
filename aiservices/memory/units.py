"""Conversations in units that stay together: an answer that asks for tools, and the results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ..messages import AiMessage, ChatMessage, SystemMessage, ToolResultMessage, UserMessage

Unit: TypeAlias = tuple[ChatMessage, ...]
Fits: TypeAlias = Callable[[Sequence[ChatMessage]], bool]


def units(messages: Sequence[ChatMessage]) -> list[Unit]:
    """The messages in units; only the results right after the calls belong to them."""
    found: list[list[ChatMessage]] = []
    for message in messages:
        follows_calls = bool(found) and isinstance(found[-1][0], AiMessage) and bool(found[-1][0].tool_calls)
        if isinstance(message, ToolResultMessage) and follows_calls:
            found[-1].append(message)
        else:
            found.append([message])
    return [tuple(unit) for unit in found]


def windowed(messages: Sequence[ChatMessage], fits: Fits) -> tuple[ChatMessage, ...]:
    """What fits of the newest messages, in whole units.

    The system message and the newest user message always stay, also when nothing else fits. What remains
    begins with a user message: an answer without its question is not kept.
    """
    system = [message for message in messages if isinstance(message, SystemMessage)]
    rest = units([message for message in messages if not isinstance(message, SystemMessage)])
    newest = next((unit for unit in reversed(rest) if isinstance(unit[0], UserMessage)), None)
    while not fits([*system, *_flat(rest)]):
        droppable = next((index for index, unit in enumerate(rest) if unit is not newest), None)
        if droppable is None:
            break
        del rest[droppable]
    if newest is not None:
        while rest and rest[0] is not newest and not isinstance(rest[0][0], UserMessage):
            del rest[0]
    return (*system, *_flat(rest))


def _flat(found: Sequence[Unit]) -> list[ChatMessage]:
    return [message for unit in found for message in unit]


@dataclass(frozen=True, slots=True)
class Repaired:
    """A conversation that can be sent, and what had to be done to it, one sentence each."""

    messages: tuple[ChatMessage, ...]
    repairs: tuple[str, ...]


def repaired(messages: Sequence[ChatMessage]) -> Repaired:
    """Make a conversation valid: every call has one result, every result a call, a user message is first."""
    repairs: list[str] = []
    kept: list[ChatMessage] = []
    for unit in units(messages):
        first = unit[0]
        if isinstance(first, ToolResultMessage):
            repairs.append(f"a result of tool {first.tool_name!r} without its call was left out")
        elif isinstance(first, AiMessage) and first.tool_calls:
            kept += _paired(
                first, [item for item in unit[1:] if isinstance(item, ToolResultMessage)], repairs
            )
        elif isinstance(first, AiMessage) and not first.text and not first.attributes:
            repairs.append("an empty answer was left out")
        else:
            kept.append(first)
    return Repaired(tuple(_from_first_user(kept, repairs)), tuple(repairs))


def _paired(message: AiMessage, results: list[ToolResultMessage], repairs: list[str]) -> list[ChatMessage]:
    """The calls with exactly one result each, in their order; a missing one says that it was lost."""
    waiting = list(results)
    paired: list[ChatMessage] = [message]
    for call in message.tool_calls:
        found = next((item for item in waiting if item.tool_call_id == call.id), None)
        if found is None:
            repairs.append(f"the call of tool {call.name!r} had no result and got one that says so")
            found = ToolResultMessage(call.id, call.name, "The result of this call was lost.", is_error=True)
        else:
            waiting.remove(found)
        paired.append(found)
    repairs += [f"a second result of tool {item.tool_name!r} was left out" for item in waiting]
    return paired


def _from_first_user(messages: list[ChatMessage], repairs: list[str]) -> list[ChatMessage]:
    system = [message for message in messages if isinstance(message, SystemMessage)]
    rest = [message for message in messages if not isinstance(message, SystemMessage)]
    start = next((index for index, item in enumerate(rest) if isinstance(item, UserMessage)), len(rest))
    dropped = [item for item in rest[:start] if isinstance(item, AiMessage | ToolResultMessage)]
    if dropped:
        repairs.append(f"{len(dropped)} messages before the first of the user were left out")
        rest = rest[start:]
    return [*system[-1:], *rest]
