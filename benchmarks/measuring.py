"""How things are measured: in blocks that alternate, by the CPU time of this process."""

from __future__ import annotations

import asyncio
import cProfile
import gc
import inspect
import pstats
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

BLOCK_SECONDS = 0.25


async def block(function: Callable[[], Any], calls: int) -> float:
    """CPU microseconds of a call, over so many calls one after another."""
    gc.collect()
    begin = time.process_time()
    for _ in range(calls):
        result = function()
        if inspect.isawaitable(result):
            await result
    return (time.process_time() - begin) / calls * 1e6


async def compare(raw: Callable[[], Any], ours: Callable[[], Any], rounds: int) -> dict[str, float]:
    """Medians of both, and of the ratios of neighbouring blocks; the order flips every round."""
    sizes = {}
    for function in (raw, ours):
        await block(function, 3)
        sizes[function] = max(3, int(BLOCK_SECONDS * 1e6 / max(await block(function, 5), 1)))
    rows = []
    for number in range(rounds):
        pair = (raw, ours) if number % 2 else (ours, raw)
        measured = {function: await block(function, sizes[function]) for function in pair}
        rows.append((measured[raw], measured[ours]))
    return {
        "raw_us": statistics.median(row[0] for row in rows),
        "ours_us": statistics.median(row[1] for row in rows),
        "ratio": statistics.median(row[1] / row[0] for row in rows),
    }


async def together(
    function: Callable[[], Any], number: int, at_once: int | None = None
) -> tuple[float, float]:
    """Calls per second and CPU milliseconds per call, of so many calls started at once."""
    places = asyncio.Semaphore(at_once or number)

    async def one() -> None:
        async with places:
            await function()

    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(one() for _ in range(number)))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return number / wall, cpu / number * 1e3


async def function_calls(function: Callable[[], Any], calls: int = 20) -> int:
    """Python and C function calls of one call: a count that no neighbour on the machine disturbs."""
    await block(function, 3)
    profile = cProfile.Profile()
    profile.enable()
    await block(function, calls)
    profile.disable()
    return round(pstats.Stats(profile).total_calls / calls)  # type: ignore[attr-defined]


def imports(statement: str, runs: int = 7) -> dict[str, float]:
    """CPU milliseconds and resident megabytes of a fresh interpreter after a statement, least of the runs."""
    script = (
        "import time; begin = time.process_time()\n"
        f"{statement}\n"
        "cpu = (time.process_time() - begin) * 1e3\n"
        "pages = int(open('/proc/self/statm').read().split()[1])\n"
        "print(cpu, pages * 4096 / 1e6)"
    )
    command = [sys.executable, "-c", script]
    rows = [
        tuple(map(float, subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()))
        for _ in range(runs)
    ]
    return {"cpu_ms": min(row[0] for row in rows), "rss_mb": min(row[1] for row in rows)}


def resident() -> float:
    """Resident megabytes of this process, exactly."""
    gc.collect()
    with Path("/proc/self/smaps_rollup").open(encoding="ascii") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("Rss:")) / 1024
