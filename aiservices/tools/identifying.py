"""An id of its own for every call of a conversation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..messages import AiMessage, ChatMessage, ToolCall

_NOTHING = ("", "null", '""')


def ids_in(messages: Iterable[ChatMessage]) -> set[str]:
    """The ids of the calls that a conversation holds already."""
    return {call.id for message in messages if isinstance(message, AiMessage) for call in message.tool_calls}


def with_unique_ids(message: AiMessage, taken: set[str]) -> AiMessage:
    """The message with an id of its own for every call, and `{}` for arguments that say nothing.

    Some providers give no ids, repeat them, or count anew in each answer; results are found by id. The ids
    are added to those `taken`.
    """
    calls = tuple(_with_unique_id(call, taken) for call in message.tool_calls)
    return message if calls == message.tool_calls else replace(message, tool_calls=calls)


def _with_unique_id(call: ToolCall, taken: set[str]) -> ToolCall:
    unique, number = call.id or "call", 2
    while unique in taken:
        unique, number = f"{call.id or 'call'}-{number}", number + 1
    taken.add(unique)
    arguments = "{}" if (call.arguments or "").strip() in _NOTHING else call.arguments
    changed = unique != call.id or arguments != call.arguments
    return replace(call, id=unique, arguments=arguments) if changed else call
