"""Runs of one thread in several processes: one after the other."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from aiservices import Limits, MemoryInUseError, SqlStore
from aiservices.react import react
from aiservices.react.stored_threads import LEASES
from aiservices.testing import ScriptedChatModel

OTHER = {"holder": "another process", "machine": None}


@pytest.mark.parametrize("style", ["blocking", "asynchronous"])
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
