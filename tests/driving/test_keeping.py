"""Clients that must not be shared: one for each event loop, one for each process."""

import asyncio
import gc
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest

from aiservices.driving import PerLoop, PerProcess


class Client:
    """Remembers the loop it was made on, and refuses to be closed on another."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.closed = 0

    async def aclose(self) -> None:
        assert asyncio.get_running_loop() is self.loop
        await asyncio.sleep(0)
        self.closed += 1


@pytest.fixture
def clients() -> PerLoop[Client]:
    return PerLoop(Client, Client.aclose)


class TestPerLoop:
    def test_one_loop_has_one(self, clients: PerLoop[Client]) -> None:
        async def main() -> Client:
            first = await clients.get()
            assert set(await asyncio.gather(*[clients.get() for _ in range(5)])) == {first}
            assert first.closed == 0
            return first

        assert asyncio.run(main()).closed == 1

    def test_every_run_has_its_own(self, clients: PerLoop[Client]) -> None:
        first, second = asyncio.run(clients.get()), asyncio.run(clients.get())
        assert first is not second
        assert (first.closed, second.closed) == (1, 1)

    def test_nothing_is_kept_when_the_loops_have_ended(self, clients: PerLoop[Client]) -> None:
        gone = weakref.ref(asyncio.run(clients.get()))
        gc.collect()
        assert gone() is None
        assert len(clients._kept) == 0

    def test_it_can_be_closed_before_its_loop(self, clients: PerLoop[Client]) -> None:
        async def main() -> None:
            await clients.aclose()
            first = await clients.get()
            await clients.aclose()
            await clients.aclose()
            assert first.closed == 1
            assert await clients.get() is not first

        asyncio.run(main())

    def test_a_loop_that_was_never_shut_down_is_forgotten_later(self, clients: PerLoop[Client]) -> None:
        loop = asyncio.new_event_loop()
        lost = loop.run_until_complete(clients.get())
        loop.close()
        asyncio.run(clients.get())
        assert len(clients._kept) == 0
        assert lost.closed == 0

    def test_many_loops_at_once_do_not_disturb_each_other(self, clients: PerLoop[Client]) -> None:
        def run(_: int) -> int:
            return asyncio.run(clients.get()).closed

        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(run, range(100))) == [1] * 100

    def test_an_error_while_closing_is_not_swallowed(self) -> None:
        async def failing(client: Client) -> None:
            raise KeyError("closing")

        clients = PerLoop(Client, failing)

        async def main() -> None:
            await clients.get()
            with pytest.raises(KeyError, match="closing"):
                await clients.aclose()

        asyncio.run(main())


class TestPerProcess:
    def test_all_threads_share_one(self) -> None:
        barrier = threading.Barrier(8)
        made: list[object] = []

        def make() -> object:
            made.append(object())
            return made[-1]

        kept = PerProcess(make, lambda item: None)

        def get(_: int) -> object:
            barrier.wait()
            return kept.get()

        with ThreadPoolExecutor(8) as pool:
            assert set(pool.map(get, range(8))) == set(made)
        assert len(made) == 1

    def test_closing_makes_room_for_a_new_one(self) -> None:
        closed: list[object] = []
        kept = PerProcess(object, closed.append)
        kept.close()
        first = kept.get()
        kept.close()
        kept.close()
        assert closed == [first]
        assert kept.get() is not first

    def test_it_is_closed_when_its_keeper_is_gone(self) -> None:
        closed: list[object] = []
        kept = PerProcess(object, closed.append)
        item = kept.get()
        del kept
        gc.collect()
        assert closed == [item]

    def test_a_failure_to_make_one_is_not_remembered(self) -> None:
        answers = iter([KeyError("first"), "fine"])

        def make() -> str:
            answer = next(answers)
            if isinstance(answer, Exception):
                raise answer
            return answer

        kept = PerProcess(make, lambda item: None)
        with pytest.raises(KeyError):
            kept.get()
        assert kept.get() == "fine"
