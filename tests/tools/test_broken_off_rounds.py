"""Rounds that are broken off: whole all the same, whatever was done, running or waiting then."""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from contextvars import ContextVar
from typing import Any

import pytest

from aiservices import Limits
from aiservices.events import ToolFinished, ToolStarted
from aiservices.memory import MessageWindowChatMemory

from .calling import Invoke, call, service, texts, weather, within

KINDS = ("blocking", "asynchronous")
tenant: ContextVar[str] = ContextVar("tenant", default="?")


# Cancellation


def test_a_cancelled_round_is_whole_and_its_asynchronous_tools_are_cancelled() -> None:
    """ASY-05: some done, some running, some waiting for a place."""
    log: list[str] = []

    async def slow() -> str:
        try:
            await asyncio.sleep(5)
        except asyncio.CancelledError:
            log.append("cancelled")
            raise
        return "late"

    memory, heard = MessageWindowChatMemory(100), list[Any]()
    asked, _ = service(
        [call("weather", city="A"), call("slow", "2"), call("slow", "3")],
        tools=[weather, slow],
        limits=Limits(max_parallel_tools=2),
        chat_memory=memory,
        listeners=[heard.append],
    )

    async def main() -> None:
        task = asyncio.create_task(asked.aask("hi"))
        while not any(isinstance(event, ToolFinished) for event in heard):
            await asyncio.sleep(0.005)
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())
    assert log == ["cancelled", "cancelled"]
    kept = texts(memory.messages())
    assert kept[0] == "A: sunny"
    assert "the call did not end" in kept[1]
    began = [event.call.id for event in heard if isinstance(event, ToolStarted)]
    ended = [event.execution.call.id for event in heard if isinstance(event, ToolFinished)]
    assert sorted(began) == sorted(ended) == ["2", "3", "weather"]


def test_a_call_that_waited_in_line_says_that_it_did_not_run() -> None:
    async def slow() -> str:
        await asyncio.sleep(5)
        return "late"

    memory = MessageWindowChatMemory(100)
    asked, _ = service(
        [call("slow", "1"), call("slow", "2")], tools=[slow], chat_memory=memory, parallel_tools=False
    )

    async def main() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asked.aask("hi"), 0.05)

    asyncio.run(main())
    first, second = texts(memory.messages())
    assert "the call did not end" in first
    assert "the call did not run" in second


@pytest.mark.parametrize("calls", [1, 2])
def test_ctrl_c_in_a_blocking_round_cancels_asynchronous_tools(calls: int) -> None:
    log: list[str] = []

    async def slow() -> str:
        log.append("began")
        if len(log) == calls:
            threading.Timer(0.05, signal.pthread_kill, (main, signal.SIGINT)).start()
        try:
            await asyncio.sleep(5)
        except asyncio.CancelledError:
            log.append("cancelled")
            raise
        return "late"

    main, memory = threading.get_ident(), MessageWindowChatMemory(100)
    asked, _ = service([call("slow", str(i)) for i in range(calls)], tools=[slow], chat_memory=memory)
    with pytest.raises(KeyboardInterrupt):
        asked.ask("hi")
    assert within(2, lambda: log.count("cancelled") == calls)
    assert all("the call did not end" in text for text in texts(memory.messages()))
    assert len(texts(memory.messages())) == calls


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_what_is_no_exception_ends_the_call_when_the_siblings_have_ended(
    invoke: Invoke, error: type[BaseException]
) -> None:
    ran: list[str] = []

    def leave() -> str:
        raise error

    def slow() -> str:
        time.sleep(0.03)
        ran.append("slow")
        return "ok"

    asked, _ = service([call("leave"), call("slow")], tools=[leave, slow])
    with pytest.raises(error):
        invoke(asked, "ask", "hi")
    assert ran == ["slow"]
