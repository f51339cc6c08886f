"""Jobs side by side: their order, their limit, their errors, and their end before anything goes on."""

import asyncio
import threading
import time
from collections.abc import Coroutine
from contextvars import ContextVar
from typing import Any

import pytest

from aiservices.driving import ASYNCHRONOUS, BLOCKING, Emit

from .conftest import Drive, interrupt

tenant: ContextVar[str] = ContextVar("tenant", default="?")


async def after(drive: Drive, seconds: float, value: object) -> object:
    await drive.driver.sleep(seconds)
    if isinstance(value, BaseException):
        raise value
    return value


def test_results_come_in_the_order_of_the_jobs_whichever_ends_first(drive: Drive) -> None:
    jobs = [after(drive, 0.02, "a"), after(drive, 0.0, "b"), after(drive, 0.01, "c")]
    assert drive.run(drive.driver.gather(jobs)) == ["a", "b", "c"]


def test_no_jobs_give_no_results(drive: Drive) -> None:
    assert drive.run(drive.driver.gather([])) == []
    assert drive.run(drive.driver.gather([], limit=1)) == []


def test_a_single_job_runs_where_it_is(drive: Drive) -> None:
    async def where() -> int:
        return threading.get_ident()

    assert drive.run(drive.driver.gather([where()])) == [threading.get_ident()]


def test_jobs_run_at_the_same_time(drive: Drive) -> None:
    began = time.monotonic()
    drive.run(drive.driver.gather([after(drive, 0.1, i) for i in range(20)]))
    assert time.monotonic() - began < 1


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_at_most_so_many_run_at_once_and_all_get_their_turn(drive: Drive, limit: int) -> None:
    running: list[int] = []
    most: list[int] = []

    async def job(index: int) -> int:
        running.append(index)
        most.append(len(running))
        await drive.driver.sleep(0.003)
        running.remove(index)
        return index

    assert drive.run(drive.driver.gather([job(i) for i in range(7)], limit=limit)) == list(range(7))
    assert max(most) == min(limit, 7)


def test_a_limit_below_one_is_refused(drive: Drive) -> None:
    with pytest.raises(ValueError, match="the limit must be at least 1, not 0"):
        drive.run(drive.driver.gather([after(drive, 0, 1), after(drive, 0, 2)], limit=0))


def test_the_first_error_in_the_order_of_jobs_is_raised_when_all_have_ended(drive: Drive) -> None:
    log: list[str] = []

    async def job(seconds: float, name: str) -> None:
        await drive.driver.sleep(seconds)
        log.append(name)
        raise KeyError(name)

    jobs = [after(drive, 0, "fine"), job(0.03, "slow"), job(0.0, "quick")]
    with pytest.raises(KeyError, match="slow"):
        drive.run(drive.driver.gather(jobs))
    assert log == ["quick", "slow"]


def test_an_error_keeps_its_cause(drive: Drive) -> None:
    cause = ValueError("why")

    async def failing() -> None:
        raise KeyError("x") from cause

    with pytest.raises(KeyError) as caught:
        drive.run(drive.driver.gather([failing(), after(drive, 0, 1)]))
    assert caught.value.__cause__ is cause


def test_events_of_the_jobs_are_events_of_the_parent(drive: Drive) -> None:
    async def job(name: str) -> None:
        await Emit(f"{name}1")
        await drive.driver.sleep(0.002)
        await Emit(f"{name}2")

    async def parent() -> None:
        await drive.driver.gather([job("a"), job("b"), job("c")])
        await Emit("end")

    *events, last = drive.read(parent())
    assert (sorted(events), last) == (["a1", "a2", "b1", "b2", "c1", "c2"], "end")
    for name in "abc":
        assert events.index(f"{name}1") < events.index(f"{name}2")


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_a_job_sets_in_its_context_is_seen_by_nobody_else(drive: Drive, jobs: int) -> None:
    async def job() -> str:
        before = tenant.get()
        tenant.set("X")
        await drive.driver.sleep(0.002)
        return before

    async def parent() -> tuple[list[str], str]:
        tenant.set("acme")
        return await drive.driver.gather([job() for _ in range(jobs)]), tenant.get()

    assert drive.run(parent()) == (["acme"] * jobs, "acme")


