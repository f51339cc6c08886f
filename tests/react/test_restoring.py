"""Threads that another executor takes up, from what a store holds of them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aiservices import InMemoryStore, ReturnBehavior, SqlStore, Store, StoreError, tool
from aiservices.react import Approve, Channel
from tests.react.asking import STYLES, agent, call, calls, short

both = pytest.mark.parametrize("style", STYLES)


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "memory":
        yield InMemoryStore()
    else:
        with SqlStore(f"{tmp_path}/threads.db") as opened:
            yield opened


def add(a: int, b: int) -> int:
    return a + b


@both
def test_a_thread_is_what_it_was_for_another_executor(style: str, store: Store) -> None:
    """AJ-40, AJ-41: the store knows it by its id, and a later turn goes on under that."""
    options: dict[str, Any] = {
        "tools": [add],
        "channels": {"who": Channel(default="ann")},
        "checkpointer": store,
    }
    first, _ = agent(call("add", a=1, b=2), "3", **options)
    session = first.new_session()
    calls(style, session, "invoke", "1 + 2?")
    first.update(session.id, {"who": "bob"})
    assert session.id in store.keys("aiservices.react.threads")
    later, _ = agent("Yes.", **options)
    assert calls(style, later, "state", session.id) == session.state()
    assert calls(style, later, "history", session.id) == first.history(session.id)
    state = calls(style, later, "invoke", "Sure?", session.id)
    assert (state.thread_id, state.who) == (session.id, "bob")
    assert short(state.messages) == ["U:1 + 2?", "A?c1", "R:3", "A:3", "U:Sure?", "A:Yes."]
    assert len(later.history(session.id)) == 7


@both
def test_what_was_answered_is_not_asked_again_and_what_is_taken_back_is(style: str, store: Store) -> None:
    """AJ-103"""
    first, _ = agent(call("add", a=1, b=2), "3", tools=[add], checkpointer=store)
    done = calls(style, first, "invoke", "go", "t")
    later, model = agent("three", tools=[add], checkpointer=store)
    assert calls(style, later, "resume", "t") == done
    assert model.requests == []
    before = later.history("t")[1].version
    assert calls(style, later, "resume", "t", version=before).final_response == "three"
    assert len(model.requests) == 1


@both
@pytest.mark.parametrize("first_is_gone", [True, False])
def test_a_finished_call_needs_its_tool_no_more(style: str, store: Store, first_is_gone: bool) -> None:
    """The next release may do without a tool whose call had ended when the run began to wait."""

    def look() -> str:
        return "seen"

    @tool(returns=ReturnBehavior.IMMEDIATE)
    def pay() -> str:
        return "paid"

    wanted = [call("look", "c1"), call("pay", "c2")]
    ordered = wanted if first_is_gone else wanted[::-1]
    options: dict[str, Any] = {"approvals": {"pay": True}, "checkpointer": store}
    before, _ = agent(ordered, tools=[look, pay], **options)
    calls(style, before, "invoke", "go", "t")
    after, _ = agent("Done.", tools=[pay], **options)
    state = calls(style, after, "resume", "t", Approve())
    told = ["R:seen", "R:paid"] if first_is_gone else ["R:paid", "R:seen"]
    assert short(state.messages)[2:] == [*told, "A:Done."]


class Breaking(InMemoryStore):
    """Breaks off the first note of a call that has ended."""

    def __init__(self, how: Any) -> None:
        super().__init__()
        self.how = how

    def put(self, namespace: str, key: str, value: Any, **options: Any) -> int:
        if namespace == "aiservices.react.calls" and self.how is not None:
            how, self.how = self.how, None
            raise how("down", namespace=namespace, key=key) if how is StoreError else how
        return super().put(namespace, key, value, **options)


@both
@pytest.mark.parametrize("parallel", [True, False])
@pytest.mark.parametrize("how", [StoreError, asyncio.CancelledError, KeyboardInterrupt])
def test_a_call_whose_note_was_broken_off_is_not_run_again(style: str, how: Any, parallel: bool) -> None:
    ran: list[int] = []

    def note(n: int) -> int:
        ran.append(n)
        return n

    asked, _ = agent(
        [call("note", "c1", n=1), call("note", "c2", n=2)],
        "ok",
        tools=[note],
        checkpointer=Breaking(how),
        parallel_tools=parallel,
    )
    with pytest.raises(how):
        calls(style, asked, "invoke", "go", "t")
    state = calls(style, asked, "resume", "t")
    assert short(state.messages) == ["U:go", "A?c1,c2", "R:1", "R:2", "A:ok"]
    assert sorted(ran) == [1, 2]
