"""Runs of one thread in several processes: one after the other."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import pytest

from aiservices import Limits, MemoryInUseError, SqlStore, StoreError
from aiservices.react import react
from aiservices.react.stored_threads import LEASES
from aiservices.testing import ScriptedChatModel
from tests.react.asking import STYLES, agent, call, calls, short

both = pytest.mark.parametrize("style", STYLES)
OTHER = {"holder": "another process", "machine": None}


@both
def test_a_run_waits_until_the_other_process_has_ended_its_own(tmp_path: Path, style: str) -> None:
    with SqlStore(f"{tmp_path}/threads.db") as store:
        model = ScriptedChatModel("an answer")
        agent = react(chat_model=model, checkpointer=store)
        version = store.put(LEASES, "t", OTHER)
        said: list[str | None] = []

        def run() -> None:
            if style == "blocking":
                said.append(agent.invoke("hello", thread_id="t").final_response)
            else:
                said.append(asyncio.run(agent.ainvoke("hello", thread_id="t")).final_response)

        running = threading.Thread(target=run)
        running.start()
        running.join(0.2)
        assert running.is_alive()
        assert model.requests == []
        store.delete(LEASES, "t", expected_version=version)
        running.join(30)
        assert said == ["an answer"]
        assert store.keys(LEASES) == []


def test_it_waits_no_longer_than_a_run_may_take(tmp_path: Path) -> None:
    with SqlStore(f"{tmp_path}/threads.db") as store:
        store.put(LEASES, "t", OTHER)
        model = ScriptedChatModel()
        agent = react(chat_model=model, checkpointer=store, limits=Limits(timeout=0.05))
        with pytest.raises(MemoryInUseError, match="been in use by another process"):
            agent.invoke("hello", thread_id="t")
        with pytest.raises(MemoryInUseError, match="another process"):  # nobody keeps a place in the line
            agent.invoke("hello", thread_id="t")


class Failing(SqlStore):
    """A store that fails to give up leases while it is down."""

    is_down = False

    def delete(self, namespace: str, key: str, **options: Any) -> bool:
        if self.is_down and namespace == LEASES:
            raise StoreError("the store is down", namespace=namespace, key=key)
        return super().delete(namespace, key, **options)

    async def adelete(self, namespace: str, key: str, **options: Any) -> bool:
        if self.is_down and namespace == LEASES:
            raise StoreError("the store is down", namespace=namespace, key=key)
        return await super().adelete(namespace, key, **options)


@both
def test_a_turn_that_cannot_be_given_up_hurts_nobody(tmp_path: Path, style: str) -> None:
    with Failing(f"{tmp_path}/threads.db") as store:
        # Of this patience nothing would be left if the next run had to wait for the lease to run out.
        asked, _ = agent("one", "two", checkpointer=store, limits=Limits(timeout=10))
        store.is_down = True
        assert calls(style, asked, "invoke", "a", "t").final_response == "one"
        assert store.keys(LEASES) == ["t"]
        store.is_down = False
        assert calls(style, asked, "invoke", "b", "t").final_response == "two"
        assert store.keys(LEASES) == []


@both
def test_a_run_from_inside_its_own_tool_is_refused_by_way_of_another_store_too(
    tmp_path: Path, style: str
) -> None:
    with SqlStore(f"{tmp_path}/threads.db") as one, SqlStore(f"{tmp_path}/threads.db") as two:
        inner, _ = agent(checkpointer=two)

        def nested() -> str:
            return inner.invoke("again", "t").final_response or ""

        asked, _ = agent(call("nested"), "done", tools=[nested], checkpointer=one)
        state = calls(style, asked, "invoke", "go", "t")
        assert "in use by the run that this call is made from" in short(state.messages)[2]


def test_two_stores_of_one_database_take_turns(tmp_path: Path) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slow() -> str:
        begun.set()
        assert go_on.wait(10)
        return "slow"

    with SqlStore(f"{tmp_path}/threads.db") as one, SqlStore(f"{tmp_path}/threads.db") as two:
        first, _ = agent(call("slow"), "first", tools=[slow], checkpointer=one)
        second, model = agent("second", checkpointer=two)
        with ThreadPoolExecutor(2) as pool:
            running = pool.submit(first.invoke, "a", "t")
            assert begun.wait(10)
            waiting = pool.submit(second.invoke, "b", "t")
            assert not wait([waiting], timeout=0.1).done
            assert model.requests == []
            go_on.set()
            assert running.result().final_response == "first"
            assert short(waiting.result().messages) == ["U:a", "A?c1", "R:slow", "A:first", "U:b", "A:second"]


@both
@pytest.mark.parametrize("method", ["invoke", "stream", "release"])
def test_who_reads_a_stream_cannot_run_its_thread_by_way_of_another_store_either(
    tmp_path: Path, style: str, method: str
) -> None:
    with SqlStore(f"{tmp_path}/threads.db") as one, SqlStore(f"{tmp_path}/threads.db") as two:
        first, _ = agent("one", checkpointer=one)
        second, _ = agent("two", "three", checkpointer=two)

        def met() -> None:
            if method == "release":
                second.release("t")
            elif method == "invoke":
                second.invoke("b", "t")
            else:
                list(second.stream("b", "t"))

        async def read() -> None:
            async for _ in first.astream("a", "t"):
                with pytest.raises(MemoryInUseError, match="a stream that this code reads"):
                    met()

        if style == "blocking":
            for _ in first.stream("a", "t"):
                with pytest.raises(MemoryInUseError, match="a stream that this code reads"):
                    met()
        else:
            asyncio.run(read())
        assert second.invoke("b", "t").final_response == "two"
