"""What threads do to each other, what is kept of them, and for how long."""

from __future__ import annotations

import asyncio
import copy
import dataclasses
import gc
import pickle
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from threading import Event
from typing import Any
from weakref import ref

import pytest

from aiservices import (
    AiMessage,
    ChatModel,
    ChatRequest,
    ChatResponse,
    ConflictError,
    InMemoryStore,
    MemoryInUseError,
    SqlStore,
    Store,
    StoreError,
    UserMessage,
)
from aiservices.react import AgentState, Approve, Channel, react
from aiservices.react.state import FIELDS
from aiservices.testing import ScriptedChatModel
from tests.react.asking import STYLES, agent, call, calls, cancelled_when, outputs, short

both = pytest.mark.parametrize("style", STYLES)


def add(a: int, b: int) -> int:
    return a + b


@both
def test_one_executor_serves_many_threads_at_once(style: str, kept: dict[str, Any]) -> None:
    """AGT-12, LG-71"""

    class Echo(ChatModel):
        def chat(self, request: ChatRequest) -> ChatResponse:
            return ChatResponse(AiMessage(" ".join(item.text or "" for item in request.messages)))  # type: ignore[union-attr]

    asked = react(chat_model=Echo(), **kept)
    ids = [f"u{number}" for number in range(20)]
    if style == "blocking":
        with ThreadPoolExecutor(20) as pool:
            states = list(pool.map(lambda id: asked.invoke(f"I am {id}", id), ids))
    else:

        async def together() -> list[AgentState]:
            return await asyncio.gather(*(asked.ainvoke(f"I am {id}", id) for id in ids))

        states = asyncio.run(together())
    assert [state.final_response for state in states] == [f"I am {id}" for id in ids]
    assert all(len(asked.history(id)) == 2 for id in ids)


def test_two_runs_of_one_thread_take_turns(kept: dict[str, Any]) -> None:
    """NX-13"""
    running, go_on = Event(), Event()

    def first(request: ChatRequest) -> str:
        running.set()
        go_on.wait(60)
        return "one"

    asked, model = agent(first, "two", **kept)
    with ThreadPoolExecutor(2) as pool:
        one = pool.submit(asked.invoke, "a", "t")
        running.wait(60)
        two = pool.submit(asked.invoke, "b", "t")
        go_on.set()
        assert one.result().final_response == "one"
        assert two.result().final_response == "two"
    assert short(model.requests[1].messages) == ["U:a", "A:one", "U:b"]


@both
def test_a_tool_cannot_run_the_thread_that_it_is_called_in(style: str, kept: dict[str, Any]) -> None:
    met: list[Exception] = []

    def again() -> str:
        try:
            return asked.invoke("more", "t").final_response or ""
        except MemoryInUseError as error:
            met.append(error)
            raise

    async def aagain() -> str:
        try:
            return (await asked.ainvoke("more", "t")).final_response or ""
        except MemoryInUseError as error:
            met.append(error)
            raise

    tools = [again if style == "blocking" else aagain]
    name = tools[0].__name__
    asked, _ = agent(call(name), "ok", tools=tools, **kept)
    state = calls(style, asked, "invoke", "go", "t")
    assert state.final_response == "ok"
    assert "the thread 't' is in use" in str(met[0])


def test_who_reads_a_stream_cannot_run_its_thread_meanwhile(kept: dict[str, Any]) -> None:
    asked, _ = agent("one", "two", "three", **kept)
    stream = asked.stream("a", "t")
    next(stream)
    with pytest.raises(
        MemoryInUseError, match="a stream that this code reads: read it to its end, or close it"
    ):
        asked.invoke("b", "t")
    assert asked.invoke("b", "other").final_response == "one"
    assert [output.node for output in stream] == ["agent", "end"]
    assert asked.invoke("c", "t").final_response == "three"


def test_who_reads_an_asynchronous_stream_cannot_either(kept: dict[str, Any]) -> None:
    asked, _ = agent("one", "two", **kept)

    async def read() -> None:
        async for output in asked.astream("a", "t"):
            if output.node == "start":
                with pytest.raises(MemoryInUseError, match="a stream that this code reads: read it"):
                    await asked.ainvoke("b", "t")
        assert (await asked.ainvoke("c", "t")).final_response == "two"

    asyncio.run(read())


