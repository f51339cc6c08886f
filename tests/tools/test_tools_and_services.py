"""Tools that ask services, the context they see, and the events of their calls."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from contextvars import ContextVar
from pathlib import Path
from typing import Annotated, Any, Protocol

import pytest

import aiservices
from aiservices import InvocationParameters, ToolContext, UserText, tool
from aiservices.events import ToolFinished, ToolStarted
from aiservices.messages import UserMessage
from aiservices.testing import ScriptedChatModel

from .calling import Invoke, boom, call, of_kind, service, texts, weather

KINDS = ("blocking", "asynchronous")
tenant: ContextVar[str] = ContextVar("tenant", default="?")


# Services within tools


def test_a_tool_may_ask_its_own_service(invoke: Invoke) -> None:
    """TOOL-39 without a memory."""
    held: list[Any] = []

    def again(text: str) -> str:
        return str(held[0].ask(text).content)

    async def aagain(text: str) -> str:
        return str((await held[0].aask(text)).content)

    for function in (again, aagain):
        asked, model = service(call("again", text="x"), "in", "out", tools=[tool(name="again")(function)])
        held[:] = [asked]
        assert invoke(asked, "ask", "q").content == "out"
        assert model.requests[1].messages == (UserMessage("x"),)
        assert texts(model.requests[-1].messages) == ["in"]


@pytest.mark.parametrize("outer", KINDS)
def test_blocking_services_within_tools_never_lock_up(outer: str) -> None:
    """ASY-08: twenty at once, each with a tool that asks another service, blocking."""

    def asks(text: str) -> str:
        inner, _ = service(call("weather", city="in"), "inner", tools=[weather])
        return str(inner.ask(text).content)

    def one() -> Any:
        return service([call("asks", "1", text="x"), call("asks", "2", text="y")], "done", tools=[asks])[0]

    async def together() -> list[Any]:
        return await asyncio.gather(*(one().aask("q") for _ in range(20)))

    async def in_threads() -> list[Any]:
        return await asyncio.gather(*(asyncio.to_thread(one().ask, "q") for _ in range(20)))

    found = asyncio.run(asyncio.wait_for(together() if outer == "asynchronous" else in_threads(), 20))
    assert [result.content for result in found] == ["done"] * 20


# Context


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("calls", [1, 2])
def test_tools_see_the_callers_context_and_leave_it_alone(invoke: Invoke, kind: str, calls: int) -> None:
    """ASY-03."""

    def who(i: int) -> str:
        seen = tenant.get()
        tenant.set("X")
        return seen

    asked, model = service([call("who", str(i), i=i) for i in range(calls)], "ok", tools=[of_kind(kind, who)])
    token = tenant.set("acme")
    invoke(asked, "ask", "hi")
    assert texts(model.requests[-1].messages) == ["acme"] * calls
    assert tenant.get() == "acme"
    tenant.reset(token)


def test_a_tool_learns_which_call_it_serves(invoke: Invoke) -> None:
    """TOOL-24; the idempotency key is a call's own."""
    seen: list[ToolContext] = []

    def who(context: ToolContext) -> str:
        seen.append(context)
        return "me"

    asked, _ = service([call("who", "1"), call("who", "2")], call("who", "1"), "ok", tools=[who])
    invoke(asked, "ask", "hi")
    assert len({context.idempotency_key for context in seen}) == 3
    assert {context.service for context in seen} == {"Asker"}
    assert all(context.deadline and 590 < context.deadline - time.monotonic() <= 600 for context in seen)


class Given(Protocol):
    def ask(self, text: Annotated[str, UserText], given: InvocationParameters) -> str: ...


def test_a_tool_sees_what_the_caller_gave_and_its_own_name() -> None:
    """LG-23"""
    seen: list[Any] = []

    def who(context: ToolContext) -> str:
        seen.append((context.parameters["configData"], context.call.name))
        return "me"

    model = ScriptedChatModel(call("who"), "ok")
    asked = aiservices.create(Given, chat_model=model, tools=[who])
    asked.ask("hi", InvocationParameters({"configData": "test"}))
    assert seen == [("test", "who")]


# Events


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("parallel", [True, False])
def test_each_call_has_one_beginning_and_one_end(invoke: Invoke, kind: str, parallel: bool) -> None:
    """TOOL-31: also of one that fails and one that nobody knows."""
    heard: list[tuple[str, str]] = []

    def listen(event: Any) -> None:
        if isinstance(event, ToolStarted):
            heard.append(("began", event.call.id))
        elif isinstance(event, ToolFinished):
            heard.append(("failed" if event.execution.is_error else "ended", event.execution.call.id))

    tools = [of_kind(kind, weather), of_kind(kind, boom)]
    calls = [call("weather", "1", city="A"), call("boom", "2"), call("nobody", "3")]
    asked, _ = service(calls, "ok", tools=tools, parallel_tools=parallel, listeners=[listen])
    invoke(asked, "ask", "hi")
    assert sorted(heard) == sorted(
        [("began", "1"), ("began", "2"), ("began", "3"), ("ended", "1"), ("failed", "2"), ("failed", "3")]
    )
    for number, ending in (("1", "ended"), ("2", "failed"), ("3", "failed")):
        assert heard.index(("began", number)) < heard.index((ending, number))


# Processes

HANGING = """
import time
from tests.tools.calling import call, service
from aiservices import tool

@tool(timeout=0.2)
def hang() -> str:
    time.sleep(60)
    return "late"

def fine() -> str:
    return "fine"

asked, model = service([call("hang"), call("fine")], "done", tools=[hang, fine])
print(asked.ask("hi").content)
"""
FORKING = """
import os, sys
from tests.tools.calling import call, service, texts, weather

def ask():
    asked, model = service([call("weather", str(i), city="A") for i in range(4)], "ok", tools=[weather])
    assert asked.ask("hi").content == "ok"
    assert texts(model.requests[-1].messages) == ["A: sunny"] * 4

ask()
for _ in range(2):
    if os.fork() == 0:
        ask()
        os._exit(0)
print([os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(2)])
"""


@pytest.mark.parametrize(("script", "printed"), [(HANGING, "done\n"), (FORKING, "[0, 0]\n")])
def test_processes_end_and_fork_with_tools_in_them(script: str, printed: str) -> None:
    """ASY-11 and ASY-12: a tool that hangs does not keep a finished program, and workers are made anew."""
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=root, capture_output=True, text=True, timeout=30, check=False
    )
    assert (done.stdout, done.returncode) == (printed, 0)
    assert "Traceback" not in done.stderr.replace("tool hang failed, and the model is told\nTraceback", "")
