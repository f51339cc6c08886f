"""The process that the crash tests kill: `python -m tests.agentic.crashing`.

Reads tasks as lines of JSON and forks a child for each, which has imported everything already. The child
dies by SIGKILL right before the step whose number the task names: each write to the store, and the begin and
the end of each agent. What is answered is how it ended.
"""

from __future__ import annotations

import asyncio
import os
import signal
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Any

from aiservices.agentic import (
    Action,
    Agent,
    Completed,
    Planner,
    PlanningContext,
    agent,
    call,
    conditional,
    done,
    loop,
    noop,
    parallel,
    parallel_map,
    planned,
    sequence,
)
from aiservices.stores import SqlStore
from tests.mortals import serve

from .wayfinding import wayfinders

_steps = count()
_stepping = Lock()
_deadly = -1


def step() -> None:
    """Die here if this is the step to die at."""
    with _stepping:
        if next(_steps) == _deadly:
            os.kill(os.getpid(), signal.SIGKILL)


class SteppingStore(SqlStore):
    """A store each of whose writes is preceded by a step."""

    def put(self, namespace: str, key: str, value: Any, **options: Any) -> int:
        step()
        return super().put(namespace, key, value, **options)

    async def aput(self, namespace: str, key: str, value: Any, **options: Any) -> int:
        step()
        return await super().aput(namespace, key, value, **options)


class Journal:
    """Notes in a file, which survives, which agent has ended."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def note(self, name: str) -> None:
        file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(file, f"{name}\n".encode())
        os.close(file)

    @property
    def notes(self) -> list[str]:
        return self.path.read_text().splitlines() if self.path.exists() else []


class Pairs(Planner):
    """Two at a time, and the next two when both have ended: it has to hear of each exactly once."""

    def __init__(self) -> None:
        self.next = self.running = 0

    def next_action(self, context: PlanningContext) -> Action:
        if context.previous is not None:
            self.running -= 1
        if self.running:
            return noop()
        chosen = context.agents[self.next : self.next + 2]
        self.next += 2
        self.running = len(chosen)
        return call(*chosen) if chosen else done(context.scope.read("sum"))

    def execution_state(self) -> Any:
        return [self.next, self.running]

    def restore(self, state: Any) -> None:
        self.next, self.running = state


def system(kind: str, journal: Journal, store: Any) -> Agent:
    """A system of agents, each of which notes when it has ended."""

    def noting(name: str, value: int) -> int:
        step()
        journal.note(name)
        step()
        return value

    @agent(output_key="a")
    def a(x: int) -> int:
        return noting("a", x + 1)

    @agent(output_key="b")
    async def b(x: int) -> int:
        return noting("b", x * 10)

    @agent(output_key="n")
    def more(n: int = 0) -> int:
        return noting(f"more{n}", n + 1)

    @agent(output_key="sum")
    def join(a: int, b: int) -> int:
        return noting("join", a + b)

    @agent(output_key="square")
    def square(item: int) -> int:
        return noting(f"square{item}", item * item)

    @agent
    def half(square: int, item: int) -> int:
        return noting(f"half{item}", square // 2)

    @agent(output_key="late", background=True)
    def late(x: int) -> int:
        return noting("late", x - 1)

    @agent
    def last(a: int, late: int) -> int:
        return noting("last", a - late)

    made: dict[str, Any] = {
        "sequence": lambda: sequence(a, sequence(b, join, name="inner"), store=store),
        "parallel": lambda: sequence(parallel(a, b), join, store=store),
        "parallel_map": lambda: parallel_map(sequence(square, half, name="each"), items="items", store=store),
        "loop": lambda: loop(
            more, a, max_iterations=3, until=lambda scope: scope.read("n") == 2, store=store
        ),
        "conditional": lambda: sequence(
            conditional((lambda scope: scope.read("x") > 0, parallel(a, b)), otherwise=parallel(a, b)),
            join,
            store=store,
        ),
        "planned": lambda: planned(Pairs, a, b, more, join, store=store),
        "background": lambda: sequence(late, a, last, store=store),
    }
    made |= wayfinders(noting, step, store)
    built: Agent = made[kind]()
    return built


INPUTS = {"x": 4, "items": [1, 2], "request": "add it all up"}


def work(*, url: str, kind: str, journal: str, style: str, id: str, deadly: int) -> None:
    global _deadly  # noqa: PLW0603 - this process lives for one task
    _deadly = deadly
    with SteppingStore(url) as store:
        made = system(kind, Journal(Path(journal)), store)
        if style == "blocking":
            outcome = made.run(memory_id=id, **INPUTS)
        else:

            async def run() -> Any:
                async with store:
                    return await made.arun(memory_id=id, **INPUTS)

            outcome = asyncio.run(run())
        assert isinstance(outcome, Completed), outcome


if __name__ == "__main__":
    serve(work)
