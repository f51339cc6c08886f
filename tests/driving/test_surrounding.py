"""Surrounding a part of the pipeline, giving up on it, and finishing what must be finished."""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from typing import Any

import pytest

from aiservices.driving import ASYNCHRONOUS, BLOCKING, Watch

from .conftest import Drive

KINDS = ("blocking", "asynchronous")
span: ContextVar[str] = ContextVar("span", default="none")


def surrounding(kind: str, times: int = 1) -> Callable[..., Any]:
    def around(prefix: str, proceed: Callable[[int], int]) -> str:
        return prefix + " ".join(str(proceed(number)) for number in range(times))

    async def aaround(prefix: str, proceed: Callable[[int], Coroutine[Any, Any, int]]) -> str:
        return prefix + " ".join([str(await proceed(number)) for number in range(times)])

    return around if kind == "blocking" else aaround


@pytest.mark.parametrize("kind", KINDS)
class TestAround:
    @pytest.mark.parametrize("times", [0, 1, 3])
    def test_the_part_runs_as_often_as_it_is_asked_for(self, drive: Drive, kind: str, times: int) -> None:
        async def part(number: int) -> int:
            await drive.driver.sleep(0)
            return number + 1

        expected = "> " + " ".join(str(number + 1) for number in range(times))
        assert drive.run(drive.driver.around(surrounding(kind, times), ("> ",), part)) == expected

    def test_the_part_runs_where_the_invocation_does(self, drive: Drive, kind: str) -> None:
        """Asynchronous code keeps its loop and its task, blocking code its thread."""

        async def main() -> bool:
            def here() -> tuple[int, object]:
                loop = asyncio._get_running_loop()
                return threading.get_ident(), asyncio.current_task() if loop else None

            outside = here()

            async def part(number: int) -> int:
                assert here() == outside
                return number

            await drive.driver.around(surrounding(kind), ("",), part)
            return True

        assert drive.run(main())

    def test_the_part_sees_the_functions_context(self, drive: Drive, kind: str) -> None:
        def around(proceed: Any) -> Any:
            span.set("inside")
            return proceed(None)

        async def aaround(proceed: Any) -> Any:
            span.set("inside")
            return await proceed(None)

        async def main() -> tuple[str, str]:
            async def part(_: None) -> str:
                return span.get()

            function = around if kind == "blocking" else aaround
            return await drive.driver.around(function, (), part), span.get()

        assert drive.run(main()) == ("inside", "none")

    @pytest.mark.parametrize(
        "error", [ValueError, TimeoutError, StopIteration, KeyboardInterrupt, SystemExit]
    )
    def test_errors_of_the_part_reach_the_function_and_then_the_caller(
        self, drive: Drive, kind: str, error: type[BaseException]
    ) -> None:
        heard: list[type[BaseException]] = []

        def around(proceed: Any) -> Any:
            try:
                return proceed(None)
            except BaseException as caught:
                heard.append(type(caught))
                raise

        async def aaround(proceed: Any) -> Any:
            try:
                return await proceed(None)
            except BaseException as caught:
                heard.append(type(caught))
                raise

        async def part(_: None) -> None:
            raise error("it failed")

        expected = RuntimeError if error is StopIteration else error
        with pytest.raises(expected):
            drive.run(drive.driver.around(around if kind == "blocking" else aaround, (), part))
        assert heard in ([expected], [asyncio.CancelledError], [])


class TestWithin:
    def test_what_ends_in_time_gives_its_value(self, drive: Drive) -> None:
        async def job() -> str:
            await drive.driver.sleep(0.001)
            return "done"

        assert drive.run(drive.driver.within(5, job())) == "done"

    def test_what_does_not_is_a_timeout(self, drive: Drive) -> None:
        began = time.monotonic()
        with pytest.raises(TimeoutError, match=r"it did not end within 0.02 s$"):
            drive.run(drive.driver.within(0.02, drive.driver.sleep(5)))
        assert time.monotonic() - began < 2

    def test_an_error_of_the_job_stays_what_it_is(self, drive: Drive) -> None:
        async def job() -> None:
            raise TimeoutError("the job's own")

        with pytest.raises(TimeoutError, match="the job's own"):
            drive.run(drive.driver.within(5, job()))

    def test_asynchronous_code_is_cancelled(self, drive: Drive) -> None:
        log: list[str] = []
        ended = threading.Event()

        async def function() -> None:
            try:
                await asyncio.sleep(5)
            except asyncio.CancelledError:
                log.append("cancelled")
                ended.set()
                raise

        with pytest.raises(TimeoutError):
            drive.run(drive.driver.within(0.02, drive.driver.call(function)))
        assert ended.wait(2)
        assert log == ["cancelled"]

    def test_blocking_code_runs_on_and_nothing_comes_after_it(self, drive: Drive) -> None:
        log: list[str] = []
        release, ended = threading.Event(), threading.Event()

        def function() -> None:
            release.wait(5)
            log.append("ended")

        async def job() -> None:
            try:
                await drive.driver.call(function)
                await drive.driver.call(lambda: log.append("never"))
            finally:
                ended.set()

        with pytest.raises(TimeoutError):
            drive.run(drive.driver.within(0.02, job()))
        release.set()
        assert ended.wait(2)
        time.sleep(0.02)
        assert log == ["ended"]

    def test_jobs_within_jobs_end_with_the_outer_one(self, drive: Drive) -> None:
        log: list[str] = []

        async def function() -> None:
            try:
                await asyncio.sleep(5)
            finally:
                log.append("left")

        async def job() -> None:
            inner = [drive.driver.call(function), drive.driver.within(9, drive.driver.call(function))]
            await drive.driver.gather(inner)

        with pytest.raises(TimeoutError):
            drive.run(drive.driver.within(0.05, job()))
        ends = time.monotonic() + 2
        while len(log) < 2 and time.monotonic() < ends:
            time.sleep(0.001)
        assert log == ["left", "left"]

    def test_cleaning_up_may_ask_the_driver(self, drive: Drive) -> None:
        log: list[str] = []
        ended = threading.Event()

        async def job() -> None:
            try:
                await drive.driver.sleep(5)
            finally:
                await drive.driver.call(lambda: log.append("cleaned up"))
                ended.set()

        with pytest.raises(TimeoutError):
            drive.run(drive.driver.within(0.02, job()))
        assert ended.wait(2)
        assert log == ["cleaned up"]


