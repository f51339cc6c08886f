"""Conversations in units that stay together: an answer that asks for tools, and the results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import TypeAlias

from ..messages import AiMessage, ChatMessage, SystemMessage, ToolResultMessage, UserMessage

Unit: TypeAlias = tuple[ChatMessage, ...]


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


def with_system_first(messages: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
    """The messages with one system message at most, the last there is, in front."""
    systems = [message for message in messages if isinstance(message, SystemMessage)]
    return (*systems[-1:], *(message for message in messages if not isinstance(message, SystemMessage)))


def windowed(
    messages: Sequence[ChatMessage], most: int, size: Callable[[ChatMessage], int] = lambda _: 1
) -> tuple[ChatMessage, ...]:
    """The newest messages whose sizes add up to `most`, in whole units.

    The system message and the newest user message always stay, also when nothing else fits. What was left
    of an older exchange begins with its user message; of the newest exchange the oldest tool rounds leave
    first. Without any user message the newest unit stays.
    """
    ordered = with_system_first(messages)
    sizes = [size(message) for message in ordered]
    if sum(sizes) <= most:
        return ordered
    system = 1 if isinstance(ordered[0], SystemMessage) else 0
    room, found = most - sum(sizes[:system]), units(ordered[system:])
    # tail[i]: the size of all units from i on
    lengths = accumulate(map(len, found), initial=system)
    tail = _tails([sum(sizes[begin : begin + len(unit)]) for begin, unit in zip(lengths, found, strict=False)])
    users = [index for index, unit in enumerate(found) if isinstance(unit[0], UserMessage)]
    if not users:
        start = next((index for index in range(len(found)) if tail[index] <= room), len(found) - 1)
        kept = found[start:]
    else:
        newest = users[-1]
        start = next((index for index in users if tail[index] <= room), newest)
        room -= tail[newest] - tail[newest + 1]
        following = newest + 1
        if start == newest:
            following = next(index for index in range(following, len(tail)) if tail[index] <= room or index == len(found))
        kept = [*found[start : newest + 1], *found[following:]]
    return (*ordered[:system], *(message for unit in kept for message in unit))


def _tails(sizes: Sequence[int]) -> list[int]:
    return list(accumulate(reversed(sizes), initial=0))[::-1]