def test_groups_of_jobs_can_be_nested(drive: Drive) -> None:
    async def tree(depth: int) -> int:
        if not depth:
            return 1
        return sum(await drive.driver.gather([tree(depth - 1) for _ in range(3)]))

    assert drive.run(tree(4)) == 81


class TestAReaderThatLeaves:
    def test_ends_the_jobs_and_those_still_waiting_never_begin(self, drive: Drive) -> None:
        log: list[str] = []

        async def job(index: int) -> None:
            log.append(f"{index} began")
            try:
                for _ in range(1000):
                    await Emit(index)
                    await drive.driver.sleep(0.001)
            except asyncio.CancelledError:
                await drive.driver.sleep(0.001)
                log.append(f"{index} left")
                raise

        assert len(drive.read(drive.driver.gather([job(i) for i in range(4)], limit=2), most=3)) == 3
        assert sorted(log) == ["0 began", "0 left", "1 began", "1 left"]

    def test_is_not_kept_by_a_job_that_was_started_at_this_very_moment(self, drive: Drive) -> None:
        async def short() -> None:
            await Emit("first")

        async def ended() -> None:
            return

        for most in (1, 2):
            jobs: list[Coroutine[Any, Any, None]] = [ended(), short(), short(), ended()]
            assert drive.read(drive.driver.gather(jobs, limit=2), most=most) == ["first"] * most


class TestACancelledGather:
    def test_stops_its_jobs_and_waits_for_them(self) -> None:
        log: list[str] = []

        async def job(index: int) -> None:
            try:
                await asyncio.sleep(10)
            finally:
                await asyncio.sleep(0.005)
                log.append(f"{index} ended")

        async def main() -> None:
            task = asyncio.create_task(ASYNCHRONOUS.gather([job(i) for i in range(3)], limit=2))
            await asyncio.sleep(0.005)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert log == ["0 ended", "1 ended"]
            assert asyncio.all_tasks() == {asyncio.current_task()}

        asyncio.run(main())

    def test_leaves_nothing_behind_when_it_is_cancelled_again_and_again(self) -> None:
        async def stubborn() -> None:
            for _ in range(3):
                try:
                    await asyncio.sleep(0.02)
                except asyncio.CancelledError:
                    continue
            raise asyncio.CancelledError

        async def main() -> None:
            task = asyncio.create_task(ASYNCHRONOUS.gather([stubborn(), stubborn()]))
            for _ in range(3):
                await asyncio.sleep(0.002)
                task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert asyncio.all_tasks() == {asyncio.current_task()}

        asyncio.run(main())

    @pytest.mark.parametrize("steps", range(8))
    def test_ends_at_whatever_step_it_is_cancelled(self, steps: int) -> None:
        async def job() -> None:
            await asyncio.sleep(0)

        async def main() -> None:
            jobs = [job() for _ in range(4)]
            task = asyncio.create_task(ASYNCHRONOUS.run(ASYNCHRONOUS.gather(jobs, limit=2)))
            for _ in range(steps + 1):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task], timeout=5)
            assert task.done()
            assert asyncio.all_tasks() == {asyncio.current_task()}

        asyncio.run(main())


def test_ctrl_c_in_a_blocking_gather_waits_for_the_jobs_that_run() -> None:
    main = threading.get_ident()
    log: list[str] = []
    both = threading.Barrier(2)

    async def job(index: int) -> None:
        both.wait()
        if index == 0:
            interrupt(main, waiting_in="receive")
        time.sleep(0.02)  # blocking code cannot be cancelled
        log.append(f"{index} ended")

    with pytest.raises(KeyboardInterrupt):
        BLOCKING.run(BLOCKING.gather([job(i) for i in range(3)], limit=2))
    assert sorted(log) == ["0 ended", "1 ended"]


def test_a_hundred_gathers_at_once_share_no_bounded_pool() -> None:
    async def outer() -> int:
        async def middle() -> int:
            return sum(await BLOCKING.gather([after_none() for _ in range(2)]))

        return sum(await BLOCKING.gather([middle() for _ in range(2)]))

    async def after_none() -> int:
        return 1

    assert sum(BLOCKING.run(BLOCKING.gather([outer() for _ in range(100)]))) == 400
