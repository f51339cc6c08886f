"""Runs that go on from an older version, and what holds of those as of others."""

from __future__ import annotations

from typing import Any

import pytest

from aiservices import AgentError, ToolContext
from aiservices.react import Approve, Edit, Skill, SkillInjector
from tests.react.asking import STYLES, agent, call, calls

both = pytest.mark.parametrize("style", STYLES)


@both
def test_a_run_from_an_older_version_that_is_broken_off_runs_no_finished_call_again(
    style: str, kept: dict[str, Any]
) -> None:
    keys: dict[str, list[str]] = {"first": [], "second": []}

    def first(context: ToolContext) -> str:
        keys["first"].append(context.idempotency_key)
        return "done"

    def second(context: ToolContext) -> str:
        keys["second"].append(context.idempotency_key)
        if len(keys["second"]) == 2:
            raise KeyboardInterrupt
        return "done"

    asking = [call("first"), call("second", "c2")]
    asked, _ = agent(asking, "one", "two", tools=[first, second], parallel_tools=False, **kept)
    calls(style, asked, "invoke", "go", "t")
    before = next(item.version for item in asked.history("t") if item.next == "action")
    with pytest.raises(KeyboardInterrupt):
        calls(style, asked, "resume", "t", version=before)
    assert calls(style, asked, "resume", "t").final_response == "two"
    assert len(keys["first"]) == 2
    assert keys["second"][1] == keys["second"][2]


@both
def test_arguments_that_do_not_fit_the_tool_of_a_skill_that_has_left_leave_the_thread_as_it_was(
    style: str, kept: dict[str, Any]
) -> None:
    def order(number: int) -> str:
        return f"ordered {number}"

    def track(parcel: int) -> str:
        return f"tracked {parcel}"

    tracking = Skill("tracking", "How to track", "Track it.", tools=[track])
    injector = SkillInjector(resolver={"order": "tracking"}, skills=[tracking]).single_turn()
    asked, _ = agent(
        call("order", number=1),
        call("track", "c2", parcel=7),
        "done",
        tools=[order],
        skill_injector=injector,
        approvals={"track": True},
        **kept,
    )
    calls(style, asked, "invoke", "go", "t")
    waits = asked.history("t")[0].version
    calls(style, asked, "update", "t", {})
    before = asked.history("t")
    with pytest.raises(AgentError, match="once edited"):
        calls(style, asked, "resume", "t", Edit({"parcel": "much"}), version=waits)
    assert asked.history("t") == before
    assert calls(style, asked, "resume", "t", Approve()).final_response == "done"