class TestFinish:
    def test_gives_what_the_job_gives(self, drive: Drive) -> None:
        async def job() -> str:
            await drive.driver.sleep(0)
            return "done"

        assert drive.run(drive.driver.finish(job())) == "done"

    def test_raises_what_the_job_raises(self, drive: Drive) -> None:
        async def job() -> None:
            raise ValueError("mine")

        with pytest.raises(ValueError, match="mine"):
            drive.run(drive.driver.finish(job()))

    @pytest.mark.parametrize("fails", [False, True])
    def test_a_cancellation_waits_for_its_end_and_is_not_lost(self, fails: bool) -> None:
        log: list[str] = []

        async def job() -> None:
            await asyncio.sleep(0.03)
            log.append("ended")
            if fails:
                raise ValueError

        async def main() -> None:
            task = asyncio.create_task(ASYNCHRONOUS.finish(job()))
            for _ in range(3):
                await asyncio.sleep(0.005)
                task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert log == ["ended"]
            assert task.cancelled()

        asyncio.run(main())

    def test_is_not_disturbed_when_its_errand_is_given_up(self, drive: Drive) -> None:
        log: list[str] = []
        ended = threading.Event()

        async def cleaning() -> None:
            for _ in range(3):
                await drive.driver.sleep(0.01)
                await drive.driver.call(lambda: log.append("step"))
            ended.set()

        with pytest.raises(TimeoutError):
            drive.run(drive.driver.within(0.015, drive.driver.finish(cleaning())))
        assert ended.wait(2)
        assert log == ["step"] * 3

    def test_ctrl_c_waits_for_its_end(self) -> None:
        log: list[str] = []

        async def job() -> None:
            signal.raise_signal(signal.SIGINT)
            log.append("ended")

        with pytest.raises(KeyboardInterrupt):
            BLOCKING.run(BLOCKING.finish(job()))
        assert log == ["ended"]
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler

    def test_a_second_ctrl_c_does_not(self) -> None:
        async def job() -> None:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
            raise AssertionError("never reached")

        with pytest.raises(KeyboardInterrupt):
            BLOCKING.run(BLOCKING.finish(job()))
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


class TestAWatch:
    def run(self, function: Callable[[], Any], *, leave: bool = False) -> list[tuple[str, Any]]:
        heard: list[tuple[str, Any]] = []
        watch = Watch(
            lambda value, error: heard.append(("ended", value if error is None else type(error))),
            lambda value, error: heard.append(("late", value if error is None else type(error))),
        )
        watched = watch.over(function)
        if leave:
            assert watch.leave() is False
        try:
            value = watched()
            if asyncio.iscoroutine(value):
                asyncio.run(value)
        except BaseException as error:
            heard.append(("raised", type(error)))
        return heard

    def test_hears_of_values_and_errors_in_either_kind(self) -> None:
        async def gives() -> int:
            return 7

        async def fails() -> None:
            raise KeyError

        assert self.run(lambda: 7) == [("ended", 7)]
        assert self.run(gives) == [("ended", 7)]
        assert self.run(lambda: gives()) == [("ended", 7)]  # noqa: PLW0108 - blocking, and gives an awaitable
        assert self.run(lambda: {}[0]) == [("ended", KeyError), ("raised", KeyError)]
        assert self.run(fails) == [("ended", KeyError), ("raised", KeyError)]

    def test_a_function_that_was_left_before_it_began_never_begins(self) -> None:
        async def gives() -> int:
            raise AssertionError

        assert self.run(lambda: 1 / 0, leave=True) == [("raised", asyncio.CancelledError)]
        assert self.run(gives, leave=True) == [("raised", asyncio.CancelledError)]

    def test_a_cancellation_of_its_own_is_a_failure(self) -> None:
        async def cancels_itself() -> None:
            raise asyncio.CancelledError

        assert self.run(cancels_itself) == [("ended", RuntimeError), ("raised", RuntimeError)]

    def test_what_ends_later_is_told_as_late(self) -> None:
        heard: list[str] = []
        began, release, ended = threading.Event(), threading.Event(), threading.Event()

        def function() -> str:
            began.set()
            release.wait(5)
            return "value"

        def late(value: Any, error: BaseException | None) -> None:
            heard.append(f"late {value}")
            ended.set()

        watch = Watch(lambda value, error: heard.append("ended"), late)
        threading.Thread(target=watch.over(function)).start()
        assert began.wait(2)
        assert watch.leave() is True
        release.set()
        assert ended.wait(2)
        assert heard == ["late value"]
