"""Sessions share an executor and nothing else."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from typing import Any
from weakref import ref

import pytest

from aiservices import InMemoryStore, ServerError
from aiservices.react import AgentState, NodeOutput, Session, StopReason
from tests.react.asking import STYLES, agent, calls, outputs, short

both = pytest.mark.parametrize("style", STYLES)
everywhere = pytest.mark.parametrize("store", [None, "memory"])


@both
@everywhere
def test_each_session_has_its_own_memory(style: str, store: str | None) -> None:
    """AJ-37"""
    asked, model = agent("Hi Ann!", "Ann.", "Who?", checkpointer=InMemoryStore() if store else None)
    one, two = asked.new_session(), asked.new_session()
    assert one.id != two.id
    calls(style, one, "invoke", "I am Ann.")
    assert calls(style, two, "state") == AgentState(two.id)
    assert outputs(style, one, "Who am I?")[-1].state.final_response == "Ann."
    calls(style, two, "invoke", "Who am I?")
    assert short(model.requests[1].messages) == ["U:I am Ann.", "A:Hi Ann!", "U:Who am I?"]
    assert short(model.requests[2].messages) == ["U:Who am I?"]
    assert calls(style, one, "state").thread_id == one.id
    assert asked.state(two.id) == two.state()


def test_a_cancelled_session_leaves_the_others_alone() -> None:
    async def endless(request: object) -> str:
        entered.set()
        await asyncio.Event().wait()
        return "never"

    async def together() -> None:
        task = asyncio.create_task(one.ainvoke("a"))
        await entered.wait()
        other = asyncio.create_task(two.ainvoke("b"))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await other).stop_reason is StopReason.FINAL

    entered = asyncio.Event()
    asked, _ = agent(endless, "fine", "afterwards")
    one, two = asked.new_session(), asked.new_session()
    asyncio.run(together())
    assert asyncio.run(one.aresume()).final_response == "afterwards"
    assert short(two.state().messages) == ["U:b", "A:fine"]


def test_a_session_lasts_as_long_as_somebody_holds_it() -> None:
    """AGT-32"""
    asked, _ = agent(*["ok"] * 100)
    threads = []
    for _ in range(50):
        session = asked.new_session()
        session.invoke("go")
        gc.collect(0)
        assert session.invoke("again").messages[0].text == "go"  # type: ignore[union-attr]
        threads.append(ref(session._keeper))
    del session
    gc.collect()
    assert not [thread for thread in threads if thread() is not None]


def test_a_session_names_itself() -> None:
    asked, _ = agent()
    session = asked.new_session()
    assert repr(session) == f"Session({session.id!r})"


def read_alone(style: str, session: Callable[[], Session], method: str, *arguments: Any) -> list[NodeOutput]:
    """The outputs of a stream of a session that nobody holds while it is read."""
    stream = getattr(session(), method if style == "blocking" else f"a{method}")(*arguments)
    gc.collect()
    if style == "blocking":
        return list(stream)

    async def read() -> list[NodeOutput]:
        return [output async for output in stream]

    return asyncio.run(read())


@both
def test_a_stream_of_a_session_that_nobody_holds_leaves_no_thread_behind(style: str) -> None:
    asked, _ = agent("one")
    thread_id = read_alone(style, asked.new_session, "stream", "go")[-1].state.thread_id
    gc.collect()
    assert asked.history(thread_id) == []


@both
def test_a_stream_keeps_the_thread_of_its_session_until_it_is_read(style: str) -> None:
    asked, _ = agent(ServerError("down"), "one")

    def failed() -> Session:
        session = asked.new_session()
        with pytest.raises(ServerError):
            session.invoke("go")
        return session

    assert read_alone(style, failed, "resume_stream")[-1].state.final_response == "one"
