"""Users' functions of both kinds, called from both drives, in contexts of their own."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Generator
from contextvars import ContextVar
from functools import partial, wraps
from typing import Any

import pytest

from aiservices.driving import ASYNCHRONOUS, BLOCKING, run_in_background

from .conftest import Drive, interrupt

tenant: ContextVar[str] = ContextVar("tenant", default="?")


def double(x: int) -> int:
    return 2 * x


async def adouble(x: int) -> int:
    await asyncio.sleep(0)
    return 2 * x


class Doubling:
    def __call__(self, x: int) -> int:
        return 2 * x

    def method(self, x: int) -> int:
        return 2 * x


class ADoubling:
    async def __call__(self, x: int) -> int:
        return await adouble(x)

    async def method(self, x: int) -> int:
        return await adouble(x)


class Later:
    def __init__(self, x: int) -> None:
        self.x = x

    def __await__(self) -> Generator[Any, Any, int]:
        return adouble(self.x).__await__()


@wraps(adouble)
def wrapped(x: int) -> Awaitable[int]:
    return adouble(x)


FUNCTIONS: dict[str, Callable[[int], Any]] = {
    "function": double,
    "coroutine function": adouble,
    "partial": partial(double),
    "partial of a coroutine function": partial(adouble),
    "callable object": Doubling(),
    "callable object with a coroutine": ADoubling(),
    "partial of a callable object": partial(ADoubling()),
    "method": Doubling().method,
    "coroutine method": ADoubling().method,
    "lambda": lambda x: 2 * x,
    "lambda that returns a coroutine": lambda x: adouble(x + 0),
    "wrapped coroutine function": wrapped,
    "maker of an awaitable object": Later,
    "builtin": (2).__mul__,
}


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_every_kind_of_function_can_be_called(drive: Drive, function: Callable[[int], Any]) -> None:
    assert drive.run(drive.driver.call(function, 21)) == 42


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_inside_a_running_loop_too(function: Callable[[int], Any]) -> None:
    async def main() -> int:
        return BLOCKING.run(BLOCKING.call(function, 21))

    assert asyncio.run(main()) == 42


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt, SystemExit, asyncio.CancelledError])
@pytest.mark.parametrize("is_async", [False, True])
def test_errors_come_back_as_they_were_raised(
    drive: Drive, kind: type[BaseException], is_async: bool
) -> None:
    error = kind("x")

    def failing() -> None:
        raise error

    async def afailing() -> None:
        raise error

    async def calling() -> object:
        try:
            await drive.driver.call(afailing if is_async else failing)
        except BaseException as raised:
            return raised
        return None

    raised = drive.run(calling())
    assert raised is error or (type(raised) is kind is asyncio.CancelledError)


def test_sys_exit_in_one_function_leaves_the_loop_of_the_others_alone() -> None:
    async def leaving() -> None:
        raise SystemExit(1)

    async def leaving_later() -> None:
        asyncio.get_running_loop().call_soon(exec, "raise SystemExit(1)")

    with pytest.raises(SystemExit):
        run_in_background(leaving())
    run_in_background(leaving_later())
    assert run_in_background(adouble(21)) == 42


def test_a_stop_iteration_is_an_error_and_not_an_end(drive: Drive) -> None:
    with pytest.raises(RuntimeError, match="StopIteration"):
        drive.run(drive.driver.call(next, iter(())))


def test_blocking_code_runs_beside_the_loop_and_not_in_its_way() -> None:
    async def main() -> None:
        released = threading.Event()
        waiting = asyncio.create_task(ASYNCHRONOUS.call(released.wait, 5))
        await asyncio.sleep(0.005)
        released.set()
        assert await waiting

    asyncio.run(main())


def test_asynchronous_code_runs_on_one_shared_loop() -> None:
    async def which() -> int:
        return id(asyncio.get_running_loop())

    async def calling() -> set[int]:
        return {await BLOCKING.call(which), *await BLOCKING.gather([BLOCKING.call(which) for _ in range(3)])}

    assert len(BLOCKING.run(calling())) == 1


@pytest.mark.parametrize("is_async", [False, True])
def test_the_callers_context_is_seen_and_never_changed(drive: Drive, is_async: bool) -> None:
    def who() -> str:
        before = tenant.get()
        tenant.set("X")
        return before

    async def awho() -> str:
        await asyncio.sleep(0)
        return who()

    async def calling() -> tuple[list[str], str]:
        tenant.set("acme")
        function: Callable[[], Any] = awho if is_async else who
        once = await drive.driver.call(function)
        thrice = await drive.driver.gather([drive.driver.call(function) for _ in range(3)])
        return [once, *thrice], tenant.get()

    assert drive.run(calling()) == (["acme"] * 4, "acme")


def test_a_wrapper_that_is_no_coroutine_function_sets_the_context_of_what_it_returns(drive: Drive) -> None:
    async def who() -> str:
        return tenant.get()

    def wrapper() -> Awaitable[str]:
        tenant.set("set by the wrapper")
        return who()

    async def calling() -> tuple[str, str]:
        tenant.set("acme")
        return await drive.driver.call(wrapper), tenant.get()

    assert drive.run(calling()) == ("set by the wrapper", "acme")


def test_cancelling_a_call_cancels_the_asynchronous_function() -> None:
    log: list[str] = []

    async def looping() -> None:
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            log.append("cancelled")
            raise

    async def main() -> None:
        task = asyncio.create_task(ASYNCHRONOUS.call(looping))
        await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert log == ["cancelled"]


def test_ctrl_c_while_waiting_cancels_the_function_on_the_background_loop() -> None:
    main = threading.get_ident()
    ended = threading.Event()

    async def looping() -> None:
        interrupt(main, waiting_in="wait")
        try:
            await asyncio.sleep(10)
        finally:
            ended.set()

    with pytest.raises(KeyboardInterrupt):
        BLOCKING.run(BLOCKING.call(looping))
    assert ended.wait(5)
