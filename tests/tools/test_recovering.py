"""What a crashed process left in the log is undone: each call once, the last one first, by one recoverer."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest

from aiservices import InMemoryStore, StoreError, ToolContext, ToolExecution, arecover, recover, tool
from aiservices.tools import Recovery
from aiservices.tools.leases import LEASES
from aiservices.tools.log import CALLS, Logged

from .calling import World


@pytest.fixture(params=["blocking", "asynchronous"])
def recovers(request: pytest.FixtureRequest) -> Callable[..., Recovery]:
    if request.param == "blocking":
        return recover
    return lambda log, tools, **options: asyncio.run(arecover(log, tools, **options))


def left(
    store: InMemoryStore,
    key: str,
    what: str,
    order: int | None = None,
    result: Any = None,
    name: str = "book",
) -> None:
    """Leave a call in the log as a process that crashed."""
    arguments = json.dumps({"what": what})
    entry = Logged(name, "c" + what, arguments, f"key-{what}", "Desk", order, result)
    store.put(CALLS, key, entry.value)


def test_an_empty_log_has_nothing_to_undo(recovers: Any) -> None:
    assert recovers(InMemoryStore(), []) == Recovery((), ())


def test_calls_are_undone_in_reverse_and_those_without_an_outcome_first(recovers: Any) -> None:
    store, world = InMemoryStore(), World()
    world.standing = ["a", "b", "c", "d"]
    left(store, "i/000000.0", "a", 2, "#a")
    left(store, "i/000001.0", "b", 1, "#b")
    left(store, "i/000002.0", "c")
    left(store, "i/000003.0", "d")
    recovery = recovers(store, [world.tool()])
    assert world.log == ["cancel d None", "cancel c None", "cancel a #a", "cancel b #b"]
    assert [execution.call.id for execution in recovery.undone] == ["cd", "cc", "ca", "cb"]
    assert recovery.failed == ()
    assert all(
        e.compensation.reason == "because the process ended before the invocation did"
        for e in recovery.undone
    )
    assert store.keys(CALLS) == store.keys(LEASES) == []
    assert recovers(store, [world.tool()]) == Recovery((), ())


def test_invocations_that_live_are_left_alone(recovers: Any) -> None:
    store, world = InMemoryStore(), World()
    world.standing = ["a", "b"]
    left(store, "dead/000000.0", "a", 1)
    left(store, "living/000000.0", "b", 1)
    store.put(LEASES, "living", {}, expires_in=30)
    assert len(recovers(store, [world.tool()]).undone) == 1
    assert world.standing == ["b"]
    store.delete(LEASES, "living")  # as if it had run out
    assert len(recovers(store, [world.tool()]).undone) == 1
    assert world.standing == []


def test_a_success_that_was_being_forgotten_is_forgotten(recovers: Any) -> None:
    store, world = InMemoryStore(), World()
    world.standing = ["a", "b", "c"]
    left(store, "i/000001.0", "b", 2)
    left(store, "i/000002.0", "c", 3)
    store.put(CALLS, "i/committed", {"format": 1, "gone": ["i/000000.0", "i/000001.0"]})
    recovery = recovers(store, [world.tool()])
    assert [execution.call.id for execution in recovery.undone] == ["cc"]
    assert world.standing == ["a", "b"]
    assert store.keys(CALLS) == []


@dataclass
class Booking:
    id: str
    price: Decimal


def test_undos_get_what_they_were_made_for(recovers: Any) -> None:
    got: list[Any] = []

    @tool
    def book(what: str) -> Booking:
        raise NotImplementedError

    @book.compensation
    async def cancel(
        what: str, result: Booking | None, execution: ToolExecution, context: ToolContext
    ) -> None:
        got.extend([what, result, execution.value, context.idempotency_key, context.service])

    store = InMemoryStore()
    left(store, "i/000000.0", "a", 1, {"id": "1", "price": "1.10"})
    (undone,) = recovers(store, [book]).undone
    booking = Booking("1", Decimal("1.10"))
    assert got == ["a", booking, booking, "key-a", "Desk"]
    assert undone.value == {"id": "1", "price": "1.10"}


def test_an_execution_has_the_type_that_the_tool_returns(recovers: Any) -> None:
    got: list[Any] = []

    @tool
    def book(what: str) -> Booking:
        raise NotImplementedError

    @book.compensation
    def cancel(execution: ToolExecution) -> None:
        got.append(execution.value)

    store = InMemoryStore()
    left(store, "i/000000.0", "a", 1, {"id": "1", "price": "1.10"})
    recovers(store, [book])
    assert got == [Booking("1", Decimal("1.10"))]


def test_what_cannot_be_undone_stays_and_is_reported_and_the_rest_is_undone(recovers: Any) -> None:
    store, world = InMemoryStore(), World()
    world.standing = ["a"]

    @tool
    def stubborn(what: str) -> str:
        return what

    @stubborn.compensation
    def refuse(what: str) -> None:
        raise OSError("no")

    left(store, "i/000000.0", "a", 1, "#a")
    left(store, "i/000001.0", "b", 2, name="unknown")
    left(store, "i/000002.0", "c", 3, name="stubborn")
    left(store, "i/000003.0", "d", 4, {"not": "a text"})
    store.put(CALLS, "i/000004.0", {"format": 99})
    store.put(CALLS, "i/000005.0", "damaged")
    recovery = recovers(store, [world.tool(), stubborn])
    assert [execution.call.id for execution in recovery.undone] == ["ca"]
    reasons = {e.call.id: str(e.compensation.error) for e in recovery.failed if e.compensation}
    assert "no tool 'unknown' with a compensation" in reasons["cb"]
    assert reasons["cc"] == "no"
    assert "validation error" in reasons["cd"]
    assert "form that this version does not know" in reasons["i/000004.0"]
    assert "form that this version does not know" in reasons["i/000005.0"]
    assert len(store.keys(CALLS)) == 5
    assert store.keys(LEASES) == []


def test_a_tool_without_a_compensation_is_no_help(recovers: Any) -> None:
    def book(what: str) -> str:
        return what

    store = InMemoryStore()
    left(store, "i/000000.0", "a", 1)
    assert len(recovers(store, [book]).failed) == 1


def test_two_at_once_undo_each_call_once(recovers: Any) -> None:
    store, undone = InMemoryStore(), list[str]()

    @tool
    def book(what: str) -> str:
        return what

    @book.compensation
    def cancel(what: str) -> None:
        threading.Event().wait(0.002)
        undone.append(what)

    for invocation in range(5):
        for number in range(4):
            left(store, f"{invocation}/{number:06d}.0", f"{invocation}-{number}", number + 1)
    threads = [threading.Thread(target=recovers, args=(store, [book])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(undone) == len(set(undone)) == 20
    assert store.keys(CALLS) == store.keys(LEASES) == []
    for invocation in range(5):
        own = [what for what in undone if what.startswith(f"{invocation}-")]
        assert own == sorted(own, reverse=True)


def test_a_store_that_is_down_is_told(recovers: Any) -> None:
    class Down(InMemoryStore):
        def keys(self, namespace: str, prefix: str = "") -> list[str]:
            raise StoreError("down", namespace=namespace)

    with pytest.raises(StoreError, match="down"):
        recovers(Down(), [])


def test_recovering_that_is_cancelled_gives_its_claim_back() -> None:
    store = InMemoryStore()

    @tool
    def book(what: str) -> str:
        return what

    @book.compensation
    async def cancel(what: str) -> None:
        await asyncio.sleep(5)

    left(store, "i/000000.0", "a", 1)

    async def main() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(arecover(store, [book]), 0.05)

    asyncio.run(main())
    assert store.keys(CALLS) == ["i/000000.0"]
    assert store.keys(LEASES) == []


def test_tools_are_given_as_they_are_to_a_service() -> None:
    class Desk:
        def __init__(self) -> None:
            self.cancelled: list[str] = []

        @tool
        def book(self, what: str) -> str:
            return what

        @book.compensation
        def cancel(self, what: str) -> None:
            self.cancelled.append(what)

    store, desk = InMemoryStore(), Desk()
    left(store, "i/000000.0", "a", 1)
    assert len(recover(store, [desk]).undone) == 1
    assert desk.cancelled == ["a"]
