"""Calls that wait for somebody to decide."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aiservices import AgentError, InMemoryStore, SqlStore, ToolCall, ToolRequest
from aiservices.react import Approve, Edit, Refuse, Skill, SkillInjector, StopReason, react
from aiservices.testing import ScriptedChatModel
from tests.react.asking import STYLES, agent, assert_paired, call, calls, outputs, short

both = pytest.mark.parametrize("style", STYLES)
everywhere = pytest.mark.parametrize("store", [None, "memory"])


class Desk:
    """Tools that note what they did."""

    def __init__(self) -> None:
        self.did: list[str] = []

    def look(self, what: str) -> str:
        self.did.append(f"look {what}")
        return f"seen {what}"

    def delete(self, what: str) -> str:
        self.did.append(f"delete {what}")
        return f"deleted {what}"

    @property
    def tools(self) -> list[Any]:
        return [self.look, self.delete]


def guarded(*replies: Any, store: str | None = None, **options: Any) -> tuple[Any, ScriptedChatModel, Desk]:
    desk = Desk()
    options = {"approvals": {"delete": True}, **options}
    checkpointer = InMemoryStore() if store else None
    asked, model = agent(*replies, tools=desk.tools, checkpointer=checkpointer, **options)
    return asked, model, desk


@both
@everywhere
def test_a_guarded_call_waits_and_runs_when_it_is_approved(style: str, store: str | None) -> None:
    """LG-61, LG-65, LG-66, LG-125"""
    asked, model, desk = guarded(call("delete", what="a"), "gone", store=store)
    shown = outputs(style, asked, "go", "t")
    assert [output.node for output in shown] == ["start", "agent"]
    state = shown[-1].state
    assert (state.stop_reason, state.pending) == (StopReason.INTERRUPTED, (call("delete", what="a"),))
    assert calls(style, asked, "state", "t") == state
    assert asked.history("t")[0].next == "action"
    assert desk.did == []
    state = calls(style, asked, "resume", "t", Approve())
    assert short(state.messages) == ["U:go", "A?c1", "R:deleted a", "A:gone"]
    assert (state.pending, state.stop_reason) == ((), StopReason.FINAL)
    assert len(model.requests) == 2


@both
def test_an_answer_without_calls_never_waits(style: str) -> None:
    asked, _, _ = guarded("hello")
    assert calls(style, asked, "invoke", "go").stop_reason is StopReason.FINAL


@both
@everywhere
def test_a_refusal_is_an_error_that_the_model_is_told(style: str, store: str | None) -> None:
    asked, model, desk = guarded(call("delete", what="a"), "as you wish", store=store)
    calls(style, asked, "invoke", "go", "t")
    state = calls(style, asked, "resume", "t", Refuse("I need it"))
    assert short(state.messages)[2] == "E:The call of 'delete' was not approved: I need it"
    assert desk.did == []
    assert model.requests[1].messages == state.messages[:-1]


def test_a_refusal_needs_no_reason() -> None:
    asked, _, _ = guarded(call("delete", what="a"), "ok")
    asked.invoke("go", "t")
    assert "was not approved." in short(asked.resume("t", Refuse()).messages)[2]


@both
@everywhere
@pytest.mark.parametrize("arguments", [{"what": "b"}, '{"what": "b"}'])
def test_arguments_can_be_edited(style: str, store: str | None, arguments: Any) -> None:
    asked, _, desk = guarded(call("delete", what="a"), "ok", store=store)
    calls(style, asked, "invoke", "go", "t")
    state = calls(style, asked, "resume", "t", Edit(arguments))
    assert desk.did == ["delete b"]
    assert_paired(state.messages)


@both
@everywhere
def test_unguarded_calls_run_at_once_and_never_again(style: str, store: str | None) -> None:
    """NX-05b"""
    asked, model, desk = guarded(
        [call("delete", "c1", what="a"), call("look", "c2", what="b")], "ok", store=store
    )
    shown = outputs(style, asked, "go", "t")
    assert [output.node for output in shown] == ["start", "agent", "action"]
    state = shown[-1].state
    assert desk.did == ["look b"]
    assert [item.id for item in state.pending] == ["c1"]
    assert short(state.messages) == ["U:go", "A?c1,c2"]
    state = calls(style, asked, "resume", "t", {"c1": Approve()})
    assert desk.did == ["look b", "delete a"]
    assert short(state.messages) == ["U:go", "A?c1,c2", "R:deleted a", "R:seen b", "A:ok"]
    assert len(model.requests) == 2


@both
@everywhere
def test_each_call_of_a_round_is_decided_by_its_id(style: str, store: str | None) -> None:
    """NX-03, NX-05"""
    asked, _, desk = guarded(
        [call("delete", f"c{number}", what=str(number)) for number in (1, 2, 3)], "ok", store=store
    )
    calls(style, asked, "invoke", "go", "t")
    with pytest.raises(AgentError, match=r"several calls wait, so decide by call id: 'c1' \(delete\), 'c2'"):
        calls(style, asked, "resume", "t", Approve())
    decisions = {"c3": Edit({"what": "x"}), "c1": Approve(), "c2": Refuse("no")}
    state = calls(style, asked, "resume", "t", decisions)
    assert sorted(desk.did) == ["delete 1", "delete x"]
    assert short(state.messages)[2:5] == [
        "R:deleted 1",
        "E:The call of 'delete' was not approved: no",
        "R:deleted x",
    ]


@both
@everywhere
def test_partial_decisions_wait_for_the_rest(style: str, store: str | None) -> None:
    asked, model, desk = guarded(
        [call("delete", "c1", what="1"), call("delete", "c2", what="2")], "ok", store=store
    )
    calls(style, asked, "invoke", "go", "t")
    state = calls(style, asked, "resume", "t", {"c1": Approve()})
    assert [item.id for item in state.pending] == ["c2"]
    assert state.stop_reason is StopReason.INTERRUPTED
    assert desk.did == []
    assert calls(style, asked, "resume", "t") == state
    state = calls(style, asked, "resume", "t", Refuse())
    assert desk.did == ["delete 1"]
    assert [text[:2] for text in short(state.messages)[2:4]] == ["R:", "E:"]
    assert len(model.requests) == 2


@both
def test_without_a_decision_it_stays_waiting(style: str) -> None:
    """AJ-14, AJ-20"""
    asked, model, desk = guarded(call("delete", what="a"))
    state = calls(style, asked, "invoke", "go", "t")
    assert calls(style, asked, "resume", "t") == state
    assert (desk.did, len(model.requests)) == ([], 1)


@pytest.mark.parametrize(
    ("decision", "complaint"),
    [
        ({"c9": Approve()}, "no call 'c9' waits; these do: 'c1'"),
        ({"c1": True}, "True is no decision"),
        ({"c1": Refuse(None)}, "reason of a refusal is a text, not None"),  # type: ignore[arg-type]
        (True, "not a bool"),
        (Edit("{"), "no JSON"),
        (Edit({"what": object()}), "no JSON"),
        (Edit({"which": "b"}), "call 'c1': once edited, the arguments of tool 'delete' do not fit"),
    ],
)
def test_what_decides_nothing_is_refused_and_changes_nothing(decision: Any, complaint: str) -> None:
    asked, _, desk = guarded(call("delete", what="a"))
    state = asked.invoke("go", "t")
    with pytest.raises(AgentError, match=complaint):
        asked.resume("t", decision)
    assert asked.state("t") == state
    assert desk.did == []


def test_there_must_be_something_to_decide() -> None:
    asked, _, _ = guarded("ok")
    asked.invoke("go", "t")
    with pytest.raises(AgentError, match="no call waits"):
        asked.resume("t", Approve())


@both
def test_a_call_that_could_not_run_is_put_to_nobody(style: str) -> None:
    asked, model, _ = guarded(
        [
            call("delete", "c1", wrong=1),
            call("delete", "c2"),
            ToolCall("c3", "delete", "{{"),
            call("nope", "c4"),
        ],
        "sorry",
    )
    state = calls(style, asked, "invoke", "go")
    assert state.stop_reason is StopReason.FINAL
    assert [text[:2] for text in short(state.messages)[2:6]] == ["E:"] * 4
    assert len(model.requests) == 2


@both
@pytest.mark.parametrize("kind", ["def", "async def"])
def test_a_policy_decides_which_calls_wait(style: str, kind: str) -> None:
    asked_for: list[str] = []

    def policy(asked: ToolCall, state: Any) -> bool:
        asked_for.append(f"{state.thread_id} {asked.id}")
        return "2" in asked.arguments

    async def apolicy(asked: ToolCall, state: Any) -> bool:
        return policy(asked, state)

    asked, _, desk = guarded(
        [call("delete", "c1", what="1"), call("delete", "c2", what="2")],
        "ok",
        approvals={"delete": policy if kind == "def" else apolicy, "look": False},
    )
    state = calls(style, asked, "invoke", "go", "t")
    assert desk.did == ["delete 1"]
    assert [item.id for item in state.pending] == ["c2"]
    calls(style, asked, "resume", "t", Approve())
    assert desk.did == ["delete 1", "delete 2"]
    assert asked_for == ["t c1", "t c2"]


def test_the_next_round_may_wait_again() -> None:
    asked, _, desk = guarded(call("delete", "c1", what="1"), call("delete", "c2", what="2"), "ok")
    asked.invoke("go", "t")
    assert [item.id for item in asked.resume("t", Approve()).pending] == ["c2"]
    assert asked.resume("t", Approve()).final_response == "ok"
    assert desk.did == ["delete 1", "delete 2"]


def test_a_session_is_resumed_like_a_thread() -> None:
    asked, _, desk = guarded(call("delete", what="a"), "ok")
    session = asked.new_session()
    assert session.invoke("go").pending
    assert session.resume(Approve()).final_response == "ok"
    assert desk.did == ["delete a"]


@both
def test_another_process_may_decide(style: str, tmp_path: Path) -> None:
    """LG-77: another executor and another store object stand for it."""
    first, later = Desk(), Desk()
    with SqlStore(f"{tmp_path}/threads.db") as store:
        model = ScriptedChatModel(
            [call("delete", "c1", what="1"), call("look", "c2", what="2"), call("delete", "c3", what="3")]
        )
        asked = react(chat_model=model, tools=first.tools, approvals={"delete": True}, checkpointer=store)
        assert len(calls(style, asked, "invoke", "go", "t").pending) == 2
    with SqlStore(f"{tmp_path}/threads.db") as store:
        model = ScriptedChatModel("ok")
        asked = react(chat_model=model, tools=later.tools, approvals={"delete": True}, checkpointer=store)
        assert len(calls(style, asked, "state", "t").pending) == 2
        calls(style, asked, "resume", "t", {"c1": Approve()})
    with SqlStore(f"{tmp_path}/threads.db") as store:
        asked = react(chat_model=model, tools=later.tools, approvals={"delete": True}, checkpointer=store)
        state = calls(style, asked, "resume", "t", {"c3": Edit({"what": "x"})})
    assert (first.did, sorted(later.did)) == (["look 2"], ["delete 1", "delete x"])
    assert short(state.messages)[2:] == ["R:deleted 1", "R:seen 2", "R:deleted x", "A:ok"]


@both
@pytest.mark.parametrize("decision", [Approve(), {"c9": Approve()}, Edit({"amount": "much"}), "yes"])
def test_a_decision_that_fits_no_version_leaves_the_thread_as_it_was(
    style: str, kept: dict[str, Any], decision: Any
) -> None:
    """Also with the version: what waits goes on waiting, and history tells of nothing."""

    def pay(amount: int) -> str:
        return f"paid {amount}"

    asked, _ = agent(call("pay", amount=1), "done", tools=[pay], approvals={"pay": True}, **kept)
    calls(style, asked, "invoke", "go", "t")
    calls(style, asked, "update", "t", {})
    before = asked.history("t")
    version = before[-1].version if decision == Approve() else before[1].version
    with pytest.raises(AgentError):
        calls(style, asked, "resume", "t", decision, version=version)
    assert asked.history("t") == before
    assert calls(style, asked, "resume", "t", Approve()).final_response == "done"


@both
@pytest.mark.parametrize("decision", [Approve(), Edit({"parcel": 7})])
def test_a_skill_that_has_left_leaves_its_tool_to_the_calls_that_wait(
    style: str, kept: dict[str, Any], decision: Any
) -> None:
    """Single turn: the skill goes with the answer that wants its tool, and the call is decided on later."""
    tracked: list[int] = []

    def order(number: int) -> str:
        return f"ordered {number}"

    def track(parcel: int) -> str:
        tracked.append(parcel)
        return "on its way"

    replying = Skill("order-reply", "How to answer", "Track it.", tools=[track])
    injector = SkillInjector(resolver={"order": "order-reply"}, skills=[replying]).single_turn()
    options: dict[str, Any] = {"tools": [order], "skill_injector": injector, "approvals": {"track": True}}
    options |= kept
    asked, model = agent(call("order", number=1), call("track", "c2", parcel=7), "done", **options)
    state = calls(style, asked, "invoke", "go", "t")
    assert ([item.name for item in state.pending], state.active_skills) == (["track"], ())
    state = calls(style, asked, "resume", "t", decision)
    assert tracked == [7]
    assert short(state.messages)[-2:] == ["R:on its way", "A:done"]
    assert [tool.name for tool in model.requests[-1].tools] == ["order"]


def test_a_provider_sees_the_same_request_when_a_run_goes_on() -> None:
    seen: list[Any] = []

    class Providing:
        dynamic = True

        def provide(self, request: ToolRequest) -> list[Any]:
            seen.append(request.messages)
            return [pay]

    def pay(amount: int) -> str:
        return f"paid {amount}"

    asked, _ = agent(
        call("pay", amount=1),
        "ok",
        system_message="Be brief.",
        tool_providers=[Providing()],
        approvals={"pay": True},
    )
    asked.invoke("go", "t")
    assert asked.resume("t", Approve()).final_response == "ok"
    assert seen[1] == seen[0]
    assert short(seen[0]) == ["SystemMessage", "U:go"]
