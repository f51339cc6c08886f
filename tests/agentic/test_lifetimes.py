"""One system serves many runs at once and keeps nothing of them."""

from __future__ import annotations

import asyncio
import gc
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest

from aiservices.agentic import Agent, AgenticScope, agent, loop, parallel, sequence

from .styles import Log, edit, publish, write


def test_runs_at_once_know_nothing_of_each_other() -> None:
    """AGT-12"""
    story = sequence(write, loop(edit, max_iterations=2), publish)
    topics = [f"topic {number}" for number in range(20)]
    with ThreadPoolExecutor(8) as pool:
        stories = list(pool.map(lambda topic: story.invoke(topic=topic, style="s"), topics))
    assert stories == [f"published: a story about {topic}, s, s" for topic in topics]

    async def together() -> list[Any]:
        return await asyncio.gather(*(story.ainvoke(topic=topic, style="s") for topic in topics))

    assert asyncio.run(together()) == stories


class Marker:
    """Something in the scope of a run."""


async def abandon(made: Agent) -> None:
    events = made.astream()
    while (await anext(events)).agent != "a":
        pass
    await events.aclose()  # type: ignore[attr-defined]


@pytest.mark.parametrize("ends", [None, ZeroDivisionError, asyncio.CancelledError, "abandoned"])
def test_nothing_is_kept_of_a_run_that_is_over(log: Log, ends: Any) -> None:
    """AGT-32"""
    kept: list[weakref.ref[Marker]] = []

    def note(scope: AgenticScope) -> None:
        marker = Marker()
        scope.write("marker", marker)
        kept.append(weakref.ref(marker))

    async def ending() -> None:
        if isinstance(ends, type):
            raise ends

    made = sequence(parallel(log.agent("a"), log.agent("b")), agent(ending), before=note)

    async def many() -> None:
        for _ in range(20):
            with suppress(ZeroDivisionError, asyncio.CancelledError):
                await asyncio.create_task(abandon(made) if ends == "abandoned" else made.ainvoke())

    asyncio.run(many())
    gc.collect()
    assert len(kept) == 20
    assert [each for each in kept if each() is not None] == []
