"""What a tool does when its invocation has failed already."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any

import pytest

from aiservices import InMemoryStore, StoreError, TimeLimit, ToolOutcome, recover, tool
from aiservices.pipeline import STAGES
from aiservices.stages import roll_back
from aiservices.tools.leases import LEASES
from aiservices.tools.log import CALLS

from .calling import Invoke, World, boom, call, service, within


class Answering:
    """Answers in the place of a tool that takes too long."""

    def around(self, asked: Any, context: Any, proceed: Any) -> ToolOutcome:
        try:
            given: ToolOutcome = proceed(asked)
        except TimeoutError:
            return ToolOutcome("it is on its way")
        return given


def ask_with_a_late_tool(invoke: Invoke, book: Any, last: Any, log: Any, *, fails: bool) -> None:
    """Call a service whose tool outlives its call, which is answered in its place."""
    asked, _ = service(
        call("book", what="a"),
        last,
        tools=[book],
        interceptors=[Answering(), TimeLimit(0.02)],
        compensation_log=log,
    )
    with pytest.raises(OSError, match="down") if fails else nullcontext():
        invoke(asked, "ask", "hi")


@pytest.mark.parametrize("fails", [True, False])
@pytest.mark.parametrize("logged", [True, False])
def test_what_ends_after_the_invocation_has_failed_is_undone_too(
    invoke: Invoke, fails: bool, logged: bool
) -> None:
    world, go_on, store = World(), threading.Event(), InMemoryStore()

    @tool
    def book(what: str) -> str:
        go_on.wait(5)
        return world.book(what)

    book.compensation(world.cancel)

    def last(request: Any) -> str:
        if fails:
            raise OSError("the model is down")
        return "ok"

    ask_with_a_late_tool(invoke, book, last, store if logged else None, fails=fails)
    go_on.set()
    told = ["book a", "cancel a #a"] if fails else ["book a"]
    assert within(5, lambda: world.log == told)
    assert within(5, lambda: store.keys(CALLS) + store.keys(LEASES) == [])
    assert world.log == told


def test_an_undo_that_was_broken_off_is_run_again_when_the_invocation_fails(invoke: Invoke) -> None:
    world, interrupts = World(), [KeyboardInterrupt()]

    @tool
    def book(what: str) -> str:
        return world.book(what)

    @book.compensation
    def cancel(what: str, result: str) -> None:
        if interrupts:
            raise interrupts.pop()
        world.cancel(what, result)

    asked, _ = service([call("book", what="a"), call("boom")], tools=[book, boom], compensation="tool_error")
    with pytest.raises(KeyboardInterrupt):
        invoke(asked, "ask", "hi")
    assert world.log == ["book a", "cancel a #a"]


class BreakingStore(InMemoryStore):
    """Fails for a kind of write of calls."""

    def __init__(self, fails: Callable[[str, Any], bool]) -> None:
        super().__init__()
        self.fails = fails

    def put(self, namespace: str, key: str, value: Any, **options: Any) -> int:
        self._check("put", namespace, key, value)
        return super().put(namespace, key, value, **options)

    def delete(self, namespace: str, key: str, **options: Any) -> bool:
        self._check("delete", namespace, key, None)
        return super().delete(namespace, key, **options)

    def _check(self, did: str, namespace: str, key: str, value: Any) -> None:
        if namespace == CALLS and self.fails(did, value):
            raise StoreError("the store is down", namespace=namespace, key=key)


def test_what_came_late_is_undone_though_the_log_cannot_be_told_of_it(invoke: Invoke) -> None:
    world, go_on = World(), threading.Event()
    store = BreakingStore(lambda did, value: did == "put" and value["order"] is not None)

    @tool
    def book(what: str) -> str:
        go_on.wait(5)
        return world.book(what)

    book.compensation(world.cancel)
    asked, _ = service(
        call("book", what="a"), "ok", tools=[book], interceptors=[TimeLimit(0.02)], compensation_log=store
    )
    assert invoke(asked, "ask", "hi").content == "ok"
    go_on.set()
    assert within(5, lambda: world.log == ["book a", "cancel a #a"])
    assert within(5, lambda: store.keys(CALLS) + store.keys(LEASES) == [])


@pytest.mark.parametrize("fails", [True, False])
def test_what_came_late_stays_in_the_log_until_the_invocation_is_over(invoke: Invoke, fails: bool) -> None:
    """A crash meanwhile would leave it, and so would an undo that fails."""
    world, go_on, store, broken = World(), threading.Event(), InMemoryStore(), [True]

    @tool
    def book(what: str) -> str:
        go_on.wait(5)
        return world.book(what)

    @book.compensation
    def cancel(what: str, result: str | None) -> None:
        if broken:
            raise OSError
        world.cancel(what, result)

    def logged() -> list[Any]:
        entries = [store.get(CALLS, key) for key in store.keys(CALLS)]
        return [entry.value["result"] for entry in entries if entry is not None]

    def last(request: Any) -> str:
        go_on.set()
        assert within(5, lambda: logged() == ["#a"])
        if fails:
            raise OSError("the model is down")
        return "ok"

    ask_with_a_late_tool(invoke, book, last, store, fails=fails)
    assert within(5, lambda: store.keys(LEASES) == [])
    broken.clear()
    recover(store, [book])
    assert world.log == (["book a", "cancel a #a"] if fails else ["book a"])
    assert store.keys(CALLS) == []


def test_a_lease_is_not_renewed_for_ever_when_the_log_could_not_be_closed(invoke: Invoke) -> None:
    world, store = World(), BreakingStore(lambda did, value: did == "delete")

    def down(request: Any) -> str:
        raise OSError("the model is down")

    quick = tuple(partial(stage, lease_seconds=0.15) if stage is roll_back else stage for stage in STAGES)
    asked, _ = service(
        call("book", what="a"), down, tools=[world.tool()], compensation_log=store, stages=quick
    )
    with pytest.raises(OSError, match="down"):
        invoke(asked, "ask", "hi")
    assert within(5, lambda: store.keys(LEASES) == [])


def test_what_recover_is_to_undo_has_its_outcome_also_where_that_was_written_late(invoke: Invoke) -> None:
    world, down, broken = World(), [True], [True]
    store = BreakingStore(lambda did, value: did == "put" and value["order"] is not None and bool(down))

    @tool
    def book(what: str) -> str:
        return world.book(what)

    @book.compensation
    def cancel(what: str, result: str | None) -> None:
        down.clear()
        if broken:
            raise OSError
        world.cancel(what, result)

    asked, _ = service(call("book", what="a"), "ok", tools=[book], compensation_log=store)
    with pytest.raises(StoreError):
        invoke(asked, "ask", "hi")
    broken.clear()
    recover(store, [book])
    assert world.log == ["book a", "cancel a #a"]


def test_what_an_interrupted_roll_back_leaves_can_be_recovered_by_the_same_process(invoke: Invoke) -> None:
    world, store, interrupts = World(), InMemoryStore(), [KeyboardInterrupt()]

    @tool
    def book(what: str) -> str:
        return world.book(what)

    @book.compensation
    def cancel(what: str, result: str | None) -> None:
        if interrupts:
            raise interrupts.pop()
        world.cancel(what, result)

    def down(request: Any) -> str:
        raise OSError("the model is down")

    quick = tuple(partial(stage, lease_seconds=0.15) if stage is roll_back else stage for stage in STAGES)
    asked, _ = service(call("book", what="a"), down, tools=[book], compensation_log=store, stages=quick)
    with pytest.raises(KeyboardInterrupt):
        invoke(asked, "ask", "hi")
    assert within(5, lambda: store.keys(LEASES) == [])
    recover(store, [book])
    assert world.log == ["book a", "cancel a #a"]
    assert store.keys(CALLS) == []
