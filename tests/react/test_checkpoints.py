"""What is stored at each step of a run."""

from __future__ import annotations

from typing import Any

import pytest

from aiservices import InMemoryStore, StoreError
from aiservices.messages import messages_from_json
from aiservices.react import AgentState
from aiservices.react.stored_threads import CHECKPOINTS
from tests.react.asking import STYLES, agent, call, calls, outputs

both = pytest.mark.parametrize("style", STYLES)


def add(a: int, b: int) -> int:
    return a + b


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


@both
def test_every_checkpoint_of_a_long_run_has_all_its_messages(style: str, kept: dict[str, Any]) -> None:
    class Forgetting:
        def before(self, state: AgentState) -> AgentState | None:
            return state.replace(messages=state.messages[2:]) if len(state.messages) == 21 else None

    rounds = [call("add", a=number, b=1) for number in range(20)]
    asked, _ = agent(*rounds, "done", tools=[add], max_steps=None, call_model_hooks=[Forgetting()], **kept)
    shown = [item.state for item in outputs(style, asked, "go", "t")]
    history = calls(style, asked, "history", "t")
    assert [item.state.messages for item in history[::-1]] == [state.messages for state in shown[:-1]]
    assert calls(style, asked, "state", "t").messages == shown[-1].messages


def test_a_checkpoint_holds_what_is_new() -> None:
    store = InMemoryStore()
    rounds = [call("add", a=number, b=1) for number in range(30)]
    asked, _ = agent(*rounds, "done", tools=[add], max_steps=None, checkpointer=store)
    said = asked.invoke("go", "t").messages
    entries = [store.get(CHECKPOINTS, key) for key in store.keys(CHECKPOINTS)]
    told = sum(len(messages_from_json(entry.value["messages"])) for entry in entries if entry is not None)
    assert len(entries) == len(said) == 62
    assert told < 4 * len(said)


def test_a_checkpoint_whose_parent_is_gone_is_not_guessed_at() -> None:
    store = InMemoryStore()
    asked, _ = agent(call("add", a=1, b=1), OSError("down"), tools=[add], checkpointer=store)
    with pytest.raises(OSError):
        asked.invoke("a", "t")
    store.delete(CHECKPOINTS, store.keys(CHECKPOINTS)[0])
    with pytest.raises(StoreError, match=r"it has kept 2 messages, of which 1 are there"):
        asked.state("t")