@both
def test_a_cancelled_run_goes_on_when_it_is_resumed(style: str, kept: dict[str, Any]) -> None:
    """AJ-09, LG-91, NX-10, LG-34"""
    begun: list[str] = []

    async def slow() -> str:
        begun.append("slow")
        if len(begun) == 1:
            entered.set()
            await asyncio.Event().wait()
        return "at last"

    entered = asyncio.Event()
    asked, _ = agent(
        [call("add", "c1", a=1, b=2), call("slow", "c2")],
        "done",
        tools=[add, slow],
        parallel_tools=False,
        **kept,
    )

    cancelled_when(entered, asked, "go", "t")
    state = calls(style, asked, "resume", "t")
    assert short(state.messages) == ["U:go", "A?c1,c2", "R:3", "R:at last", "A:done"]


def test_a_call_that_was_broken_off_has_no_result_though_another_one_ended(kept: dict[str, Any]) -> None:
    """The second call ends in spite of the cancellation, after the first has been broken off by it."""
    ran: list[str] = []

    async def first() -> str:
        ran.append("first")
        if ran.count("first") == 1:
            try:
                both_run.set()
                await asyncio.Event().wait()
            finally:
                broken_off.set()
        return "at last"

    async def second() -> str:
        ran.append("second")
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await broken_off.wait()
        return "in spite of it"

    both_run, broken_off = asyncio.Event(), asyncio.Event()
    asked, _ = agent([call("second", "c1"), call("first", "c2")], "done", tools=[first, second], **kept)

    cancelled_when(both_run, asked, "go", "t")
    assert short(asked.resume("t").messages)[2:4] == ["R:in spite of it", "R:at last"]
    assert sorted(ran) == ["first", "first", "second"]


def test_what_others_do_to_a_state_does_not_reach_its_checkpoint(kept: dict[str, Any]) -> None:
    """AGT-13, AJ-38, AJ-42"""

    class Marking:
        def around(self, state: Any, proceed: Any) -> Any:
            state.log.append("in place, before")
            return {**proceed(state), "log": mine}

    mine = ["written"]
    asked, _ = agent(
        "one", "two", channels={"log": Channel(default=list)}, call_model_hooks=[Marking()], **kept
    )
    state = asked.invoke("a", "t")
    mine.append("later")
    state.log.append("by the caller")
    asked.state("t").log.append("again")
    asked.history("t")[0].state.log.append("again")
    assert asked.state("t").log == ["written"]
    assert asked.history("t")[1].state.log == []


def test_a_typed_channel_comes_back_as_what_it_was(tmp_path: Path) -> None:
    """AGT-11, LG-77"""
    values = {"day": date(2024, 1, 2), "seen": {1, 2}, "said": UserMessage("hi")}
    channels = {
        "day": Channel(kind=date),
        "seen": Channel(kind=set[int]),
        "said": Channel(kind=UserMessage),
    }
    for number in range(2):
        with SqlStore(f"{tmp_path}/threads.db") as store:
            asked, _ = agent("one", channels=channels, checkpointer=store)
            if number == 0:
                asked.invoke("a", "t")
                asked.update("t", values)
            state = asked.state("t")
            assert dict(state.channels) == values
            assert {type(value) for value in state.channels.values()} == {date, set, UserMessage}


def test_what_cannot_be_kept_is_named(tmp_path: Path) -> None:
    """AGT-11, NX-12"""

    class Dating:
        def after(self, state: AgentState, update: Any) -> Any:
            return {**update, "day": {"on": date(2024, 1, 2)}}

    asked, _ = agent("one", channels={"day": None}, call_model_hooks=[Dating()], checkpointer=InMemoryStore())
    with pytest.raises(StoreError) as caught:
        asked.invoke("a", "t")
    text = str(caught.value)
    for part in ("thread 't'", "the node 'agent'", "channel 'day'", "value['on'] is a date"):
        assert part in text
    assert [item.node for item in asked.history("t")] == ["start"]


