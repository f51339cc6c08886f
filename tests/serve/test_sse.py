"""Streams as server-sent events, read by a client over a real connection."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from datetime import date
from enum import StrEnum
from http.client import HTTPConnection
from typing import Any

import pytest
import uvicorn
from pydantic import BaseModel
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

import aiservices
from aiservices import (
    AiMessage,
    AsyncStream,
    ChatModel,
    ChatRequest,
    PartialText,
    ResponseDone,
    ServerError,
    ToolCall,
    output_guardrails,
    tool,
)
from aiservices.messages import ChatResponse
from aiservices.react import Approve, react
from aiservices.serve import server_sent_events
from aiservices.testing import Pieces, ScriptedChatModel
from guardrails import Reprompt
from tests.streams.models import Watched
from tests.streams.styles import streaming


class Mood(StrEnum):
    GOOD = "good"


class Person(BaseModel):
    name: str
    born: date
    mood: Mood


ADA = '{"name": "Ada", "born": "1815-12-10", "mood": "good"}'
Sent = tuple[str, dict[str, Any]]


def stream_of(kind: Any, *replies: Any, **options: Any) -> Any:
    model = replies[0] if isinstance(replies[0], ChatModel) else ScriptedChatModel(*replies)
    return aiservices.create(streaming(kind), chat_model=model, **options).ask("hi")


def parsed(body: bytes) -> list[Sent]:
    """The events, as the standard says to read them."""
    found = []
    for block in body.decode().split("\n\n")[:-1]:
        fields = dict(line.split(": ", 1) for line in block.split("\n"))
        found.append((fields.get("event", "message"), json.loads(fields["data"])))
    return found


def sent(stream: Any) -> list[Sent]:
    async def reading() -> bytes:
        return b"".join([piece async for piece in server_sent_events(stream)])

    return parsed(asyncio.run(reading()))


def test_texts_are_sent_piece_by_piece_and_the_end_is_told() -> None:
    assert sent(stream_of(AsyncIterator[str], Pieces("a\n\nb", "ü"))) == [
        ("message", {"text": "a\n\nb"}),
        ("message", {"text": "ü"}),
        ("done", {}),
    ]


def test_items_are_sent_as_json() -> None:
    person = {"name": "Ada", "born": "1815-12-10", "mood": "good"}
    assert sent(stream_of(AsyncIterator[Person], f"[{ADA}]")) == [
        ("message", {"value": person}),
        ("done", {}),
    ]
    assert sent(stream_of(AsyncIterator[Mood], '["good"]')) == [("message", {"value": "good"}), ("done", {})]


def test_a_handle_is_sent_with_its_thoughts_tools_and_value() -> None:
    @tool
    def now() -> str:
        """The time."""
        return "12:00"

    asks = AiMessage(thinking="hm", tool_calls=(ToolCall("c1", "now", "{}"),))
    assert sent(stream_of(AsyncStream[str], asks, Pieces("12", ":00"), tools=[now])) == [
        ("thinking", {"text": "hm"}),
        ("tool", {"tool": "now"}),
        ("message", {"text": "12"}),
        ("message", {"text": ":00"}),
        ("done", {"value": "12:00"}),
    ]


def test_an_agent_is_sent_with_its_nodes_and_with_how_its_run_ended() -> None:
    def pay(amount: int) -> str:
        return f"paid {amount}"

    wanted = AiMessage(tool_calls=(ToolCall("c1", "pay", '{"amount": 5}'),))
    model = ScriptedChatModel(wanted, Pieces("All ", "done."))
    agent = react(chat_model=model, tools=[pay], approvals={"pay": True})
    assert sent(agent.astream("hi", "t", tokens=True)) == [
        ("node", {"node": "start"}),
        ("tool", {"tool": "pay"}),
        ("node", {"node": "agent"}),
        (
            "done",
            {
                "value": None,
                "stop_reason": "interrupted",
                "pending": [{"id": "c1", "tool": "pay", "arguments": '{"amount": 5}'}],
            },
        ),
    ]
    assert sent(agent.aresume_stream("t", Approve(), tokens=True)) == [
        ("node", {"node": "agent"}),
        ("node", {"node": "action"}),
        ("message", {"text": "All "}),
        ("message", {"text": "done."}),
        ("node", {"node": "agent"}),
        ("node", {"node": "end"}),
        ("done", {"value": "All done.", "stop_reason": "final"}),
    ]


def test_partial_values_are_sent_as_they_grow() -> None:
    async def reading() -> bytes:
        stream = stream_of(AsyncStream[Person], Pieces(ADA[:11], ADA[11:]))
        return b"".join([piece async for piece in server_sent_events(stream.partials())])

    events = parsed(asyncio.run(reading()))
    assert events[0] == ("message", {"value": {"name": "A", "born": None, "mood": None}})
    assert events[-2] == ("message", {"value": {"name": "Ada", "born": "1815-12-10", "mood": "good"}})
    assert events[-1] == ("done", {})


def test_a_void_answer_is_told() -> None:
    names = [name for name, _ in sent(stream_of(AsyncStream[int], "many", "7"))]
    assert names == ["message", "restarted", "message", "done"]


def test_half_of_a_character_does_no_harm() -> None:
    (first, second, _) = sent(stream_of(AsyncIterator[str], Pieces("\ud83d", "\ude00")))
    assert (first, second) == (("message", {"text": "\ud83d"}), ("message", {"text": "\ude00"}))


@pytest.mark.parametrize("kind", [AsyncIterator[str], AsyncStream[str], AsyncIterator[int]])
def test_a_failure_is_told_without_its_details(kind: Any, caplog: pytest.LogCaptureFixture) -> None:
    (*_, last) = sent(stream_of(kind, Watched("a", ServerError("the key sk-123 is wrong"))))
    assert last == ("failed", {"error": "ServerError"})
    assert "sk-123" in caplog.text


def test_a_rejected_answer_is_never_sent() -> None:
    protocol: Any = output_guardrails(lambda request: Reprompt("no", "again"))(streaming(AsyncStream[str]))
    service = aiservices.create(protocol, chat_model=ScriptedChatModel("secret", "secret"))
    assert sent(service.ask("x")) == [("failed", {"error": "OutputGuardrailError"})]


def test_a_stream_that_blocks_is_refused() -> None:
    with pytest.raises(TypeError, match="no asynchronous stream"):
        server_sent_events(stream_of(Iterator[str], "x"))


def test_an_iterator_of_the_users_own_is_sent_too() -> None:
    class Own:
        def __init__(self) -> None:
            self.left = ["b", "a"]

        def __aiter__(self) -> Own:
            return self

        async def __anext__(self) -> str:
            if not self.left:
                raise StopAsyncIteration
            return self.left.pop()

    assert sent(Own()) == [("message", {"text": "a"}), ("message", {"text": "b"}), ("done", {})]


class Endless(ChatModel):
    """Speaks until nobody listens."""

    def __init__(self) -> None:
        self.ended = threading.Event()

    async def astream(self, request: ChatRequest) -> AsyncIterator[Any]:
        try:
            while True:
                yield PartialText("word ")
                await asyncio.sleep(0.005)
        finally:
            self.ended.set()
        yield ResponseDone(ChatResponse(AiMessage("")))


@contextmanager
def serving(make: Callable[[], Any]) -> Iterator[int]:
    async def answer(request: Request) -> StreamingResponse:
        return StreamingResponse(server_sent_events(make()), media_type="text/event-stream")

    application = Starlette(routes=[Route("/", answer)])
    server = uvicorn.Server(uvicorn.Config(application, port=0, log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        thread.join(0.01)
    try:
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()


@pytest.mark.parametrize("kind", [AsyncIterator[str], AsyncStream[str]])
def test_the_call_ends_when_the_browser_goes_away(kind: Any) -> None:
    model = Endless()
    memory = aiservices.MessageWindowChatMemory(10)
    heard: list[Any] = []

    def make() -> Any:
        return stream_of(kind, model, chat_memory=memory, listeners=[heard.append])

    with serving(make) as port:
        client = HTTPConnection("127.0.0.1", port, timeout=5)
        client.request("GET", "/")
        response = client.getresponse()
        assert response.headers["content-type"].startswith("text/event-stream")
        assert response.read(20).startswith(b'data: {"text": "word')
        response.close()
        client.close()
        assert model.ended.wait(5)
    assert type(heard[-1]) is aiservices.CallFailed
    assert list(memory.messages()) == []
