"""Locks that are wanted while others are held."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from contextvars import copy_context

import pytest

from aiservices.driving import NestedLocks, WouldWaitForItselfError, run_in_worker

SECONDS = 5


@pytest.fixture
def locks() -> Iterator[NestedLocks]:
    locks = NestedLocks()
    yield locks
    assert not locks._holders
    assert not locks._waiting
    assert not locks._wanted


def test_what_is_held_is_not_waited_for_within(locks: NestedLocks) -> None:
    with locks.held("a"), locks.held("b"):
        for key in "ab":
            with pytest.raises(WouldWaitForItselfError, match=repr(key)), locks.held(key):
                pass
        with locks.held("c"):
            pass
    with locks.held("a"):
        pass


@pytest.mark.anyio
async def test_nor_in_tasks_that_it_has_started(locks: NestedLocks) -> None:
    async def wants(key: str) -> None:
        async with locks.aheld(key):
            pass

    async with locks.aheld("a"):
        await asyncio.gather(wants("b"), wants("c"))
        with pytest.raises(WouldWaitForItselfError):
            await asyncio.create_task(wants("a"))


def test_nor_in_threads(locks: NestedLocks) -> None:
    def wants() -> None:
        with locks.held("a"):
            pass

    with locks.held("a"), pytest.raises(WouldWaitForItselfError):
        run_in_worker(wants).result(SECONDS)
    run_in_worker(wants).result(SECONDS)


def test_two_who_want_what_the_other_holds_do_not_wait_for_ever(locks: NestedLocks) -> None:
    both = threading.Barrier(2)
    ended: list[str] = []

    def holds_and_wants(mine: str, other: str) -> None:
        with locks.held(mine):
            both.wait(SECONDS)
            try:
                with locks.held(other):
                    ended.append("held")
            except WouldWaitForItselfError:
                ended.append("refused")

    _together(lambda: holds_and_wants("a", "b"), lambda: holds_and_wants("b", "a"))
    assert sorted(ended) == ["held", "refused"]


def test_nor_do_many_in_a_ring_of_threads_within_threads(locks: NestedLocks) -> None:
    number = 6
    all_hold = threading.Barrier(number)
    ended: list[str] = []

    def wants(key: int) -> None:
        try:
            with locks.held(key):
                ended.append("held")
        except WouldWaitForItselfError:
            ended.append("refused")

    def holds(key: int) -> None:
        with locks.held(key):
            all_hold.wait(SECONDS)
            run_in_worker(lambda: wants((key + 1) % number)).result(SECONDS)

    _together(*(lambda key=key: holds(key) for key in range(number)))
    assert sorted(ended) == ["held"] * (number - 1) + ["refused"]


@pytest.mark.anyio
async def test_a_lock_that_is_only_busy_is_waited_for_also_within_another(locks: NestedLocks) -> None:
    order: list[str] = []

    async def holds(name: str, *keys: str) -> None:
        async with locks.aheld(keys[0]):
            await asyncio.sleep(0.01)
            if keys[1:]:
                await holds(name, *keys[1:])
            else:
                order.append(name)

    await asyncio.wait_for(
        asyncio.gather(holds("one", "b"), holds("two", "a", "b"), holds("3", "a")), SECONDS
    )
    assert sorted(order) == ["3", "one", "two"]


@pytest.mark.anyio
async def test_what_was_left_behind_may_wait_for_it_afterwards(locks: NestedLocks) -> None:
    over = asyncio.Event()

    async def later() -> str:
        await over.wait()
        async with locks.aheld("a"):
            return "held"

    async with locks.aheld("a"):
        task = asyncio.create_task(later())
    over.set()
    assert await asyncio.wait_for(task, SECONDS) == "held"


@pytest.mark.anyio
async def test_who_gives_up_waiting_is_forgotten(locks: NestedLocks) -> None:
    async def wants() -> None:
        async with locks.aheld("a"):
            pass

    held = asyncio.Event()

    async def holds() -> None:
        async with locks.aheld("a"):
            held.set()
            await asyncio.sleep(SECONDS)

    holder = asyncio.create_task(holds())
    await held.wait()
    waiter = asyncio.create_task(wants())
    await asyncio.sleep(0.01)
    for task in (waiter, holder):
        task.cancel()
    assert await asyncio.gather(waiter, holder, return_exceptions=True)
    async with locks.aheld("a"):
        pass


def test_a_child_process_inherits_no_holder(locks: NestedLocks) -> None:
    held, done = threading.Event(), threading.Event()

    def holds() -> None:
        with locks.held("a"):
            held.set()
            done.wait(SECONDS)

    def child() -> None:
        with locks.held("a"), locks.held("b"):
            pass

    thread = threading.Thread(target=holds)
    thread.start()
    held.wait(SECONDS)
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            child()
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(pid, 0)[1] == 0
    done.set()
    thread.join(SECONDS)


def test_it_may_be_given_back_in_another_context_or_by_the_collector(locks: NestedLocks) -> None:
    def stream() -> Iterator[int]:
        with locks.held("a"):
            yield 1

    reading = stream()
    copy_context().run(next, reading)
    del reading
    gc.collect()
    with ExitStack() as stack:
        stack.enter_context(locks.held("a"))


def _together(*functions: Callable[[], None]) -> None:
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
        assert not thread.is_alive(), "it waits for itself"
