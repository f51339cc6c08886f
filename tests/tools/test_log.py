"""The durable log of an invocation: the intent before a tool, its outcome after it, nothing in the end."""

from __future__ import annotations

import asyncio
import threading
import time
from functools import partial
from typing import Any

import pytest

import aiservices
from aiservices import (
    InMemoryStore,
    LimitExceededError,
    Limits,
    StoreError,
    Tool,
    ToolError,
    recover,
    tool,
)
from aiservices.driving import BLOCKING
from aiservices.pipeline import STAGES
from aiservices.stages import roll_back
from aiservices.tools.leases import LEASES, Lease
from aiservices.tools.log import CALLS, CompensationLog

from .calling import Invoke, World, boom, call, service, within
from .watching import WatchedStore

KINDS = ("blocking", "asynchronous")


def test_one_call_is_written_before_and_after_and_forgotten_in_the_end(invoke: Invoke) -> None:
    store, world = WatchedStore(), World()

    def book(what: str) -> str:
        (key,) = store.keys(CALLS)
        entry = store.get(CALLS, key)
        assert entry is not None
        assert entry.value["result"] is None
        assert entry.value["tool"] == "book"
        return world.book(what)

    made = tool(book)
    made.compensation(world.cancel)
    asked, _ = service(call("book", what="a"), "ok", tools=[made], compensation_log=store)
    assert invoke(asked, "ask", "hi").content == "ok"
    assert store.log == ["put lease", "put 000000.0", "put 000000.0 done", "delete 000000.0", "delete lease"]
    assert store.left == []


def test_several_successes_are_forgotten_as_one(invoke: Invoke) -> None:
    """One write says that all are to be forgotten: a crash after it undoes none, one before it all."""
    store, world = WatchedStore(), World()
    asked, _ = service(
        [call("book", "1", what="a"), call("book", "2", what="b")],
        "ok",
        tools=[world.tool()],
        compensation_log=store,
        parallel_tools=False,
    )
    invoke(asked, "ask", "hi")
    first = store.log.index("put committed")
    assert store.log[first:] == [
        "put committed",
        "delete 000000.0",
        "delete 000001.0",
        "delete committed",
        "delete lease",
    ]
    assert store.left == []


def test_a_round_side_by_side_takes_one_lease(invoke: Invoke) -> None:
    store, world = WatchedStore(), World()
    calls = [call("book", str(i), what=str(i)) for i in range(8)]
    asked, _ = service(calls, "ok", tools=[world.tool(seconds=0.01)], compensation_log=store)
    assert invoke(asked, "ask", "hi").content == "ok"
    assert store.log.count("put lease") == 1
    assert len(world.standing) == 8


def test_calls_without_an_undo_leave_the_store_alone(invoke: Invoke) -> None:
    store, world = WatchedStore(), World()
    asked, _ = service(call("boom"), "ok", tools=[world.tool(), boom], compensation_log=store)
    invoke(asked, "ask", "hi")
    assert store.log == []


def test_what_failed_and_what_was_undone_is_forgotten_at_once(invoke: Invoke) -> None:
    store, world = WatchedStore(), World()

    @tool
    def fail() -> str:
        raise ToolError("no")

    fail.compensation(lambda: None)
    asked, _ = service(
        [call("book", what="a"), call("fail")],
        "ok",
        tools=[world.tool(), fail],
        compensation="tool_error",
        compensation_log=store,
        parallel_tools=False,
    )
    invoke(asked, "ask", "hi")
    assert store.log[1:] == [
        "put 000000.0",
        "put 000000.0 done",
        "put 000001.0",
        "delete 000001.0",
        "delete 000000.0",
        "delete lease",
    ]
    assert world.log == ["book a", "cancel a #a"]


@pytest.mark.parametrize("failing", ["put lease", "put 000000.0"])
def test_a_tool_whose_intent_cannot_be_written_does_not_run(invoke: Invoke, failing: str) -> None:
    store, world = WatchedStore(), World()
    store.fail = lambda done: done == failing
    calls = [call("book", what="a"), call("boom")]
    asked, model = service(calls, tools=[world.tool(), boom], compensation_log=store)
    with pytest.raises(StoreError, match="the store is down") as caught:
        invoke(asked, "ask", "hi")
    assert world.log == []
    assert [execution.is_error for execution in caught.value.tool_executions] == [True, True]
    assert len(model.requests) == 1


