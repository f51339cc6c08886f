"""What tests of running tools have in common: calls, services, and the world that tools change."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import aiservices
from aiservices import Result, Tool, ToolCall
from aiservices.messages import ChatMessage, ToolResultMessage
from aiservices.testing import ScriptedChatModel
from tests.asking import asking

Invoke = Callable[..., Any]


def call(name: str, id: str | None = None, **arguments: Any) -> ToolCall:
    """A call of a tool; its id is the name unless another is given."""
    return ToolCall(name if id is None else id, name, json.dumps(arguments))


def service(*replies: Any, returns: Any = Result[str], **options: Any) -> tuple[Any, ScriptedChatModel]:
    """A service that answers from a script, and its model."""
    model = ScriptedChatModel(*replies)
    return aiservices.create(asking(returns), chat_model=model, **options), model


def results(messages: Sequence[ChatMessage]) -> list[ToolResultMessage]:
    return [message for message in messages if isinstance(message, ToolResultMessage)]


def texts(messages: Sequence[ChatMessage]) -> list[str]:
    return [message.text for message in results(messages)]


def of_kind(kind: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as it is, or as an asynchronous one."""
    if kind == "blocking":
        return function

    @wraps(function)
    async def asynchronous(*args: Any, **named: Any) -> Any:
        await asyncio.sleep(0)
        return function(*args, **named)

    return asynchronous


class World:
    """Bookings that tools make and undos cancel; `log` tells what happened, in order."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.standing: list[str] = []

    def book(self, what: str) -> str:
        self.log.append(f"book {what}")
        self.standing.append(what)
        return f"#{what}"

    def cancel(self, what: str, result: str | None) -> None:
        self.log.append(f"cancel {what} {result}")
        self.standing.remove(what)

    def tool(self, *, kind: str = "blocking", seconds: float = 0.0, **options: Any) -> Tool[..., Any]:
        """A tool `book` that takes a while before it has done its work."""
        if kind == "blocking":

            def book(what: str) -> str:
                time.sleep(seconds)
                return self.book(what)

            made: Tool[..., Any] = aiservices.tool(**options)(book)
        else:

            async def abook(what: str) -> str:
                await asyncio.sleep(seconds)
                return self.book(what)

            made = aiservices.tool(**{"name": "book", **options})(abook)
        made.compensation(self.cancel)
        return made


def weather(city: str) -> str:
    return f"{city}: sunny"


def boom() -> str:
    """Fails."""
    raise ValueError("no luck")


def within(seconds: float, holds: Callable[[], bool]) -> bool:
    """Whether something holds before so many seconds have passed."""
    ends = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > ends:
            return False
        time.sleep(0.001)
    return True
