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
    messages: Sequence[ChatMessage], most: int, size: Callable[[ChatMessage], int]
) -> tuple[ChatMessage, ...]:
    """The newest messages whose sizes add up to at most `most`, in whole units.

    The system message and the newest user message always stay, also when nothing else fits. What is left of
    older exchanges begins with a user message; of the newest exchange the oldest tool rounds leave first.
    """
    ordered = with_system_first(messages)
    if sum(map(size, ordered)) <= most:
        return ordered
    system = ordered[:1] if isinstance(ordered[0], SystemMessage) else ()
    room = most - sum(map(size, system))
    found = units(ordered[len(system) :])
    tails = [*accumulate((sum(map(size, unit)) for unit in reversed(found)), initial=0)]
    return (*system, *(message for unit in _newest(found, tails[::-1], room) for message in unit))


def _newest(found: list[Unit], tails: list[int], room: int) -> list[Unit]:
    """The newest units that fit; `tails[i]` is the size of all from the i-th on."""
    users = [index for index, unit in enumerate(found) if isinstance(unit[0], UserMessage)]
    if not users:  # nobody asked anything: the newest unit stays in the user message's place
        return found[next((i for i in range(len(found)) if tails[i] <= room), -1) :]
    start = next((index for index in users if tails[index] <= room), None)
    if start is not None:
        return found[start:]
    newest = users[-1]
    room -= tails[newest] - tails[newest + 1]
    fitting = (i for i in range(newest + 1, len(found)) if tails[i] <= room)
    return [found[newest], *found[next(fitting, len(found)) :]]