def test_an_interceptor_cannot_hide_that_the_intent_could_not_be_written(invoke: Invoke) -> None:
    class Soothing:
        def around(self, asked: Any, context: Any, proceed: Any) -> Any:
            for _ in range(2):
                try:
                    return proceed(asked)
                except Exception:
                    continue
            return aiservices.ToolOutcome("all is well")

    store, world = WatchedStore(), World()
    store.fail = lambda done: done == "put 000000.0"
    asked, _ = service(
        call("book", what="a"), tools=[world.tool()], compensation_log=store, interceptors=[Soothing()]
    )
    with pytest.raises(StoreError):
        invoke(asked, "ask", "hi")
    assert world.log == []


@pytest.mark.parametrize("failing", ["put 000000.0 done", "put committed", "delete 000001.0"])
def test_a_log_that_cannot_be_told_of_a_success_ends_the_call_and_all_is_undone(
    invoke: Invoke, failing: str
) -> None:
    """Otherwise `recover` would undo later what the caller relies on."""
    store, world = WatchedStore(), World()
    store.fail = lambda done: done == failing and store.log.count(failing) == 1
    calls = [call("book", "1", what="a"), call("book", "2", what="b")]
    asked, _ = service(calls, "ok", tools=[world.tool()], compensation_log=store, parallel_tools=False)
    with pytest.raises(StoreError, match="the store is down"):
        invoke(asked, "ask", "hi")
    assert world.standing == []
    assert recover(store, [world.tool()]).undone == ()
    assert store.left == []


def test_what_ended_the_call_is_not_hidden_by_a_log_that_is_down(invoke: Invoke) -> None:
    store, world = WatchedStore(), World()

    def down(request: Any) -> Any:
        store.fail = lambda done: True
        raise OSError("the model is down")

    asked, _ = service(call("book", what="a"), down, tools=[world.tool()], compensation_log=store)
    with pytest.raises(OSError, match="the model is down") as caught:
        invoke(asked, "ask", "hi")
    assert "compensation log could not be told" in caught.value.__notes__[0]
    assert world.log == ["book a", "cancel a #a"]


def test_an_undo_that_failed_stays_in_the_log_for_recover(invoke: Invoke) -> None:
    store, world, broken = WatchedStore(), World(), [True]

    def cancel(what: str, result: str | None) -> None:
        if broken:
            raise OSError
        world.cancel(what, result)

    made: Tool[..., Any] = aiservices.tool(name="book")(world.book)
    made.compensation(cancel)
    asked, _ = service(
        [call("book", what="a"), call("boom")],
        "ok",
        tools=[made, boom],
        compensation="tool_error",
        compensation_log=store,
    )
    assert invoke(asked, "ask", "hi").content == "ok"
    assert len(store.keys(CALLS)) == 1
    assert store.keys(LEASES) == []
    broken.clear()
    assert [execution.value for execution in recover(store, [made]).undone] == ["#a"]
    assert (world.standing, store.left) == ([], [])


def test_a_value_that_json_cannot_hold_is_kept_as_nothing(invoke: Invoke) -> None:
    store = WatchedStore()
    looped: list[Any] = []
    looped.append(looped)
    for value in (object(), b"\xff", looped, "\ud83d", float("nan")):

        @tool
        def book() -> Any:
            return aiservices.ToolOutcome("ok", value=value)  # noqa: B023

        book.compensation(lambda: None)
        asked, _ = service(call("book"), "ok", tools=[book], compensation_log=store)
        assert invoke(asked, "ask", "hi").content == "ok"


# Calls that were broken off


def test_with_a_log_a_cancelled_call_counts_as_one_that_may_have_run(invoke: Invoke) -> None:
    """The request may have reached whoever books: the undo looks, by the idempotency key."""
    store, undone = WatchedStore(), list[Any]()

    @tool(timeout=0.03)
    async def book(what: str) -> str:
        await asyncio.sleep(5)
        return what

    @book.compensation
    def cancel(what: str, result: str | None, context: aiservices.ToolContext) -> None:
        undone.append((what, result, context.idempotency_key))

    asked, _ = service(call("book", what="a"), "ok", tools=[book], compensation_log=store)
    result = invoke(asked, "ask", "hi")
    assert within(2, lambda: store.left == [])
    ((what, given, key),) = undone
    assert (what, given) == ("a", None)
    assert key.endswith(":book")
    assert result.tool_executions[0].is_error