def test_a_process_whose_turn_ran_out_cannot_continue_what_another_has(tmp_path: Path) -> None:
    """Two stores of one database stand for two processes: they share no lock."""
    with SqlStore(f"{tmp_path}/threads.db") as one, SqlStore(f"{tmp_path}/threads.db") as two:
        other, _ = agent("theirs", checkpointer=two)

        def meanwhile(request: ChatRequest) -> str:
            two.delete("aiservices.react.leases", "t")  # as when the first could not renew it in time
            other.invoke("b", "t")
            return "ours"

        asked, _ = agent(meanwhile, checkpointer=one)
        with pytest.raises(ConflictError) as caught:
            asked.invoke("a", "t")
        assert any("another process" in note for note in caught.value.__notes__)
        assert short(asked.state("t").messages) == ["U:a", "U:b", "A:theirs"]
        assert len(one.keys("aiservices.react.checkpoints")) == len(asked.history("t"))


def test_unnamed_threads_of_the_process_last_as_long_as_a_state_of_them() -> None:
    """AGT-32"""
    model = ScriptedChatModel(*["ok"] * 50, OSError("down"), *[lambda _: "ok"] * 3)
    asked = react(chat_model=model)
    threads = [ref(asked.invoke(f"{number}")._kept) for number in range(50)]
    with pytest.raises(OSError):
        asked.invoke("fails")
    stream = asked.stream("is left")
    next(stream)
    del stream
    state = asked.invoke("is held")
    gc.collect()
    assert not [thread for thread in threads if thread() is not None]
    assert list(asked._setup.threads._all) == [state.thread_id]  # type: ignore[attr-defined]
    assert asked.state(state.thread_id) == state


def test_an_unnamed_thread_that_waits_is_kept_until_it_is_done() -> None:
    asked, _ = agent(call("add", a=1, b=2), "3", tools=[add], approvals={"add": True})
    id = asked.invoke("go").thread_id
    gc.collect()
    assert asked.resume(id, Approve()).final_response == "3"
    gc.collect()
    assert asked.history(id) == []


def test_executors_are_collected_after_use() -> None:
    """AGT-32"""
    asked, _ = agent("ok")
    state, gone = asked.invoke("go"), ref(asked)
    del asked
    gc.collect()
    assert gone() is None
    assert state.final_response == "ok"


def test_the_parts_of_a_state_are_those_that_it_tells_of() -> None:
    asked, _ = agent("ok")
    assert tuple(dataclasses.asdict(asked.invoke("go"))) == FIELDS


def test_states_are_copied_and_pickled_without_their_threads() -> None:
    asked, _ = agent("ok", channels={"log": Channel(default=list)})
    state = asked.invoke("go")
    for again in (copy.deepcopy(state), copy.copy(state), pickle.loads(pickle.dumps(state))):
        assert again == state
        assert again._kept is None


@both
def test_a_checkpointer_of_one_half_will_do(style: str) -> None:
    class Half(Store):
        def __init__(self) -> None:
            self.inner = InMemoryStore()

        def get(self, namespace: str, key: str) -> Any:
            return self.inner.get(namespace, key)

        def put(self, namespace: str, key: str, value: Any, **options: Any) -> int:
            return self.inner.put(namespace, key, value, **options)

        def delete(self, namespace: str, key: str, **options: Any) -> bool:
            return self.inner.delete(namespace, key, **options)

        def keys(self, namespace: str, prefix: str = "") -> list[str]:
            return self.inner.keys(namespace, prefix)

    asked, _ = agent(call("add", a=1, b=2), "3", tools=[add], checkpointer=Half())
    assert [output.node for output in outputs(style, asked, "go", "t")][-1] == "end"
    assert asked.state("t").final_response == "3"


@pytest.mark.parametrize("id", ["", "  "])
def test_a_blank_thread_id_is_refused(id: str) -> None:
    asked, _ = agent()
    with pytest.raises(ValueError, match="memory id"):
        asked.invoke("a", id)


@both
def test_what_a_run_needed_is_freed_without_the_collector(style: str) -> None:
    seen: list[ref[Any]] = []

    class Fresh:
        def provide(self, request: Any) -> list[Any]:
            def look() -> str:
                return "seen"

            seen.append(ref(look))
            return [look]

    asked, _ = agent(call("look"), "done", tool_providers=[Fresh()])
    gc.collect()
    gc.disable()
    try:
        assert calls(style, asked, "invoke", "go").final_response == "done"
        assert [reference() for reference in seen] == [None] * len(seen)
    finally:
        gc.enable()
    assert seen
