"""A real HTTP server in a thread that answers from a script and remembers what it was asked."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import uvicorn
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send


@dataclass(frozen=True)
class Answer:
    """What the server says once. A dict is sent as JSON, a list as server-sent events (its dicts as JSON).

    A function makes the body of the JSON that was asked.
    `after` is the wait before the headers, `between` that before each event, in seconds. One that
    `breaks_off` ends its connection in the middle of the body.
    """

    body: Any = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    after: float = 0.0
    between: float = 0.0
    breaks_off: bool = False

    def response(self, script: Script) -> Response:
        headers = dict(self.headers)
        if isinstance(self.body, list):
            headers.setdefault("content-type", "text/event-stream")
            return StreamingResponse(self._events(script), self.status, headers)
        if isinstance(self.body, dict):
            headers.setdefault("content-type", "application/json")
        content = self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()
        if self.breaks_off:
            return StreamingResponse(
                self._half(content), self.status, headers | {"content-length": str(len(content))}
            )
        return Response(content, self.status, headers)

    async def _events(self, script: Script) -> AsyncIterator[bytes]:
        try:
            for event in self.body:
                await asyncio.sleep(self.between)
                yield event if isinstance(event, bytes) else b"data: %s\n\n" % json.dumps(event).encode()
            if self.breaks_off:
                raise ConnectionAbortedError
        finally:
            script.ended += 1

    async def _half(self, content: bytes) -> AsyncIterator[bytes]:
        yield content[: len(content) // 2]
        raise ConnectionAbortedError


@dataclass(frozen=True)
class Heard:
    """A request that came."""

    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    text: str
    peer: int

    @property
    def json(self) -> Any:
        return json.loads(self.text)


class Script:
    """One test's conversation with the server. The last answer is given again to all who still ask."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.url = f"{address}/v1"
        self.requests: list[Heard] = []
        self.ended = 0
        self.now = self.peak = 0
        self._answers: deque[Answer] = deque()

    def will_say(self, *answers: Any) -> Script:
        self._answers = deque(answer if isinstance(answer, Answer) else Answer(answer) for answer in answers)
        return self

    @property
    def heard(self) -> Any:
        """The JSON of the latest request."""
        return self.requests[-1].json

    @property
    def connections(self) -> int:
        return len({request.peer for request in self.requests})

    async def answer(self, request: Request) -> Response:
        text = (await request.body()).decode()
        peer = request.client.port if request.client else 0
        self.requests.append(Heard(request.url.path, request.query_params, dict(request.headers), text, peer))
        answer = self._answers.popleft() if len(self._answers) > 1 else self._answers[0]
        self.now += 1
        self.peak = max(self.peak, self.now)
        try:
            await asyncio.sleep(answer.after)
        finally:
            self.now -= 1
        if callable(answer.body):
            answer = replace(answer, body=answer.body(json.loads(text)))
        return answer.response(self)


class FakeServer:
    def __init__(self) -> None:
        self.address = ""
        self._scripts: dict[str, Script] = {}

    def script(self) -> Script:
        name = f"script{len(self._scripts)}"
        self._scripts[name] = Script(f"{self.address}/{name}")
        return self._scripts[name]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        response = await self._scripts[request.url.path.split("/")[1]].answer(request)
        await response(scope, receive, send)


@contextmanager
def running_server() -> Iterator[FakeServer]:
    app = FakeServer()
    options = {
        "lifespan": "off",
        "ws": "none",
        "loop": "asyncio",
        "http": "h11",
        "log_config": None,
        "log_level": "critical",
    }
    server = uvicorn.Server(uvicorn.Config(app, port=0, backlog=2048, timeout_keep_alive=60, **options))  # type: ignore[arg-type]
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    app.address = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    try:
        yield app
    finally:
        server.should_exit = server.force_exit = True
        thread.join(10)
