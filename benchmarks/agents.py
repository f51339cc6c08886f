"""Agents: the loop's own share for each sub-agent, and how long agents side by side take."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from aiservices.agentic import agent, parallel, sequence

from .measuring import block

AGENTS = 100


def add(x: int) -> int:
    return x + 1


async def add_later(x: int) -> int:
    return x + 1


def sleep() -> None:
    time.sleep(0.05)


async def sleep_later() -> None:
    await asyncio.sleep(0.05)


async def agents() -> dict[str, float]:
    """Microseconds of CPU for each sub-agent without a store; milliseconds for eight that take 50 each."""
    one, many = (sequence(*[agent(output_key="x")(add)] * number) for number in (1, AGENTS))
    later_one, later_many = (sequence(*[agent(output_key="x")(add_later)] * number) for number in (1, AGENTS))
    eight, later_eight = parallel(*[sleep] * 8), parallel(*[sleep_later] * 8)
    return {
        "blocking_us": await _share(lambda: one.invoke(x=1), lambda: many.invoke(x=1)),
        "async_us": await _share(lambda: later_one.ainvoke(x=1), lambda: later_many.ainvoke(x=1)),
        "eight_blocking_ms": min([await _wall(eight.invoke) for _ in range(5)]),
        "eight_async_ms": min([await _wall(later_eight.ainvoke) for _ in range(5)]),
    }


async def _share(one: Callable[[], Any], many: Callable[[], Any]) -> float:
    few = min([await block(one, 500) for _ in range(5)])
    return (min([await block(many, 50) for _ in range(5)]) - few) / (AGENTS - 1)


async def _wall(call: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    result = call()
    if result is not None:
        await result
    return (time.perf_counter() - begin) * 1e3
