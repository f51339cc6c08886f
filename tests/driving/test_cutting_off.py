"""Jobs that are stopped when their time is over, and those that end before."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from aiservices.driving import ASYNCHRONOUS, BLOCKING, Emit


def test_a_job_that_waits_is_cancelled_when_its_time_is_over() -> None:
    ended: list[str] = []

    async def job() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    with pytest.raises(TimeoutError, match=r"did not end within 0\.01 s"):
        asyncio.run(ASYNCHRONOUS.cut_off(0.01, job()))
    assert ended == ["cancelled"]


def test_a_job_gets_the_values_and_the_errors_of_what_it_awaits() -> None:
    async def main() -> list[Any]:
        loop = asyncio.get_running_loop()

        async def job() -> list[Any]:
            heard: list[Any] = []
            for number in range(3):
                future: asyncio.Future[int] = loop.create_future()
                loop.call_soon(future.set_exception if number == 1 else future.set_result, answers[number])
                try:
                    heard.append(await future)
                except OSError as error:
                    heard.append(str(error))
            return heard

        answers: list[Any] = [1, OSError("torn"), 3]
        return await ASYNCHRONOUS.cut_off(60, job())

    assert asyncio.run(main()) == [1, "torn", 3]


def test_a_job_that_waits_for_nothing_gives_its_value_and_its_error() -> None:
    async def gives() -> int:
        return 1

    async def fails() -> int:
        raise TimeoutError("its own")

    assert asyncio.run(ASYNCHRONOUS.cut_off(60, gives())) == 1
    with pytest.raises(TimeoutError, match="its own"):
        asyncio.run(ASYNCHRONOUS.cut_off(60, fails()))


def test_what_a_job_emits_is_read_before_it_goes_on() -> None:
    heard: list[Any] = []

    async def job() -> None:
        await Emit("first")
        heard.append("went on")
        await asyncio.sleep(0)
        await Emit("second")

    async def read() -> None:
        async for event in ASYNCHRONOUS.events(ASYNCHRONOUS.cut_off(60, job())):
            heard.append(event)  # noqa: PERF401 - in turns with the job

    asyncio.run(read())
    assert heard == ["first", "went on", "second"]


def test_a_blocking_job_is_let_to_its_end() -> None:
    async def job() -> int:
        return 1

    assert BLOCKING.run(BLOCKING.cut_off(0, job())) == 1