def test_the_lease_is_held_until_a_late_call_has_ended(invoke: Invoke) -> None:
    store, world, release = WatchedStore(), World(), threading.Event()

    @tool(timeout=0.03)
    def book(what: str) -> str:
        release.wait(5)
        return world.book(what)

    book.compensation(world.cancel)
    asked, _ = service(call("book", what="a"), "ok", tools=[book], compensation_log=store)
    invoke(asked, "ask", "hi")
    assert len(store.keys(CALLS)) == len(store.keys(LEASES)) == 1
    assert recover(store, [book]).undone == ()
    release.set()
    assert within(2, lambda: store.left == [])
    assert world.log == ["book a", "cancel a #a"]
    assert store.log[-3:] == ["put 000000.0 done", "delete 000000.0", "delete lease"]


# Leases


def test_the_next_tool_does_not_run_when_the_lease_was_lost(invoke: Invoke) -> None:
    store, world = InMemoryStore(), World()

    def robbed(request: Any) -> Any:
        (key,) = store.keys(LEASES)
        store.put(LEASES, key, "somebody else")
        return call("book", "2", what="b")

    quick = tuple(partial(stage, lease_seconds=0.15) if stage is roll_back else stage for stage in STAGES)

    def slowly(request: Any) -> Any:
        answer = robbed(request)
        time.sleep(0.1)
        return answer

    asked, _ = service(
        call("book", "1", what="a"), slowly, tools=[world.tool()], compensation_log=store, stages=quick
    )
    with pytest.raises(StoreError, match="was lost"):
        invoke(asked, "ask", "hi")
    assert world.log == ["book a", "cancel a #a"]
    assert len(store.keys(LEASES)) == 1, "the lease of somebody else is not ours to delete"


class TestALease:
    def test_is_renewed_while_it_is_held(self) -> None:
        store = InMemoryStore()
        lease = Lease(store, "1", 0.09)
        lease.take()
        time.sleep(0.25)
        lease.check()
        assert store.keys(LEASES) == ["1"]
        lease.leave()
        assert store.keys(LEASES) == []

    def test_survives_a_store_that_is_down_for_a_moment(self) -> None:
        store = WatchedStore()
        lease = Lease(store, "1", 0.3)
        lease.take()
        store.fail = lambda done: len(store.log) == 2
        time.sleep(0.35)
        lease.check()
        lease.leave()

    def test_is_lost_when_it_could_not_be_renewed_in_time(self) -> None:
        store = WatchedStore()
        lease = Lease(store, "1", 0.06)
        lease.take()
        store.fail = lambda done: done == "put lease"
        time.sleep(0.1)
        with pytest.raises(StoreError, match=r"invocation 1 was lost .*the store is down"):
            lease.check()
        lease.leave()

    def test_can_be_taken_by_one_only(self) -> None:
        store = InMemoryStore()
        first, second = Lease(store, "1"), Lease(store, "1")
        first.take()
        with pytest.raises(aiservices.ConflictError):
            second.take()
        first.leave()
        second.take()
        second.leave()


def test_two_threads_may_intend_at_once() -> None:
    class Slow(InMemoryStore):
        def put(self, *args: Any, **options: Any) -> int:
            time.sleep(0.01)
            return super().put(*args, **options)

    store = Slow()
    log = CompensationLog(store, BLOCKING, "i", "s")
    jobs = [log.intend(str(i), call("book", what="a"), "k") for i in range(4)]
    BLOCKING.run(BLOCKING.gather(jobs))
    assert len(store.keys(CALLS)) == 4
    BLOCKING.run(log.close(keep=()))
    assert store.keys(CALLS) == store.keys(LEASES) == []


def test_a_tool_does_not_run_when_its_intent_was_written_too_late(invoke: Invoke) -> None:
    class SlowStore(WatchedStore):
        def put(self, namespace: str, key: str, value: Any, **options: Any) -> int:
            time.sleep(0.08)
            return super().put(namespace, key, value, **options)

    store, world = SlowStore(), World()
    asked, _ = service(
        call("book", what="a"),
        "ok",
        tools=[world.tool()],
        compensation_log=store,
        limits=Limits(timeout=0.05),
    )
    with pytest.raises(LimitExceededError, match=r"Limits\.timeout"):
        invoke(asked, "ask", "hi")
    assert (world.log, store.left) == ([], [])
