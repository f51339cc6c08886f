"""Who may run which tool, with which arguments, and where: interceptors in an agent."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from aiservices import (
    Allow,
    Deny,
    ToolCall,
    ToolContext,
    ToolError,
    ToolExecutor,
    ToolOutcome,
    ToolResultMessage,
)
from aiservices.react import Skill, StopReason
from tests.react.asking import STYLES, agent, call, calls

both = pytest.mark.parametrize("style", STYLES)


class Host(ToolExecutor):
    """Runs tools, and notes with which arguments."""

    def __init__(self) -> None:
        self.ran: list[str] = []

    def execute(self, call: ToolCall, context: ToolContext) -> ToolOutcome:
        self.ran.append(f"{call.name} {json.loads(call.arguments)['x']}")
        return ToolOutcome("secret")


class Blocking:
    def around(self, asked: ToolCall, context: ToolContext, proceed: Any) -> ToolOutcome:
        raise ToolError("BLOCKED: not here")


class BlockingAfterwards:
    def around(self, asked: ToolCall, context: ToolContext, proceed: Any) -> ToolOutcome:
        proceed(asked)
        raise ToolError("BLOCKED: it tells too much")


class Rewriting:
    def around(self, asked: ToolCall, context: ToolContext, proceed: Any) -> Any:
        return proceed(replace(asked, arguments='{"x": 2}'))


class Passing:
    def around(self, asked: ToolCall, context: ToolContext, proceed: Any) -> Any:
        return proceed(asked)


class ByThread:
    """Lets calls of one thread pass."""

    def around(self, asked: ToolCall, context: ToolContext, proceed: Any) -> Any:
        if context.memory_id != "t":
            raise ToolError("another thread")
        return proceed(asked)


class Elsewhere:
    """Runs calls in a sandbox, where there is one."""

    def __init__(self, sandbox: list[str] | None) -> None:
        self.sandbox = sandbox

    def around(self, asked: ToolCall, context: ToolContext, proceed: Any) -> ToolOutcome:
        if self.sandbox is None:
            raise ToolError("BLOCKED: there is no sandbox")
        self.sandbox.append(asked.name)
        return ToolOutcome("from the sandbox")


SANDBOX: list[str] = []
RULES = [
    pytest.param([Allow("write")], ["write 1"], "secret", id="AJ-18"),
    pytest.param([Deny("write", reason="Read only.")], [], "not allowed here. Read only.", id="AJ-19"),
    pytest.param([ByThread()], ["write 1"], "secret", id="AJ-21"),
    pytest.param([Allow("write", "read")], ["write 1"], "secret", id="AJ-24"),
    pytest.param([], ["write 1"], "secret", id="AJ-25"),
    pytest.param([Blocking()], [], "BLOCKED: not here", id="AJ-26"),
    pytest.param([Rewriting()], ["write 2"], "secret", id="AJ-27"),
    pytest.param([Passing()], ["write 1"], "secret", id="AJ-28"),
    pytest.param([BlockingAfterwards()], ["write 1"], "BLOCKED: it tells too much", id="AJ-29"),
    pytest.param([Elsewhere(SANDBOX)], [], "from the sandbox", id="AJ-30"),
    pytest.param([Elsewhere(None)], [], "BLOCKED: there is no sandbox", id="AJ-31"),
]


@both
@pytest.mark.parametrize(("interceptors", "ran", "told"), RULES)
def test_a_rule_decides_what_runs_and_what_the_model_is_told(
    style: str, interceptors: list[Any], ran: list[str], told: str
) -> None:
    """AJ-18, AJ-19, AJ-21, AJ-24 to AJ-31"""
    SANDBOX.clear()
    host = Host()

    def write(x: int) -> str:
        raise AssertionError("the executor runs it")

    def read(x: int) -> str:
        raise AssertionError("nobody asked for it")

    asked, model = agent(
        call("write", x=1), "done", tools=[write, read], tool_executor=host, interceptors=interceptors
    )
    state = calls(style, asked, "invoke", "go", "t")
    assert (state.stop_reason, state.final_response) == (StopReason.FINAL, "done")
    assert host.ran == ran
    (result,) = [item for item in model.requests[1].messages if isinstance(item, ToolResultMessage)]
    assert told in result.text
    assert result.is_error is (told not in ("secret", "from the sandbox"))
    assert ("secret" in str(model.requests[1].messages)) is (told == "secret")
    assert len(SANDBOX) == (told == "from the sandbox")


class People:
    """Answers questions of the model in the place of the tool that asks them."""

    def __init__(self, answers: dict[str, str]) -> None:
        self.answers = answers

    def around(self, asked: ToolCall, context: ToolContext, proceed: Any) -> Any:
        if asked.name != "ask_person":
            return proceed(asked)
        question = json.loads(asked.arguments)["question"]
        if question not in self.answers:
            raise ToolError(f"NOBODY ANSWERED IN TIME: {question}")
        return ToolOutcome(self.answers[question])


@both
def test_a_person_may_answer_for_a_tool(style: str) -> None:
    """AJ-15, AJ-16, AJ-17: an answer, none in time, and a tool that asks nobody."""

    def ask_person(question: str) -> str:
        raise AssertionError("a person answers")

    def add(a: int, b: int) -> int:
        return a + b

    asked, model = agent(
        [
            call("ask_person", "c1", question="Blue?"),
            call("ask_person", "c2", question="Why?"),
            call("add", "c3", a=1, b=2),
        ],
        "done",
        tools=[ask_person, add],
        interceptors=[People({"Blue?": "Yes."})],
    )
    state = calls(style, asked, "invoke", "go")
    results = [(item.text, item.is_error) for item in state.messages if isinstance(item, ToolResultMessage)]
    assert results == [("Yes.", False), ("NOBODY ANSWERED IN TIME: Why?", True), ("3", False)]
    assert state.final_response == "done"
    assert len(model.requests) == 2


@both
def test_tools_of_skills_are_governed_under_their_names(style: str) -> None:
    """AJ-110"""
    seen: list[str] = []

    class Seeing:
        def around(self, asked: ToolCall, context: ToolContext, proceed: Any) -> Any:
            seen.append(asked.name)
            return proceed(asked)

    asked, model = agent(
        call("read_skill_resource", skill_name="ship", relative_path="a.md"),
        "ok",
        skills=[Skill("ship", "How to ship", "BODY", {"a.md": "the map"})],
        interceptors=[Seeing(), Deny("read_skill_resource", reason="No maps.")],
    )
    state = calls(style, asked, "invoke", "go")
    assert seen == ["read_skill_resource"]
    assert "No maps." in model.requests[1].messages[-1].text  # type: ignore[union-attr]
    assert "the map" not in str(state)
