"""Waiting in line: first come, first served, for threads and tasks alike, and nobody is forgotten."""

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from aiservices.driving import KeyedLocks, Places

from .conftest import interrupt


def test_there_is_at_least_one_place() -> None:
    with pytest.raises(ValueError, match="at least 1, not 0"):
        Places(0)


def eventually(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 5
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.0005)


def in_line(places: Places) -> int:
    return len(places._line)


@pytest.mark.parametrize("number", [1, 3])
def test_threads_and_tasks_share_the_places(number: int) -> None:
    places, holding, most = Places(number), [0], [0]

    def counted(by: int) -> None:
        holding[0] += by
        most[0] = max(most[0], holding[0])

    def thread() -> None:
        for _ in range(30):
            with places.held():
                counted(1)
                time.sleep(0.0001)
                counted(-1)

    async def task() -> None:
        for _ in range(30):
            async with places.aheld():
                counted(1)
                await asyncio.sleep(0)
                counted(-1)

    async def tasks() -> None:
        await asyncio.gather(*[task() for _ in range(4)])

    with ThreadPoolExecutor(6) as pool:
        jobs = [pool.submit(thread) for _ in range(4)] + [pool.submit(asyncio.run, tasks()) for _ in range(2)]
        for job in jobs:
            job.result(10)
    assert most == [number]
    assert (places._taken, in_line(places), dict(places._loops)) == (0, 0, {})


def test_the_line_is_served_in_order_whoever_stands_in_it() -> None:
    places, served = Places(1), []

    def thread(name: int) -> None:
        with places.held():
            served.append(name)

    async def task(name: int) -> None:
        async with places.aheld():
            served.append(name)

    with places.held(), ThreadPoolExecutor(6) as pool:
        for name in range(6):
            pool.submit(thread, name) if name % 2 else pool.submit(asyncio.run, task(name))
            eventually(lambda name=name: in_line(places) == name + 1)
        assert served == []
        places.leave()
        eventually(lambda: len(served) == 6)
        places.line_up()
    assert served == list(range(6))


class TestALeaverInTheLine:
    def test_does_not_hold_up_those_behind(self) -> None:
        places = Places(1)

        async def holding() -> None:
            async with places.aheld():
                pass

        async def main() -> None:
            async with places.aheld():
                impatient = asyncio.create_task(holding())
                patient = asyncio.create_task(holding())
                await asyncio.sleep(0.001)
                impatient.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await impatient
            await asyncio.wait_for(patient, 5)

        asyncio.run(main())
        assert (places._taken, in_line(places)) == (0, 0)

    def test_hands_on_a_place_that_was_given_at_the_moment_of_leaving(self) -> None:
        places = Places(1)

        async def holding() -> None:
            async with places.aheld():
                pass

        async def main() -> None:
            places.line_up()
            task = asyncio.create_task(holding())
            await asyncio.sleep(0.001)
            places.leave()  # the place is the task's now, which does not know it yet
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        asyncio.run(main())
        assert places.line_up() is None

    def test_may_be_a_thread_that_is_interrupted(self) -> None:
        places, main = Places(1), threading.get_ident()
        places.line_up()

        def ctrl_c() -> None:
            eventually(lambda: in_line(places) == 1)
            interrupt(main, waiting_in="wait")

        threading.Thread(target=ctrl_c).start()
        with pytest.raises(KeyboardInterrupt), places.held():
            pytest.fail("there was no place")
        places.leave()
        assert places.line_up() is None


class TestABlockingWaitOnAnEventLoop:
    """It would stop the loop on which those stand that it waits for."""

    def test_is_refused_when_a_task_of_that_loop_holds_the_place(self) -> None:
        locks = KeyedLocks()

        async def main() -> None:
            async with locks.aheld("a"):
                with pytest.raises(RuntimeError, match="await the asynchronous variant"), locks.held("a"):
                    pytest.fail("it is held")
                with locks.held("b"):
                    pass
            with locks.held("a"):
                pass

        asyncio.run(main())
        assert "a" not in locks

    def test_is_refused_when_one_is_in_line_before_it(self) -> None:
        places = Places(1)

        async def holding() -> None:
            async with places.aheld():
                pass

        async def main() -> None:
            places.line_up()
            task = asyncio.create_task(holding())
            await asyncio.sleep(0.001)
            with pytest.raises(RuntimeError, match="would stop that loop"), places.held():
                pytest.fail("it is held")
            places.leave()
            await task

        asyncio.run(main())

    def test_is_fine_when_a_thread_holds_the_place(self) -> None:
        locks, entered, released = KeyedLocks(), threading.Event(), threading.Event()

        def thread() -> None:
            with locks.held("a"):
                entered.set()
                released.wait(5)

        async def main() -> None:
            entered.wait(5)
            threading.Timer(0.005, released.set).start()
            with locks.held("a"):
                pass

        with ThreadPoolExecutor(1) as pool:
            pool.submit(thread)
            asyncio.run(main())


class TestKeyedLocks:
    def test_keep_one_key_from_another(self) -> None:
        locks = KeyedLocks()
        with locks.held("a"), locks.held("b"), locks.held(("a", 1)):
            assert "a" in locks
            assert "c" not in locks

    def test_forget_keys_that_nobody_holds_or_wants(self) -> None:
        locks = KeyedLocks()

        async def main() -> None:
            for key in range(500):
                async with locks.aheld(key):
                    pass

        for key in range(500):
            with locks.held(key):
                pass
        asyncio.run(main())
        assert (len(locks._places), len(locks._wanted)) == (0, 0)

    def test_remember_a_key_while_somebody_waits_for_it(self) -> None:
        locks = KeyedLocks()

        async def main() -> None:
            async def holding() -> bool:
                async with locks.aheld("a"):
                    return True

            async with locks.aheld("a"):
                second = asyncio.create_task(holding())
                await asyncio.sleep(0)
            assert "a" in locks
            assert await second

        asyncio.run(main())
        assert "a" not in locks

    def test_are_free_after_an_error(self) -> None:
        locks = KeyedLocks()
        with pytest.raises(KeyError), locks.held("a"):
            raise KeyError
        assert "a" not in locks
