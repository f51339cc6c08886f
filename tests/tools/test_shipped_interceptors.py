"""Approval, Allow and Deny, RateLimit, RetryCalls, TimeLimit."""

from __future__ import annotations

import asyncio
import threading
import time
from contextvars import ContextVar
from typing import Any

import pytest

from aiservices import ToolCall, ToolContext, ToolError, tool
from aiservices.tools.interceptors import (
    Allow,
    Approval,
    Deny,
    RateLimit,
    RetryCalls,
    TimeLimit,
    ToolGuardrails,
)

from .calling import Invoke, call, of_kind, results, service, texts, within

KINDS = ("blocking", "asynchronous")
span: ContextVar[str] = ContextVar("span", default="none")


def echo(text: str) -> str:
    return text


# Approval


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (True, "x"),
        (False, "The call of 'echo' was not approved."),
        ("too late", "The call of 'echo' was not approved: too late"),
        ("", "The call of 'echo' was not approved."),
        (None, "The call of 'echo' was not approved."),
    ],
)
def test_approval(invoke: Invoke, kind: str, answer: Any, told: str) -> None:
    asked_for: list[Any] = []

    def ask(asked: ToolCall, context: ToolContext) -> bool | str:
        asked_for.append((asked.name, context.service))
        return answer  # type: ignore[no-any-return]

    def free() -> str:
        return "free"

    asked, model = service(
        [call("echo", text="x"), call("free")],
        "ok",
        tools=[echo, free],
        interceptors=[Approval(of_kind(kind, ask), names=("echo",))],
    )
    invoke(asked, "ask", "hi")
    assert texts(model.requests[-1].messages) == [told, "free"]
    assert asked_for == [("echo", "Asker")]


def test_approval_is_needed_for_all_tools_by_default(invoke: Invoke) -> None:
    asked, model = service(
        call("echo", text="x"), "ok", tools=[echo], interceptors=[Approval(lambda asked, context: False)]
    )
    invoke(asked, "ask", "hi")
    assert results(model.requests[-1].messages)[0].is_error


# Allow and Deny


def test_allow_and_deny(invoke: Invoke) -> None:
    def other() -> str:
        return "other"

    calls = [call("echo", text="x"), call("other")]
    for interceptor, told in (
        (Allow("echo"), ["x", "The tool 'other' is not allowed here."]),
        (Deny("other"), ["x", "The tool 'other' is not allowed here."]),
        (Deny("echo", reason="It is loud."), ["The tool 'echo' is not allowed here. It is loud.", "other"]),
    ):
        asked, model = service(calls, "ok", tools=[echo, other], interceptors=[interceptor])
        invoke(asked, "ask", "hi")
        assert texts(model.requests[-1].messages) == told


# RateLimit


def test_so_many_calls_begin_in_a_window_over_all_services(invoke: Invoke) -> None:
    begun: list[float] = []

    def work() -> str:
        begun.append(time.monotonic())
        return "ok"

    limit = RateLimit(2, 0.05)
    answers = [call("work", str(i)) for i in range(3)]
    services = [service(answers, "ok", tools=[work], interceptors=[limit])[0] for _ in range(2)]
    threads = [threading.Thread(target=invoke, args=(each, "ask", "hi")) for each in services]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    begun.sort()
    assert len(begun) == 6
    assert 0.09 < begun[-1] - begun[0] < 1, "the last two begin two windows after the first two"


def test_other_tools_are_not_counted(invoke: Invoke) -> None:
    asked, _ = service(
        [call("echo", str(i), text="x") for i in range(3)],
        "ok",
        tools=[echo],
        interceptors=[RateLimit(1, 30, names=("other",))],
    )
    assert invoke(asked, "ask", "hi").content == "ok"


@pytest.mark.parametrize("wrong", [(0, 1.0), (1, 0.0), (1, -1.0)])
def test_a_rate_that_lets_nothing_run_is_refused(wrong: tuple[int, float]) -> None:
    with pytest.raises(ValueError, match="lets nothing run"):
        RateLimit(*wrong)


# RetryCalls


@pytest.mark.parametrize("kind", KINDS)
def test_named_tools_are_run_again_with_one_key(invoke: Invoke, kind: str) -> None:
    """TOOL-26: no others, for a tool may have done its work and failed afterwards."""
    keys: list[str] = []

    def flaky(context: ToolContext) -> str:
        keys.append(context.idempotency_key)
        if len(keys) < 3:
            raise OSError("hiccup")
        return "at last"

    asked, model = service(
        call("flaky"), "ok", tools=[of_kind(kind, flaky)], interceptors=[RetryCalls("flaky", wait=0.001)]
    )
    invoke(asked, "ask", "hi")
    assert texts(model.requests[-1].messages) == ["at last"]
    assert len(keys) == 3
    assert len(set(keys)) == 1
    keys.clear()
    asked, model = service(
        call("flaky"), "ok", tools=[of_kind(kind, flaky)], interceptors=[RetryCalls("other", wait=0.001)]
    )
    invoke(asked, "ask", "hi")
    assert len(keys) == 1


