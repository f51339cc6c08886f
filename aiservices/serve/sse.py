"""Streams as server-sent events, the form that a browser's `EventSource` reads."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

from ..events import Restarted
from ..messages import PartialText, PartialThinking, PartialToolCall, ResponseDone
from ..streams import AsyncStream


async def server_sent_events(stream: AsyncStream[Any] | AsyncIterator[Any]) -> AsyncIterator[bytes]:
    """The encoded events of a stream, for a response of the type `text/event-stream`.

    Texts come as `data: {"text": ...}`, items and partial values as `data: {"value": ...}`. A handle also
    gives events named `thinking`, `tool`, `restarted` and, at the end, `done` with the whole value. A call
    that fails ends with an event `failed` that names the kind of the error and holds nothing else of it. When
    the browser goes away the call is cancelled.
    """
    events = stream.events() if isinstance(stream, AsyncStream) else stream
    try:
        async for event in events:
            encoded = _encoded(event)
            if encoded is not None:
                yield encoded
        if isinstance(stream, AsyncStream):
            yield _event({"value": (await stream.result()).content}, name="done")
        else:
            yield _event({}, name="done")
    except Exception as error:
        yield _event({"error": type(error).__name__}, name="failed")
    finally:
        await (stream.cancel() if isinstance(stream, AsyncStream) else stream.aclose())  # type: ignore[attr-defined]


def _encoded(event: Any) -> bytes | None:
    match event:
        case str():
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
    if type(event).__module__ == Restarted.__module__:
        return None  # what listeners hear is not for the browser
    return _event({"value": event})


def _event(data: dict[str, Any], *, name: str | None = None) -> bytes:
    from pydantic_core import to_jsonable_python

    text = json.dumps(to_jsonable_python(data), ensure_ascii=False)
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {text}\n\n".encode()
