"""Streams as server-sent events, the form that a browser's `EventSource` reads."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any, Final

from ..events import EVENTS, Restarted
from ..messages import PartialText, PartialThinking, PartialToolCall, ResponseDone
from ..react import AgentState, NodeOutput
from ..streams import AsyncStream

_log: Final = logging.getLogger("aiservices")


def server_sent_events(stream: AsyncStream[Any] | AsyncIterator[Any]) -> AsyncGenerator[bytes, None]:
    """The encoded events of a stream, for a response of the type `text/event-stream`.

    Texts come as `data: {"text": ...}`, items and partial values as `data: {"value": ...}`. A handle also
    gives events named `thinking`, `tool`, `restarted` and, at the end, `done` with the whole value. So does a
    stream of an agent, beside `node` with the name of each node that is done; its `done` tells why the run
    stopped, too, and which calls wait for a decision. A call that fails ends with an event `failed` that
    names the kind of the error and holds nothing else of it: the error itself is logged. When the browser
    goes away the call is cancelled. Raises `TypeError` for a stream that blocks: it would stop all other
    requests.
    """
    given: object = stream
    if not isinstance(given, AsyncStream | AsyncIterator):
        kind = type(given).__name__
        raise TypeError(f"a {kind} is no asynchronous stream: give an AsyncIterator or an AsyncStream")
    return _encoding(stream)


async def _encoding(stream: AsyncStream[Any] | AsyncIterator[Any]) -> AsyncGenerator[bytes, None]:
    events = stream.events() if isinstance(stream, AsyncStream) else stream
    state: AgentState | None = None
    try:
        async for event in events:
            if isinstance(event, NodeOutput):
                state = event.state
            encoded = _encoded(event)
            if encoded is not None:
                yield encoded
        if isinstance(stream, AsyncStream):
            yield _event({"value": (await stream.result()).content}, name="done")
        else:
            yield _event({} if state is None else _end(state), name="done")
    except Exception as error:
        _log.warning("a stream that a browser reads has failed", exc_info=True)
        yield _event({"error": type(error).__name__}, name="failed")
    finally:
        close = stream.cancel if isinstance(stream, AsyncStream) else getattr(stream, "aclose", None)
        if close is not None:
            await close()


def _end(state: AgentState) -> dict[str, Any]:
    """What is told of a run when it is over, or waits."""
    told = {
        "value": state.final_response if state.value is None else state.value,
        "stop_reason": state.stop_reason,
    }
    if not state.pending:
        return told
    calls = [{"id": call.id, "tool": call.name, "arguments": call.arguments} for call in state.pending]
    return {**told, "pending": calls}


def _encoded(event: Any) -> bytes | None:
    match event:
        case NodeOutput(event=None, node=node):
            return _event({"node": node}, name="node")
        case NodeOutput(event=within):
            return _encoded(within)
        case str() if type(event) is str:  # an item may be of an enum of texts
            return _event({"text": event})
        case PartialText(text=text):
            return _event({"text": text})
        case PartialThinking(text=text):
            return _event({"text": text}, name="thinking")
        case PartialToolCall(name=str(name)):
            return _event({"tool": name}, name="tool")
        case Restarted():
            return _event({}, name="restarted")
        case PartialToolCall() | ResponseDone():
            return None
    if isinstance(event, EVENTS):
        return None  # what listeners hear is not for the browser
    return _event({"value": event})


def _event(data: dict[str, Any], *, name: str | None = None) -> bytes:
    from pydantic_core import to_jsonable_python

    head, value = f"event: {name}\n" if name else "", to_jsonable_python(data)
    try:
        return f"{head}data: {json.dumps(value, ensure_ascii=False)}\n\n".encode()
    except UnicodeEncodeError:  # a pair of surrogates that came in two pieces: the browser joins them again
        return f"{head}data: {json.dumps(value)}\n\n".encode()