@pytest.mark.parametrize(
    ("error", "runs"), [(OSError("always"), 4), (ToolError("no"), 1), (ValueError("odd"), 4)]
)
def test_the_last_failure_is_the_failure(invoke: Invoke, error: Exception, runs: int) -> None:
    ran: list[int] = []

    def broken() -> str:
        ran.append(1)
        raise error

    asked, model = service(
        call("broken"), "ok", tools=[broken], interceptors=[RetryCalls("broken", attempts=4, wait=0.001)]
    )
    result = invoke(asked, "ask", "hi")
    assert len(ran) == runs
    assert result.tool_executions[0].error is error
    assert len(results(model.requests[-1].messages)) == 1


def test_arguments_that_do_not_fit_are_not_tried_again(invoke: Invoke) -> None:
    heard: list[Any] = []
    asked, _ = service(
        ToolCall("1", "echo", "{}"),
        "ok",
        tools=[echo],
        listeners=[heard.append],
        interceptors=[RetryCalls("echo", attempts=9, wait=30)],
    )
    invoke(asked, "ask", "hi")


@pytest.mark.parametrize(("names", "options"), [((), {}), (("a",), {"attempts": 0})])
def test_retries_that_make_no_sense_are_refused(names: tuple[str, ...], options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"names of tools|give 1 or more"):
        RetryCalls(*names, **options)


# TimeLimit


@pytest.mark.parametrize("kind", KINDS)
def test_a_call_that_takes_too_long_fails_and_an_asynchronous_tool_is_cancelled(
    invoke: Invoke, kind: str
) -> None:
    ended: list[str] = []
    release = threading.Event()

    def slow() -> str:
        release.wait(5)
        ended.append("ended")
        return "late"

    async def aslow() -> str:
        try:
            await asyncio.sleep(5)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise
        return "late"

    made = tool(name="slow")(slow if kind == "blocking" else aslow)
    asked, model = service(
        [call("slow"), call("echo", text="x")], "ok", tools=[made, echo], interceptors=[TimeLimit(0.05)]
    )
    invoke(asked, "ask", "hi")
    first, second = texts(model.requests[-1].messages)
    assert "TimeoutError" in first
    assert second == "x"
    release.set()
    assert within(2, lambda: ended == ["ended" if kind == "blocking" else "cancelled"])


def test_nothing_begins_after_the_time(invoke: Invoke) -> None:
    """An interceptor within the limit that waited goes on to nothing."""
    ran, waited = list[str](), threading.Event()

    class Waiting:
        def around(self, asked: ToolCall, context: ToolContext, proceed: Any) -> Any:
            time.sleep(0.08)
            try:
                return proceed(asked)
            finally:
                waited.set()

    def work() -> str:
        ran.append("work")
        return "ok"

    asked, model = service(call("work"), "ok", tools=[work], interceptors=[TimeLimit(0.03), Waiting()])
    invoke(asked, "ask", "hi")
    assert "TimeoutError" in texts(model.requests[-1].messages)[0]
    assert waited.wait(2)
    assert ran == []


def test_pauses_between_attempts_end_with_the_time(invoke: Invoke) -> None:
    ran: list[str] = []

    def broken() -> str:
        ran.append("broken")
        raise OSError

    asked, _ = service(
        call("broken"),
        "ok",
        tools=[broken],
        interceptors=[TimeLimit(0.05), RetryCalls("broken", attempts=50, wait=0.2)],
    )
    invoke(asked, "ask", "hi")
    time.sleep(0.3)
    assert ran == ["broken"]


def test_a_time_limit_is_for_the_tools_it_names(invoke: Invoke) -> None:
    def slow() -> str:
        time.sleep(0.05)
        return "ok"

    asked, model = service(
        call("slow"), "ok", tools=[slow], interceptors=[TimeLimit(0.001, names=("other",))]
    )
    invoke(asked, "ask", "hi")
    assert texts(model.requests[-1].messages) == ["ok"]
    with pytest.raises(ValueError, match="lets nothing run"):
        TimeLimit(0)


@pytest.mark.parametrize(
    "make",
    [
        lambda names: Approval(lambda call, context: True, names=names),
        lambda names: RateLimit(1, names=names),
        lambda names: TimeLimit(1, names=names),
        lambda names: ToolGuardrails(names=names),
    ],
)
def test_one_name_without_a_tuple_would_guard_nothing_and_is_refused(make: Any) -> None:
    with pytest.raises(TypeError, match=r"give names=\('weather',\)"):
        make("weather")
