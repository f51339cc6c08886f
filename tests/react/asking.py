"""Agents, and asking them in both ways."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from aiservices import AiMessage, ChatMessage, ToolCall, ToolResultMessage, UserMessage
from aiservices.react import AgentExecutor, NodeOutput, react
from aiservices.testing import ScriptedChatModel

STYLES = ("blocking", "asynchronous")


def agent(*replies: Any, **options: Any) -> tuple[AgentExecutor, ScriptedChatModel]:
    """An agent with a scripted model, and the model."""
    model = ScriptedChatModel(*replies)
    return react(chat_model=model, **options), model


def calls(style: str, owner: Any, method: str, *arguments: Any, **options: Any) -> Any:
    """Call a method, or await its twin on an event loop."""
    if style == "blocking":
        return getattr(owner, method)(*arguments, **options)
    return asyncio.run(_awaited(getattr(owner, f"a{method}"), arguments, options))


async def _awaited(method: Any, arguments: Any, options: Any) -> Any:
    return await method(*arguments, **options)


def cancelled_when(entered: asyncio.Event, asked: AgentExecutor, *arguments: Any) -> None:
    """Invoke an agent, and cancel the run when the event is set."""

    async def run() -> None:
        task = asyncio.create_task(asked.ainvoke(*arguments))
        await entered.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())


def outputs(style: str, owner: Any, *arguments: Any, **options: Any) -> list[NodeOutput]:
    """Everything that a stream gives; with `method="resume_stream"`, that of a run which goes on."""
    method = options.pop("method", "stream")
    if style == "blocking":
        return list(getattr(owner, method)(*arguments, **options))

    async def read() -> list[NodeOutput]:
        return [output async for output in getattr(owner, f"a{method}")(*arguments, **options)]

    return asyncio.run(read())


def call(tool: str, id: str = "c1", /, **arguments: Any) -> ToolCall:
    return ToolCall(id, tool, json.dumps(arguments))


def short(messages: Any) -> list[str]:
    """The messages in few letters: who speaks, and what is said."""
    return [_short(message) for message in messages]


def _short(message: ChatMessage) -> str:
    match message:
        case UserMessage():
            return f"U:{message.text}"
        case AiMessage(tool_calls=asked) if asked:
            return "A?" + ",".join(item.id for item in asked)
        case AiMessage():
            return f"A:{message.text}"
        case ToolResultMessage():
            return f"{'E' if message.is_error else 'R'}:{message.text}"
        case _:
            return type(message).__name__


def assert_paired(messages: Any) -> None:
    """Every call has exactly one result right behind it, in the order of the calls."""
    waiting: list[str] = []
    for message in messages:
        if isinstance(message, ToolResultMessage):
            assert waiting, "a result without a call"
            assert waiting.pop(0) == message.tool_call_id
        else:
            assert not waiting, f"no results for {waiting}"
        if isinstance(message, AiMessage):
            waiting = [item.id for item in message.tool_calls]
    assert not waiting, f"no results for {waiting}"
