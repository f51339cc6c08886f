"""Run the measurements, print them as ratios and write them as JSON.

python -m benchmarks [--rounds 11] [--calls 10000] [--out FILE] [PART ...]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Protocol

import aiservices
from aiservices import AiMessage, ChatModel, ChatRequest, ChatResponse, tool, user_message

from .agents import agents
from .measuring import block, compare, function_calls, imports, resident, together
from .remembering import memory
from .server import Server
from .streaming import streams
from .subjects import Order, Raw, look_up, service, slow_blocking_look_up, slow_look_up


class Canned(ChatModel):
    """Answers at once, so that only the framework's own share remains."""

    response = ChatResponse(AiMessage("The quick brown fox."))

    def chat(self, request: ChatRequest) -> ChatResponse:
        return self.response

    async def achat(self, request: ChatRequest) -> ChatResponse:
        return self.response


class Chat(Protocol):
    def chat(self, text: str) -> str: ...

    async def achat(self, text: str) -> str: ...


async def import_(server: Server, args: Any) -> dict[str, Any]:
    rows = {
        "pydantic": imports("import pydantic"),
        "aiservices": imports("import pydantic, aiservices; aiservices.create"),
        "openai": imports("import pydantic; from openai import OpenAI, AsyncOpenAI"),
    }
    beyond = {name: row["cpu_ms"] - rows["pydantic"]["cpu_ms"] for name, row in rows.items()}
    return {**rows, "beyond_pydantic_ms": beyond, "ratio": beyond["aiservices"] / beyond["openai"]}


async def calls(server: Server, args: Any) -> dict[str, Any]:
    rows = {}
    for scenario, names in (("text", ("text", "atext")), ("struct", ("order", "aorder"))):
        raw, ours = Raw(server, scenario), service(server, scenario)
        for name in names:
            rows[name] = await compare(getattr(raw, name), getattr(ours, name), args.rounds)
            rows[name]["raw_function_calls"] = await function_calls(getattr(raw, name))
            rows[name]["our_function_calls"] = await function_calls(getattr(ours, name))
    return rows


async def own_share(server: Server, args: Any) -> dict[str, Any]:
    chat = aiservices.create(Chat, chat_model=Canned())
    blocking = [await block(lambda: chat.chat("hello"), 2000) for _ in range(5)]
    asynchronous = [await block(lambda: chat.achat("hello"), 2000) for _ in range(5)]
    return {"chat_us": min(blocking), "achat_us": min(asynchronous)}


async def concurrent(server: Server, args: Any) -> dict[str, Any]:
    raw, ours = Raw(server, "struct-20ms"), service(server, "struct-20ms")
    rows: dict[str, list[tuple[float, float]]] = {"raw": [], "raw_64": [], "ours": []}
    jobs: dict[str, Callable[[], Awaitable[tuple[float, float]]]] = {
        "raw": lambda: together(raw.aorder, 500),
        "raw_64": lambda: together(raw.aorder, 500, 64),
        "ours": lambda: together(ours.aorder, 500),
    }
    for number in range(max(3, args.rounds // 2)):
        for name in list(jobs)[:: 1 if number % 2 else -1]:
            rows[name].append(await jobs[name]())
    middle = {
        name: tuple(statistics.median(values) for values in zip(*row, strict=True))
        for name, row in rows.items()
    }
    return {
        **{name: {"calls_per_s": m[0], "cpu_ms": m[1]} for name, m in middle.items()},
        "cpu_ratio_bounded": middle["ours"][1] / middle["raw_64"][1],
        "cpu_ratio_unbounded": middle["ours"][1] / middle["raw"][1],
        "throughput_ratio": middle["ours"][0] / middle["raw"][0],
    }


async def tools(server: Server, args: Any) -> dict[str, Any]:
    raw, ours = Raw(server, "tools10"), service(server, "tools10", tools=[look_up])
    rows: dict[str, Any] = {"ten_rounds": await compare(raw.rounds, ours.text, max(5, args.rounds // 2))}
    for name, function in (("async", slow_look_up), ("blocking", slow_blocking_look_up)):
        eight = service(server, "par8", tools=[tool(name="look_up")(function)])
        for style, call in (("blocking_call", eight.text), ("async_call", eight.atext)):
            rows[f"eight_{name}_tools_{style}_ms"] = await _fastest(call)
    return rows


async def _fastest(call: Callable[[], Any]) -> float:
    walls = []
    for _ in range(7):
        begin = time.perf_counter()
        result = call()
        if not isinstance(result, str):
            await result
        walls.append((time.perf_counter() - begin) * 1e3)
    return statistics.median(walls[2:])


async def creating(server: Server, args: Any) -> dict[str, Any]:
    walls = []
    for number in range(100):
        methods = {f"m{i}": _method(f"Extract {number} {i}: {{{{ text }}}}", f"m{i}") for i in range(10)}
        protocol: Any = type(Protocol)(f"Service{number}", (Protocol,), {"__module__": __name__, **methods})
        begin = time.process_time()
        aiservices.create(protocol, chat_model=Canned())
        walls.append((time.process_time() - begin) * 1e3)
    return {"ten_methods_ms": statistics.median(walls), "first_ms": walls[0]}


def _method(template: str, name: str) -> Any:
    def method(self: Any, text: str) -> Order: ...

    method.__name__ = name
    return user_message(template)(method)


async def growth(server: Server, args: Any) -> dict[str, Any]:
    ours = service(server, "struct")
    await block(ours.order, 1000)
    begin = resident()
    await block(ours.order, args.calls // 2)
    middle = resident()
    await block(ours.order, args.calls // 2)
    return {"calls": args.calls, "first_half_mb": middle - begin, "second_half_mb": resident() - middle}


async def memory_(server: Server, args: Any) -> dict[str, Any]:
    return await memory(Canned())


async def agents_(server: Server, args: Any) -> dict[str, Any]:
    return dict(await agents())


PARTS = {
    "import": import_,
    "calls": calls,
    "own_share": own_share,
    "concurrent": concurrent,
    "tools": tools,
    "streams": streams,
    "creating": creating,
    "growth": growth,
    "memory": memory_,
    "agents": agents_,
}


async def run(args: Any) -> dict[str, Any]:
    found = {}
    with Server() as server:
        for name in args.parts or PARTS:
            found[name] = await PARTS[name](server, args)
            print(f"\n{name}")
            _show(found[name], "  ")
    return found


def _show(row: dict[str, Any], indent: str) -> None:
    for name, value in row.items():
        if isinstance(value, dict):
            print(f"{indent}{name}: " + ", ".join(f"{key} {item:,.2f}" for key, item in value.items()))
        else:
            print(f"{indent}{name}: {value:,.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--calls", type=int, default=10_000, help="calls of the growth part")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results.json"))
    args = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, cores[:1])  # the server has the last one
    found = asyncio.run(run(args))
    args.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
