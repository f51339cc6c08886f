"""Services inside of tools inside of services: no wait may stop what it waits for."""

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context, copy_context
from typing import Any

import pytest

from aiservices.driving import ASYNCHRONOUS, BLOCKING, Emit, iterate_async, run_in_background

DEPTH = 3


async def lowest() -> int:
    await asyncio.sleep(0.001)
    return 1


def ask(depth: int, via: Callable[[int], Any]) -> int:
    """What a blocking service does: call a tool, and two more side by side."""

    async def call() -> int:
        one = await BLOCKING.call(via, depth)
        return one + sum(await BLOCKING.gather([BLOCKING.call(via, depth) for _ in range(2)]))

    return BLOCKING.run(call())


async def aask(depth: int, via: Callable[[int], Any]) -> int:
    """What an asynchronous service does."""

    async def call() -> int:
        one = await ASYNCHRONOUS.call(via, depth)
        return one + sum(await ASYNCHRONOUS.gather([ASYNCHRONOUS.call(via, depth) for _ in range(2)]))

    return await ASYNCHRONOUS.run(call())


async def async_tool_blocking_service(depth: int) -> int:
    await asyncio.sleep(0)
    return ask(depth - 1, async_tool_blocking_service) if depth else await lowest()


def blocking_tool_blocking_service(depth: int) -> int:
    return ask(depth - 1, blocking_tool_blocking_service) if depth else run_in_background(lowest())


async def async_tool_async_service(depth: int) -> int:
    return await aask(depth - 1, async_tool_async_service) if depth else await lowest()


def blocking_tool_async_service(depth: int) -> int:
    if not depth:
        return run_in_background(lowest())
    return run_in_background(aask(depth - 1, blocking_tool_async_service))


async def everything_in_turn(depth: int) -> int:
    await asyncio.sleep(0)
    if not depth:
        return await lowest()
    return ask(depth - 1, blocking_in_turn) if depth % 2 else await aask(depth - 1, blocking_in_turn)


def blocking_in_turn(depth: int) -> int:
    return ask(depth - 1, everything_in_turn) if depth else run_in_background(lowest())


TOOLS: list[Callable[[int], int | Awaitable[int]]] = [
    async_tool_blocking_service,
    blocking_tool_blocking_service,
    async_tool_async_service,
    blocking_tool_async_service,
    everything_in_turn,
]


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.__name__)
class TestNestedCallsEndEverywhere:
    def test_from_a_plain_thread(self, tool: Callable[[int], Any]) -> None:
        assert ask(DEPTH - 1, tool) == 3**DEPTH

    def test_from_an_event_loop(self, tool: Callable[[int], Any]) -> None:
        assert asyncio.run(aask(DEPTH - 1, tool)) == 3**DEPTH

    def test_from_a_blocking_call_that_stops_an_event_loop(self, tool: Callable[[int], Any]) -> None:
        async def main() -> int:
            return ask(DEPTH - 1, tool)

        assert asyncio.run(main()) == 3**DEPTH

    def test_twenty_at_once(self, tool: Callable[[int], Any]) -> None:
        with ThreadPoolExecutor(20) as pool:
            assert list(pool.map(lambda _: ask(1, tool), range(20))) == [9] * 20


def test_loops_made_for_nested_calls_end_with_them() -> None:
    ask(DEPTH - 1, async_tool_blocking_service)
    loops = [thread for thread in threading.enumerate() if thread.name == "aiservices-loop"]
    assert len(loops) == 1


def test_a_context_that_outlives_a_nested_call_uses_the_shared_loop_again() -> None:
    contexts: list[Context] = []

    async def which() -> int:
        return threading.get_ident()

    async def inner() -> None:
        contexts.append(copy_context())

    async def tool() -> int:
        BLOCKING.run(BLOCKING.call(inner))
        return await which()

    shared = run_in_background(tool())
    assert contexts[0].run(run_in_background, which()) == shared


async def counting(log: list[str]) -> AsyncIterator[int]:
    """A model's stream: it belongs to the loop it was begun on, and to one task."""
    task = asyncio.current_task()
    try:
        async with asyncio.timeout(5):
            for i in range(3):
                await asyncio.sleep(0)
                assert asyncio.current_task() is task
                yield i
    finally:
        await asyncio.sleep(0)
        log.append("closed")


class TestABlockingStreamReadInsideAnAsynchronousFunction:
    def test_keeps_one_loop_from_its_beginning_to_its_end(self) -> None:
        log: list[str] = []

        async def emitting() -> None:
            items = BLOCKING.iterate(lambda: iterate_async(counting(log)), lambda: counting(log))
            try:
                async for item in items:
                    await Emit(item)
            finally:
                await items.aclose()

        async def tool() -> list[int]:
            return list(BLOCKING.events(emitting()))

        assert BLOCKING.run(BLOCKING.call(tool)) == [0, 1, 2]
        assert log == ["closed"]

    def test_also_when_it_is_an_asynchronous_iterator_itself(self) -> None:
        log: list[str] = []

        async def tool() -> list[int]:
            return list(iterate_async(counting(log)))

        assert run_in_background(tool()) == [0, 1, 2]
        assert log == ["closed"]

    def test_is_refused_where_it_was_begun_outside_and_would_wait_for_ever(self) -> None:
        log: list[str] = []
        stream = iterate_async(counting(log))
        assert next(stream) == 0

        async def tool() -> None:
            with pytest.raises(RuntimeError, match="would wait for its own event loop for ever"):
                next(stream)

        run_in_background(tool())
        run_in_background(asyncio.sleep(0.01))
        assert log == ["closed"]
