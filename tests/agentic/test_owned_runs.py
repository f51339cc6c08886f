"""One runs a saved run at a time; a run that was broken off can be resumed."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from aiservices import InMemoryStore
from aiservices.agentic import Agent, Failed, agent, sequence
from aiservices.agentic.owning import LEASES
from aiservices.agentic.records import RUNS
from aiservices.errors import AgentError, ConflictError, StoreError

from .styles import Log, Style, fails_once, value_of


def test_of_two_who_resume_at_once_one_runs_it_and_both_learn_the_result(
    store: InMemoryStore, log: Log
) -> None:
    made = sequence(log.agent("a"), fails_once(log, "b"), log.agent("c"), store=store)
    made.run(memory_id="m")
    with ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(lambda _: made.resume("m"), range(4)))
    assert [value_of(each) for each in outcomes] == ["c"] * 4
    assert log.ran == ["a", "b", "b", "c"]


async def resumed_at_once(made: Agent) -> list[Any]:
    return await asyncio.gather(made.aresume("m"), made.aresume("m"))


def test_of_two_tasks_that_resume_at_once_one_runs_it(store: InMemoryStore, log: Log) -> None:
    made = sequence(fails_once(log, "b"), log.agent("c"), store=store)
    made.run(memory_id="m")
    assert [value_of(each) for each in asyncio.run(resumed_at_once(made))] == ["c"] * 2
    assert log.ran == ["b", "b", "c"]


def test_a_run_that_is_running_is_neither_run_nor_forgotten_by_another(store: InMemoryStore) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slow() -> str:
        begun.set()
        assert go_on.wait(10)
        return "slow"

    made = sequence(slow, store=store)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(made.run, memory_id="m")
        assert begun.wait(10)
        with pytest.raises(AgentError, match="unfinished"):
            made.run(memory_id="m")
        with pytest.raises(AgentError, match="is being run at this moment"):
            made.forget("m")
        go_on.set()
        assert value_of(running.result()) == "slow"


def test_who_has_lost_the_run_to_another_writes_nothing_more(store: InMemoryStore, log: Log) -> None:
    def steal() -> None:
        entry = store.get(RUNS, "sequence/m")
        assert entry is not None
        store.put(RUNS, "sequence/m", {**entry.value, "error": "stolen"})

    made = sequence(agent(name="steal")(steal), log.agent("after"), store=store)
    outcome = made.run(memory_id="m")
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.error, ConflictError)
    assert log.ran == []
    entry = store.get(RUNS, "sequence/m")
    assert entry is not None
    assert (entry.value["error"], entry.value["status"]) == ("stolen", "running")


def test_a_cancelled_run_can_be_resumed(store: InMemoryStore, log: Log) -> None:
    reached = asyncio.Event()

    async def forever() -> str:
        log.ran.append("forever")
        if log.ran.count("forever") == 1:
            reached.set()
            await asyncio.Event().wait()
        return "done"

    made = sequence(log.agent("a"), forever, store=store)

    async def cancel() -> None:
        task = asyncio.create_task(made.arun(memory_id="m"))
        await reached.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert store.keys(LEASES) == []
    assert value_of(made.resume("m")) == "done"
    assert log.ran == ["a", "forever", "forever"]


def test_a_stream_that_is_left_can_be_resumed(store: InMemoryStore, log: Log) -> None:
    made = sequence(log.agent("a"), log.agent("b"), store=store)
    events = made.stream(memory_id="m")
    while next(events).agent != "b":
        pass
    events.close()  # type: ignore[attr-defined]
    assert store.keys(LEASES) == []
    assert value_of(made.resume("m")) == "b"
    assert log.ran == ["a", "b"]


class Down(InMemoryStore):
    """A store that fails from some write on."""

    left = 10**6

    def put(self, namespace: str, key: str, value: Any, **options: Any) -> int:
        if namespace == RUNS:
            self.left -= 1
            if self.left < 0:
                raise StoreError("the store is down", namespace=namespace, key=key)
        return super().put(namespace, key, value, **options)

    async def aput(self, namespace: str, key: str, value: Any, **options: Any) -> int:
        return self.put(namespace, key, value, **options)


def test_a_store_that_fails_ends_the_run_which_goes_on_when_it_is_back(style: Style, log: Log) -> None:
    store = Down()
    store.left = 4
    made = sequence(log.agent("a"), log.agent("b"), log.agent("c"), store=store)
    failed = style.run(made, memory_id="m")
    assert isinstance(failed, Failed)
    assert isinstance(failed.error, StoreError)
    assert "the run could not be saved" in failed.error.__notes__[-1]
    store.left = 10**6
    assert value_of(style.resume(made, "m")) == "c"
    assert log.ran == ["a", "b", "b", "c"]
