"""Threads: what is kept of them, how they go on, and how they are forgotten."""

from __future__ import annotations

import asyncio
import copy
import gc
import pickle
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from threading import Event
from typing import Any
from weakref import ref

import pytest

from aiservices import (
    AgentError,
    AiMessage,
    ChatModel,
    ChatRequest,
    ChatResponse,
    ConfigurationError,
    ConflictError,
    InMemoryStore,
    MemoryInUseError,
    SqlStore,
    Store,
    StoreError,
    UserMessage,
)
from aiservices.react import AgentState, Channel, StopReason, react
from aiservices.testing import ScriptedChatModel
from tests.react.asking import STYLES, agent, assert_paired, call, calls, outputs, short

both = pytest.mark.parametrize("style", STYLES)


def add(a: int, b: int) -> int:
    return a + b


@pytest.fixture(params=["process", "memory", "sqlite"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[dict[str, Any]]:
    """The option that says where threads are kept."""
    if request.param == "process":
        yield {}
    elif request.param == "memory":
        yield {"checkpointer": InMemoryStore()}
    else:
        with SqlStore(f"{tmp_path}/threads.db") as store:
            yield {"checkpointer": store}


@both
def test_a_thread_remembers_its_turns_and_each_has_its_own_answer(style: str, kept: dict[str, Any]) -> None:
    """LG-94, LG-95, LG-96"""
    asked, model = agent(
        call("add", a=1, b=1), "two", call("add", a=2, b=2), "four", "just so", tools=[add], **kept
    )
    assert calls(style, asked, "invoke", "1 + 1?", "t").final_response == "two"
    assert len(model.requests) == 2
    assert calls(style, asked, "invoke", "2 + 2?", "t").final_response == "four"
    assert len(model.requests) == 4
    state = calls(style, asked, "invoke", "sure?", "t")
    assert state.final_response == "just so"
    assert_paired(state.messages)
    assert short(state.messages) == [
        "U:1 + 1?",
        "A?c1",
        "R:2",
        "A:two",
        "U:2 + 2?",
        "A?c1-2",
        "R:4",
        "A:four",
        "U:sure?",
        "A:just so",
    ]
    assert calls(style, asked, "state", "t") == state


def test_the_final_response_is_cleared_when_a_turn_begins(kept: dict[str, Any]) -> None:
    asked, _ = agent("one", "two", **kept)
    asked.invoke("a", "t")
    first = next(iter(asked.stream("b", "t")))
    assert (first.node, first.state.final_response, first.state.stop_reason) == ("start", None, None)


@both
def test_without_a_thread_each_run_begins_anew(style: str, kept: dict[str, Any]) -> None:
    asked, model = agent("one", "two", **kept)
    first, second = (calls(style, asked, "invoke", text) for text in ("a", "b"))
    assert first.thread_id != second.thread_id
    assert len(model.requests[1].messages) == 1
    assert calls(style, asked, "state", first.thread_id) == first
    assert [item.node for item in asked.history(first.thread_id)] == ["agent", "start"]


def test_an_unnamed_thread_can_be_continued_by_its_name(kept: dict[str, Any]) -> None:
    asked, model = agent("one", "two", **kept)
    state = asked.invoke("a")
    asked.invoke("b", state.thread_id)
    assert short(model.requests[1].messages) == ["U:a", "A:one", "U:b"]


@both
def test_the_history_tells_every_step_newest_first(style: str, kept: dict[str, Any]) -> None:
    """LG-67"""
    asked, _ = agent(call("add", a=1, b=2), "3", tools=[add], **kept)
    calls(style, asked, "invoke", "go", "t")
    history = calls(style, asked, "history", "t")
    assert [(item.node, item.next, item.version) for item in history] == [
        ("agent", "end", 4),
        ("action", "agent", 3),
        ("agent", "action", 2),
        ("start", "agent", 1),
    ]
    assert [len(item.state.messages) for item in history] == [4, 3, 2, 1]
    assert history[0].state == asked.state("t")


def test_what_is_not_there_is_an_error_or_nothing(kept: dict[str, Any]) -> None:
    asked, _ = agent(**kept)
    assert asked.history("t") == []
    assert asked.release("t") is False
    for ask in (asked.state, asked.resume):
        with pytest.raises(AgentError, match="there is no thread 't'"):
            ask("t")
    with pytest.raises(AgentError, match="there is no thread 't'"):
        asked.update("t", {})


@both
def test_a_finished_thread_is_resumed_without_a_call(style: str, kept: dict[str, Any]) -> None:
    """LG-68"""
    asked, model = agent("one", **kept)
    state = calls(style, asked, "invoke", "a", "t")
    assert calls(style, asked, "resume", "t") == state
    assert len(model.requests) == 1
    assert len(asked.history("t")) == 2


@both
def test_a_run_that_failed_goes_on_where_it_was(style: str, kept: dict[str, Any]) -> None:
    """LG-29"""
    ran: list[int] = []

    def note(n: int) -> str:
        ran.append(n)
        return f"noted {n}"

    asked, model = agent(call("note", n=1), OSError("down"), "done", tools=[note], **kept)
    with pytest.raises(OSError, match="down") as caught:
        calls(style, asked, "invoke", "go", "t")
    assert caught.value.__notes__ == ["in a run of 'agent' on thread 't', after the node 'action'"]
    state = calls(style, asked, "resume", "t")
    assert short(state.messages) == ["U:go", "A?c1", "R:noted 1", "A:done"]
    assert ran == [1]
    assert model.requests[1].messages == model.requests[2].messages


@both
def test_a_thread_can_go_on_from_any_version(style: str, kept: dict[str, Any]) -> None:
    ran: list[int] = []

    def note(n: int) -> str:
        ran.append(n)
        return f"noted {n}"

    asked, _ = agent(call("note", n=1), "first", "second", "third", tools=[note], **kept)
    asked.invoke("go", "t")
    state = calls(style, asked, "resume", "t", version=3)
    assert (state.final_response, ran) == ("second", [1])
    state = calls(style, asked, "resume", "t", version=2)
    assert (state.final_response, ran) == ("third", [1, 1])
    versions = [item.version for item in asked.history("t")]
    assert versions == list(range(len(versions), 0, -1))
    with pytest.raises(AgentError, match="no version 99"):
        asked.resume("t", version=99)


@both
def test_an_update_writes_as_a_node_would(style: str, kept: dict[str, Any]) -> None:
    """LG-69, LG-75, LG-79"""
    asked, model = agent(
        "one", "two", channels={"log": Channel(lambda old, new: old + new, default=list)}, **kept
    )
    calls(style, asked, "invoke", "a", "t")
    saved = calls(style, asked, "update", "t", {"log": ["x"]})
    assert (saved.node, saved.next, saved.state.log) == ("agent", "end", ["x"])
    assert asked.resume("t").log == ["x"]
    saved = calls(style, asked, "update", "t", {"messages": UserMessage("b"), "log": ["y"]}, as_node="start")
    assert (saved.next, saved.state.stop_reason) == ("agent", None)
    state = calls(style, asked, "resume", "t")
    assert short(state.messages) == ["U:a", "A:one", "U:b", "A:two"]
    assert state.log == ["x", "y"]
    assert len(model.requests) == 2


def test_an_update_as_the_agent_leads_on_to_its_calls(kept: dict[str, Any]) -> None:
    asked, _ = agent("one", "3", tools=[add], **kept)
    asked.invoke("a", "t")
    saved = asked.update("t", {"messages": AiMessage(tool_calls=[call("add", a=1, b=2)])}, as_node="agent")
    assert saved.next == "action"
    assert short(asked.resume("t").messages) == ["U:a", "A:one", "A?c1", "R:3", "A:3"]
    assert asked.update("t", {}, as_node="agent").next == "end"
    assert asked.update("t", {}, as_node="end").next == "end"


def test_an_update_of_what_is_not_there_is_refused(kept: dict[str, Any]) -> None:
    asked, _ = agent("one", **kept)
    asked.invoke("a", "t")
    with pytest.raises(ConfigurationError, match="no node 'nope'"):
        asked.update("t", {}, as_node="nope")
    with pytest.raises(ConfigurationError, match="no channel 'nope'; there are: messages"):
        asked.update("t", {"nope": 1})
    assert len(asked.history("t")) == 2


@both
def test_a_released_thread_is_gone(style: str, kept: dict[str, Any]) -> None:
    """LG-73"""
    asked, model = agent(call("add", a=1, b=2), "3", "anew", tools=[add], **kept)
    calls(style, asked, "invoke", "a", "t")
    assert calls(style, asked, "release", "t") is True
    assert asked.history("t") == []
    calls(style, asked, "invoke", "b", "t")
    assert short(model.requests[2].messages) == ["U:b"]
    if kept:
        store = kept["checkpointer"]
        asked.release("t")
        assert not [
            key
            for name in ("threads", "checkpoints", "calls")
            for key in store.keys(f"aiservices.react.{name}")
        ]


@both
def test_threads_may_be_released_when_a_run_ends_well(style: str, kept: dict[str, Any]) -> None:
    """LG-78"""
    asked, _ = agent(
        OSError("down"),
        "fine",
        call("add", a=1, b=2),
        tools=[add],
        approvals={"add": True},
        release_thread=True,
        **kept,
    )
    with pytest.raises(OSError):
        calls(style, asked, "invoke", "a", "t")
    assert asked.history("t")
    assert calls(style, asked, "resume", "t").final_response == "fine"
    assert asked.history("t") == []
    assert calls(style, asked, "invoke", "b", "t").stop_reason is StopReason.INTERRUPTED
    assert asked.history("t")


def test_a_turn_that_was_left_open_is_closed_by_the_next(kept: dict[str, Any]) -> None:
    asked, model = agent(call("add", a=1, b=2), "never mind", tools=[add], approvals={"add": True}, **kept)
    asked.invoke("a", "t")
    state = asked.invoke("forget it", "t")
    assert_paired(state.messages)
    assert state.pending == ()
    assert "went on without it" in short(model.requests[1].messages)[2]


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
    with pytest.raises(MemoryInUseError):
        asked.invoke("b", "t")
    assert asked.invoke("b", "other").final_response == "one"
    assert [output.node for output in stream] == ["agent", "end"]
    assert asked.invoke("c", "t").final_response == "three"


def test_who_reads_an_asynchronous_stream_cannot_either(kept: dict[str, Any]) -> None:
    asked, _ = agent("one", "two", **kept)

    async def read() -> None:
        async for output in asked.astream("a", "t"):
            if output.node == "start":
                with pytest.raises(MemoryInUseError):
                    await asked.ainvoke("b", "t")
        assert (await asked.ainvoke("c", "t")).final_response == "two"

    asyncio.run(read())


@both
def test_a_cancelled_run_goes_on_when_it_is_resumed(style: str, kept: dict[str, Any]) -> None:
    """AJ-09, LG-91, NX-10"""
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

    async def cancelled() -> None:
        task = asyncio.create_task(asked.ainvoke("go", "t"))
        await entered.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    state = calls(style, asked, "resume", "t")
    assert short(state.messages) == ["U:go", "A?c1,c2", "R:3", "R:at last", "A:done"]


def test_what_others_do_to_a_state_does_not_reach_its_checkpoint(kept: dict[str, Any]) -> None:
    """AGT-13"""

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


def test_a_checkpoint_of_another_version_is_not_guessed_at() -> None:
    """NX-15"""
    store = InMemoryStore()
    asked, _ = agent("one", checkpointer=store)
    asked.invoke("a", "t")
    key = store.keys("aiservices.react.checkpoints")[-1]
    entry = store.get("aiservices.react.checkpoints", key)
    assert entry is not None
    store.put("aiservices.react.checkpoints", key, {**entry.value, "format": 2})
    with pytest.raises(StoreError, match="a form that this version does not know"):
        asked.state("t")


def test_two_processes_cannot_both_continue_a_thread(tmp_path: Path) -> None:
    """Two stores of one database stand for two processes: they share no lock."""
    with SqlStore(f"{tmp_path}/threads.db") as one, SqlStore(f"{tmp_path}/threads.db") as two:
        other, _ = agent("theirs", checkpointer=two)

        def meanwhile(request: ChatRequest) -> str:
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
    from aiservices.react import Approve

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
