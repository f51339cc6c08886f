"""An agent as a node of a LangGraph graph: for graphs beyond this loop."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Protocol, cast

from ..errors import AgentError, MissingExtraError
from ..messages import (
    AiMessage,
    AudioContent,
    ChatMessage,
    Content,
    ImageContent,
    PdfContent,
    SystemMessage,
    TextContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    VideoContent,
)
from .state import AgentState

_MEDIA: Final[Mapping[str, Callable[..., Content]]] = {
    "image": ImageContent,
    "audio": AudioContent,
    "video": VideoContent,
}


class Invoked(Protocol):
    """What can run a turn."""

    name: str

    def invoke(self, text: list[ChatMessage], /) -> AgentState: ...
    async def ainvoke(self, text: list[ChatMessage], /) -> AgentState: ...
    def release(self, thread_id: str) -> bool: ...
    async def arelease(self, thread_id: str) -> bool: ...


def langgraph_node(executor: Invoked, key: str) -> Any:
    """The node, for both ways in which graphs run. Raises `MissingExtraError`."""
    try:
        from langchain_core.runnables import RunnableLambda
        from langgraph.graph import StateGraph as _  # noqa: F401 - what the node is for
    except ImportError as error:
        raise MissingExtraError("a LangGraph node", extra="langgraph") from error

    def node(state: Any) -> dict[str, Any]:
        said = messages_from_langchain(_of(state, key))
        given = executor.invoke(said)
        if given.pending:
            executor.release(given.thread_id)
        return {key: _added(given, said)}

    async def anode(state: Any) -> dict[str, Any]:
        said = messages_from_langchain(_of(state, key))
        given = await executor.ainvoke(said)
        if given.pending:
            await executor.arelease(given.thread_id)
        return {key: _added(given, said)}

    return RunnableLambda(node, afunc=anode, name=executor.name)


def messages_from_langchain(messages: Iterable[Any]) -> list[ChatMessage]:
    """LangChain's messages, and what it reads as such, as ours."""
    from langchain_core.messages import convert_to_messages

    return [_ours(message) for message in convert_to_messages(messages)]


def messages_to_langchain(messages: Iterable[ChatMessage]) -> list[Any]:
    """Our messages as LangChain's; texts, tool calls and results."""
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
    from langchain_core.messages import SystemMessage as TheirSystem

    given: list[Any] = []
    for message in messages:
        match message:
            case UserMessage():
                given.append(HumanMessage(message.text, name=message.name))
            case AiMessage():
                calls, odd = _their_calls(message.tool_calls)
                given.append(AIMessage(message.text or "", tool_calls=calls, invalid_tool_calls=odd))
            case ToolResultMessage():
                status = "error" if message.is_error else "success"
                given.append(
                    ToolMessage(
                        message.text,
                        tool_call_id=message.tool_call_id,
                        name=message.tool_name,
                        status=status,
                    )
                )
            case SystemMessage():
                given.append(TheirSystem(message.text))
            case _:
                continue
    return given


def _their_calls(calls: Iterable[ToolCall]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The calls, and those whose arguments are no mapping, which are texts there."""
    good, odd = [], []
    for call in calls:
        try:
            arguments = json.loads(call.arguments or "{}")
        except ValueError:
            arguments = None
        if isinstance(arguments, dict):
            good.append({"id": call.id, "name": call.name, "args": arguments})
        else:
            odd.append({"id": call.id, "name": call.name, "args": call.arguments, "error": None})
    return good, odd


def _ours(message: Any) -> ChatMessage:
    text = message.text if isinstance(message.text, str) else message.text()
    match message.type:
        case "human":
            return UserMessage([_content(block) for block in message.content_blocks], message.name)
        case "ai":
            calls = [
                ToolCall(call["id"] or "", call["name"], json.dumps(call["args"], ensure_ascii=False))
                for call in message.tool_calls
            ]
            odd = [
                ToolCall(call["id"] or "", call["name"] or "", call["args"] or "")
                for call in message.invalid_tool_calls
            ]
            return AiMessage(text or None, [*calls, *odd])
        case "tool":
            return ToolResultMessage(
                message.tool_call_id, message.name or "", text, message.status == "error"
            )
        case "system":
            return SystemMessage(text)
        case kind:
            raise AgentError(f"a LangChain message of the type {kind!r} cannot be read by an agent")


def _content(block: Mapping[str, Any]) -> Content:
    kind, media_type = block["type"], block.get("mime_type")
    if kind == "text":
        return TextContent(block["text"])
    is_pdf = (kind, media_type) == ("file", "application/pdf")
    media: Callable[..., Content] | None = PdfContent if is_pdf else _MEDIA.get(kind)
    if media is not None and "url" in block:
        return media(url=block["url"], media_type=media_type)
    if media is not None and "base64" in block:
        return media(data=b64decode(block["base64"]), media_type=media_type)
    raise AgentError(f"a LangChain content of the type {kind!r} cannot be read by an agent")


def _of(state: Any, key: str) -> Iterable[Any]:
    """The conversation in the state of a graph. Raises `AgentError` where there is none under that name."""
    found: Any = state.get(key) if isinstance(state, Mapping) else getattr(state, key, None)
    if found is None:
        raise AgentError(
            f"the state of the graph has no {key!r}: say where the conversation is, as in "
            "as_langgraph_node(messages_key=...)"
        )
    return cast("Iterable[Any]", found)


def _added(state: AgentState, said: list[ChatMessage]) -> list[Any]:
    if state.pending:
        waits = ", ".join(call.name for call in state.pending)
        raise AgentError(
            f"the agent in the graph waits for somebody to approve {waits}, which a node cannot: give it no "
            "approvals, and interrupt the graph instead"
        )
    known = {id(message) for message in said}  # hooks may have left out some of what was said
    return messages_to_langchain(message for message in state.messages if id(message) not in known)
