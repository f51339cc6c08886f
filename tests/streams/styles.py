"""One call made in four ways: plain, asynchronous, as a stream and as an asynchronous stream."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import aiservices
from aiservices import AsyncStream, MessageWindowChatMemory, Result, Stream
from aiservices.events import Restarted
from aiservices.testing import ScriptedChatModel

STYLES = ("ask", "aask", "stream", "astream")


def asker(kind: Any) -> Any:
    """A Protocol with a method for each style."""

    class Asker(Protocol):
        def ask(self, text: str) -> Any: ...
        async def aask(self, text: str) -> Any: ...
        def stream(self, text: str) -> Any: ...
        def astream(self, text: str) -> Any: ...

    for method in (Asker.ask, Asker.aask):
        method.__annotations__["return"] = Result[kind]
    Asker.stream.__annotations__["return"] = Stream[kind]
    Asker.astream.__annotations__["return"] = AsyncStream[kind]
    return Asker


def streaming(kind: Any) -> Any:
    """A Protocol whose `ask` returns the kind as it is."""

    class Streaming(Protocol):
        def ask(self, text: str) -> Any: ...

    Streaming.ask.__annotations__["return"] = kind
    return Streaming


def read(stream: Any) -> list[Any]:
    """All that an iterator of either kind gives."""
    if hasattr(stream, "__aiter__"):

        async def reading() -> list[Any]:
            return [item async for item in stream]

        return asyncio.run(reading())
    return list(stream)


@dataclass
class Told:
    """What came of a call, but for what no two calls have in common."""

    content: Any = None
    error: tuple[str, str] | None = None
    reasks: tuple[str, ...] = ()
    usage: Any = None
    executions: list[Any] = field(default_factory=list)
    memory: list[Any] = field(default_factory=list)
    requests: list[Any] = field(default_factory=list)
    heard: list[str] = field(default_factory=list)


def call(style: str, service: Any, text: str = "hi") -> Result[Any]:
    match style:
        case "ask":
            return service.ask(text)  # type: ignore[no-any-return]
        case "aask":
            return asyncio.run(service.aask(text))
        case "stream":
            with service.stream(text) as stream:
                return stream.result()  # type: ignore[no-any-return]

    async def reading() -> Result[Any]:
        async with service.astream(text) as stream:
            return await stream.result()  # type: ignore[no-any-return]

    return asyncio.run(reading())


def tell(style: str, kind: Any, replies: Sequence[Any], decorate: Any = lambda c: c, **options: Any) -> Told:
    """Make the call and tell everything about it."""
    model = ScriptedChatModel(*replies, capabilities=options.pop("capabilities", ()))
    memory, told, heard = MessageWindowChatMemory(50), Told(), []
    service = aiservices.create(
        decorate(asker(kind)), chat_model=model, chat_memory=memory, listeners=[heard.append], **options
    )
    try:
        result = call(style, service)
    except Exception as error:
        told.error = (type(error).__name__, str(error).replace(f"Asker.{style}", "Asker.ask"))
        done: Any = error
    else:
        told.content, told.reasks, done = result.content, result.reasks, result
    told.usage = getattr(done, "usage", None)
    told.executions = [
        (each.call, each.value, str(each.error), each.is_error, each.compensation)
        for each in getattr(done, "tool_executions", ())
    ]
    told.memory = list(memory.messages())
    told.requests = model.requests
    told.heard = [type(event).__name__ for event in heard if not isinstance(event, Restarted)]
    return told
