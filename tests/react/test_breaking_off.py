"""Runs and streams that are broken off: what is kept of them, and that nothing is in the way afterwards."""

from __future__ import annotations

import asyncio
import gc
from contextvars import copy_context
from typing import Any

import pytest

from aiservices import InMemoryStore
from aiservices.react import AgentState, StopReason
from tests.react.asking import STYLES, agent, call, calls, short

both = pytest.mark.parametrize("style", STYLES)


class SlowNotes(InMemoryStore):
    """Takes its time for what it is told of calls, and says when it has begun."""

    def __init__(self) -> None:
        super().__init__()
        self.has_begun = asyncio.Event()

    async def aput(self, namespace: str, key: str, value: Any, **options: Any) -> int:
        if namespace == "aiservices.react.calls":
            self.has_begun.set()
            await asyncio.sleep(0.02)
        return await super().aput(namespace, key, value, **options)


@pytest.mark.anyio
async def test_a_call_that_has_ended_is_known_though_the_run_is_cancelled_at_that_moment() -> None:
    ran: list[str] = []

    async def look() -> str:
        ran.append("look")
        return "seen"

    async def wait() -> str:
        ran.append("wait")
        if len(ran) == 2:
            await asyncio.Event().wait()
        return "waited"

    store = SlowNotes()
    asked, _ = agent([call("look", "c1"), call("wait", "c2")], "ok", tools=[look, wait], checkpointer=store)
    running = asyncio.create_task(asked.ainvoke("go", "t"))
    await store.has_begun.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    state = await asked.aresume("t")
    assert short(state.messages)[2:] == ["R:seen", "R:waited", "A:ok"]
    assert ran == ["look", "wait", "wait"]


@both
def test_who_has_left_a_stream_may_use_its_thread_at_once(style: str, kept: dict[str, Any]) -> None:
    asked, _ = agent("one", "two", **kept)

    async def leave() -> AgentState:
        async for _ in asked.astream("a", "t"):
            break
        await anext(asked.astream("b", "t"))
        return await asked.ainvoke("c", "t")

    def leave_blocking() -> AgentState:
        for _ in asked.stream("a", "t"):
            break
        next(asked.stream("b", "t"))
        return asked.invoke("c", "t")

    state = leave_blocking() if style == "blocking" else asyncio.run(leave())
    assert short(state.messages) == ["U:a", "U:b", "U:c", "A:one"]


class SlowHeads(InMemoryStore):
    """Takes its time to write which checkpoint of a thread is the newest, if told so."""

    is_slow = False

    async def aput(self, namespace: str, key: str, value: Any, **options: Any) -> int:
        if self.is_slow and namespace == "aiservices.react.threads":
            await asyncio.sleep(10)
        return await super().aput(namespace, key, value, **options)


@both
@pytest.mark.parametrize("neighbour", ["t/u", "t/000001-0123456789ab"])
def test_a_released_thread_leaves_nothing_though_a_run_was_cancelled_as_it_was_kept(
    style: str, neighbour: str
) -> None:
    store = SlowHeads()
    asked, _ = agent("one", "two", "three", checkpointer=store)
    asked.invoke("a", "t")
    asked.invoke("b", neighbour)
    store.is_slow = True

    async def cancelled() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asked.ainvoke("c", "t"), 0.02)

    asyncio.run(cancelled())
    assert calls(style, asked, "release", "t") is True
    assert len(store.keys("aiservices.react.checkpoints")) == len(asked.history(neighbour)) == 2
    assert asked.state(neighbour).final_response == "two"


@pytest.mark.anyio
async def test_streams_that_were_left_leave_nothing_with_their_reader() -> None:
    """A task that serves for days would carry each of them in its context."""
    asked, _ = agent()
    for _ in range(5):
        await anext(asked.astream("a"))
        await asyncio.sleep(0.001)
    carried = {variable.name: value for variable, value in copy_context().items()}
    assert len(carried["aiservices_react_reading"]) <= 1


@pytest.mark.parametrize("read", [1, 2, 3])
def test_a_loop_that_ends_with_an_open_stream_closes_it_without_complaint(
    kept: dict[str, Any], read: int
) -> None:
    def add(a: int, b: int) -> int:
        return a + b

    complaints: list[Any] = []
    streams = []

    async def leave() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, told: complaints.append(told))
        streams.append(asked.astream("go", "t"))
        for _ in range(read):
            await anext(streams[-1])

    for _ in range(3):  # the order in which a loop closes what is open is by chance
        asked, _ = agent(call("add", a=1, b=2), "never", "again", tools=[add], **kept)
        asyncio.run(leave())
        assert complaints == []
        assert asked.invoke("once more", "t").stop_reason is StopReason.FINAL
        asked.release("t")


def test_a_stream_that_the_collector_finds_in_a_circle_ends_without_complaint() -> None:
    complaints: list[Any] = []
    asked, _ = agent("never", "one")

    async def drop() -> str | None:
        asyncio.get_running_loop().set_exception_handler(lambda _, told: complaints.append(told))
        circle: list[Any] = [asked.astream("go", "t")]
        circle.append(circle)
        await anext(circle[0])
        del circle
        gc.collect()
        return (await asked.ainvoke("again", "t")).final_response

    assert asyncio.run(drop()) == "never"
    gc.collect()
    assert complaints == []
