"""A local stand-in for an OpenAI-compatible server, in a process of its own.

It does as little as it can, so that what is measured is the client. The first part of the path chooses the
answer: `text`, `struct`, `tools10` (one tool call in each of ten turns), `par8` (eight calls in one turn). In
so many parts of a stream: `text2000`, `basket2000` (an object with a list of items) and `items2000` (the
list). A path ending in `-20ms` answers after 20 ms.
"""

from __future__ import annotations

import asyncio
import functools
import itertools
import json
import os
import re
import subprocess
import sys
from typing import Any

ORDER = {
    "order_id": "A-1001",
    "customer": "Ada Lovelace",
    "priority": "high",
    "total": 59.5,
    "items": [{"sku": f"SKU-{i}", "qty": i + 1, "price": 2.5 * (i + 1)} for i in range(3)],
}
USAGE = {
    "prompt_tokens": 20,
    "completion_tokens": 15,
    "total_tokens": 35,
    "prompt_tokens_details": {"cached_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 0},
}


def answer(content: str | None, calls: list[dict[str, Any]] | None = None) -> bytes:
    message = {"role": "assistant", "content": content, "refusal": None}
    if calls:
        message["tool_calls"] = calls
    reason = "tool_calls" if calls else "stop"
    body = json.dumps(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": "gpt-4o-2024-08-06",
            "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": reason}],
            "usage": USAGE,
            "service_tier": "default",
            "system_fingerprint": "fp_1",
        }
    ).encode()
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


def streamed(text: str, parts: int) -> bytes:
    """The text as a stream of so many parts."""
    edges = [len(text) * number // parts for number in range(parts + 1)]
    lines = [_event({"delta": {"role": "assistant", "content": ""}})]
    lines += [_event({"delta": {"content": text[a:b]}}) for a, b in itertools.pairwise(edges)]
    lines += [_event({"delta": {}, "finish_reason": "stop"}), _event(None), b"data: [DONE]\n\n"]
    body = b"".join(lines)
    head = f"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


def _event(choice: dict[str, Any] | None) -> bytes:
    chunk = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1_700_000_000,
        "model": "gpt-4o-2024-08-06",
        "system_fingerprint": "fp_1",
        "choices": [{"index": 0, "logprobs": None, "finish_reason": None, **choice}] if choice else [],
        "usage": None if choice else USAGE,
    }
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


@functools.cache
def stream(kind: str, parts: int) -> bytes:
    items = [{"sku": f"SKU-{i}", "qty": i + 1, "price": 2.5 * (i + 1)} for i in range(parts * 150 // 2000)]
    whole = {"text": "word " * parts, "basket": json.dumps({"items": items}), "items": json.dumps(items)}
    return streamed(whole[kind], parts)


def tool_call(number: int) -> dict[str, Any]:
    function = {"name": "look_up", "arguments": json.dumps({"city": f"City {number}"})}
    return {"id": f"call_{number}", "type": "function", "function": function}


TEXT = answer("The quick brown fox jumps over the lazy dog while the server answers.")
STRUCT = answer(json.dumps(ORDER))
ROUNDS = [answer(None, [tool_call(turn)]) for turn in range(10)]
EIGHT = answer(None, [tool_call(number) for number in range(8)])


def reply(scenario: str, body: bytes) -> bytes:
    turns = body.count(b'"role":"assistant"') + body.count(b'"role": "assistant"')
    if (long := re.fullmatch("(text|basket|items)([0-9]+)", scenario)) is not None:
        return stream(long[1], int(long[2]))
    match scenario.removesuffix("-20ms"):
        case "struct":
            return STRUCT
        case "tools10" if turns < len(ROUNDS):
            return ROUNDS[turns]
        case "par8" if not turns:
            return EIGHT
    return TEXT


class Connection(asyncio.Protocol):
    """One keep-alive connection: requests are answered in order."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.received = b""

    def data_received(self, data: bytes) -> None:
        self.received += data
        head, separator, rest = self.received.partition(b"\r\n\r\n")
        if not separator:
            return
        length = next(
            int(line.split(b":")[1])
            for line in head.split(b"\r\n")
            if line.lower().startswith(b"content-length:")
        )
        if len(rest) < length:
            return
        self.received = rest[length:]
        scenario = head.split(b" ", 2)[1].split(b"/")[1].decode()
        response = reply(scenario, rest[:length])
        if scenario.endswith("-20ms"):
            asyncio.get_running_loop().call_later(0.02, self.transport.write, response)
        else:
            self.transport.write(response)


async def serve() -> None:
    server = await asyncio.get_running_loop().create_server(Connection, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


class Server:
    """The server's process; `url(scenario)` is the base URL to give to a client."""

    def __enter__(self) -> Server:
        command = [sys.executable, "-m", "benchmarks.server"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()

    def url(self, scenario: str) -> str:
        return f"http://127.0.0.1:{self.port}/{scenario}/v1"


if __name__ == "__main__":
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, cores[-1:])  # the client gets the other ones
    asyncio.run(serve())
