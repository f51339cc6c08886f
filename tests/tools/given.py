"""What the tests of tools share: a context, a call from its arguments, decorators."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import aiservices
from aiservices import InvocationParameters, ToolContext
from aiservices.messages import ToolCall, ToolResultMessage
from aiservices.testing import ScriptedChatModel
from aiservices.tools import Tool, tools_of

F = TypeVar("F", bound=Callable[..., Any])

PARAMETERS = InvocationParameters({"tenant": "t1"})
CONTEXT = ToolContext(ToolCall("c1", "tool", "{}"), "Service", PARAMETERS, memory_id="m1")


class Asker(Protocol):
    def ask(self, text: str) -> str: ...

    async def aask(self, text: str) -> str: ...


def called(item: Any, text: str | None = "{}", context: ToolContext = CONTEXT) -> Any:
    """What the one tool of `item` returns for the arguments a model sent."""
    (made,) = [item] if isinstance(item, Tool) else tools_of(item)
    value = made.signature.call(made.execute, made.signature.read(text), context)()
    return asyncio.run(value) if inspect.iscoroutine(value) else value


def properties(item: Any) -> dict[str, Any]:
    """What the model is told of the parameters of the one tool of `item`."""
    (made,) = tools_of(item)
    return dict(made.spec.parameters["properties"])


def results(invoke: Any, tools: list[Any], *calls: ToolCall, **options: Any) -> list[ToolResultMessage]:
    """The results that reach the model when it makes these calls in one answer, and then is done."""
    model = ScriptedChatModel(calls, "done")
    assert invoke(aiservices.create(Asker, chat_model=model, tools=tools, **options), "ask", "go") == "done"
    return [message for message in model.requests[1].messages if isinstance(message, ToolResultMessage)]


def audited(log: list[str]) -> Callable[[F], F]:
    """A decorator that writes down each call."""

    def audit(function: F) -> F:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            log.append(wrapper.__name__)
            return function(*args, **kwargs)

        return wrapper  # type: ignore[return-value]

    return audit
