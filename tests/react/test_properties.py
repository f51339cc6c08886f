"""Whatever a model asks for and a person decides, every call gets exactly one result, in order."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from aiservices import InMemoryStore, ToolCall
from aiservices.react import Approve, Edit, Refuse, StopReason, react
from aiservices.testing import ScriptedChatModel
from tests.react.asking import assert_paired

CALLS = st.lists(
    st.tuples(
        st.sampled_from(["good", "bad", "guarded", "nope"]), st.sampled_from(["{}", "{", '{"n": 1}', ""])
    ),
    min_size=1,
    max_size=4,
)
DECISIONS = st.lists(
    st.sampled_from([Approve(), Refuse(), Edit({}), Edit({"n": 2})]), min_size=1, max_size=20
)


@settings(max_examples=60, deadline=None)
@given(st.lists(CALLS, max_size=4), DECISIONS, st.booleans(), st.integers(1, 5))
def test_every_call_has_one_result(rounds: Any, decisions: Any, stored: bool, steps: int) -> None:
    ran: list[str] = []

    def good() -> str:
        return "good"

    def bad() -> None:
        raise ValueError("bad")

    def guarded(n: int = 0) -> int:
        ran.append("guarded")
        return n

    replies = [[ToolCall("same", name, arguments) for name, arguments in asked] for asked in rounds]
    agent = react(
        chat_model=ScriptedChatModel(*replies, "done"),
        tools=[good, bad, guarded],
        approvals={"guarded": True},
        max_steps=steps,
        checkpointer=InMemoryStore() if stored else None,
    )
    state = agent.invoke("go", "t")
    approved = 0
    while state.stop_reason is StopReason.INTERRUPTED:
        decision = decisions[len(state.pending) % len(decisions)]
        approved += not isinstance(decision, Refuse)
        state = agent.resume("t", {state.pending[0].id: decision})
    assert_paired(state.messages)
    assert len(ran) == approved
    assert state.stop_reason in (StopReason.FINAL, StopReason.MAX_STEPS)
    assert state == agent.state("t") == agent.history("t")[0].state
