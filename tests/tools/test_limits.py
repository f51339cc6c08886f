"""Limits: N means N, and going beyond says which, how much, and what was asked for."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from typing import Any, Protocol

import pytest

import aiservices
from aiservices import AiMessage, LimitExceededError, Limits, Result, ToolOutcome, tool
from aiservices.messages import ChatResponse, TokenUsage
from aiservices.testing import ScriptedChatModel
from tests.asking import asking

from .calling import Invoke, boom, call, results, service, texts


def t(i: int) -> str:
    return str(i)


def u(i: int) -> str:
    return str(i)


def calls(name: str, *numbers: int) -> list[Any]:
    return [call(name, f"{name}{i}", i=i) for i in numbers]


@pytest.mark.parametrize("limit", [0, 1, 2, 3])
def test_so_many_rounds_are_run_and_no_more(invoke: Invoke, limit: int) -> None:
    """TOOL-19 and row 336: calls of one answer are one round, and zero runs nothing."""
    answers = [calls("t", 10 * i, 10 * i + 1) for i in range(limit + 1)]
    asked, model = service(*answers, tools=[t], limits=Limits(max_round_trips=limit))
    with pytest.raises(
        LimitExceededError, match=rf"Limits\.max_round_trips={limit} .*\(it asks for t\)"
    ) as caught:
        invoke(asked, "ask", "hi")
    assert caught.value.limit == "max_round_trips"
    executions = caught.value.tool_executions
    assert [execution.is_error for execution in executions] == [False] * 2 * limit + [True, True]
    assert all("the call did not run" in execution.text for execution in executions[2 * limit :])
    assert len(model.requests) == limit + 1


def test_the_answer_after_the_last_round_is_still_taken(invoke: Invoke) -> None:
    asked, _ = service(
        calls("t", 1, 2, 3, 4, 5), calls("t", 6), "ok", tools=[t], limits=Limits(max_round_trips=2)
    )
    result = invoke(asked, "ask", "hi")
    assert (result.content, len(result.tool_executions)) == ("ok", 6)


@pytest.mark.parametrize(
    ("limits", "answers", "ran", "says"),
    [
        (Limits(max_tool_calls=3), [calls("t", 1, 2), calls("u", 3), calls("t", 4)], 3, "max_tool_calls=3"),
        (Limits(max_tool_calls=3), [calls("t", 1, 2), calls("u", 3, 4)], 2, "max_tool_calls=3"),
        (Limits(max_tool_calls=0), [calls("t", 1)], 0, "max_tool_calls=0"),
        (
            Limits(max_calls_per_tool=2),
            [calls("t", 1, 2), calls("u", 3, 4), calls("t", 5)],
            4,
            "max_calls_per_tool=2",
        ),
        (Limits(max_calls_per_tool=2), [calls("t", 1, 2, 3)], 0, "max_calls_per_tool=2"),
    ],
)
def test_calls_are_counted_over_the_rounds(
    invoke: Invoke, limits: Limits, answers: list[Any], ran: int, says: str
) -> None:
    asked, _ = service(*answers, tools=[t, u], limits=limits)
    with pytest.raises(LimitExceededError, match=rf"Limits\.{says} ") as caught:
        invoke(asked, "ask", "hi")
    assert caught.value.limit == says.partition("=")[0]
    assert sum(not execution.is_error for execution in caught.value.tool_executions) == ran


def test_the_tool_that_was_called_too_often_is_named(invoke: Invoke) -> None:
    asked, _ = service([*calls("u", 1), *calls("t", 1, 2)], tools=[t, u], limits=Limits(max_calls_per_tool=1))
    with pytest.raises(LimitExceededError, match=r"2 calls of 't', more than .*\(it asks for u, t\)"):
        invoke(asked, "ask", "hi")


def spending(reply: Any, tokens: int) -> ChatResponse:
    message = AiMessage(reply) if isinstance(reply, str) else AiMessage(tool_calls=reply)
    return ChatResponse(message, TokenUsage(tokens - 1, 1))


def test_tokens_are_counted_after_each_answer(invoke: Invoke) -> None:
    """The tools of the answer that broke the limit do not run, and each call has a result."""
    ran: list[int] = []

    def note(i: int) -> str:
        ran.append(i)
        return "ok"

    answers = [spending(calls("note", 1), 50), spending(calls("note", 2, 3), 51)]
    asked, _ = service(*answers, tools=[note], limits=Limits(max_tokens=100))
    with pytest.raises(
        LimitExceededError, match=r"took 101 tokens, more than Limits\.max_tokens=100"
    ) as caught:
        invoke(asked, "ask", "hi")
    assert ran == [1]
    assert [execution.is_error for execution in caught.value.tool_executions] == [False, True, True]
    assert caught.value.usage.total == 101
    exactly, _ = service(*answers[:1], spending("ok", 50), tools=[note], limits=Limits(max_tokens=100))
    assert invoke(exactly, "ask", "hi").usage.total == 100


def test_a_final_answer_beyond_the_tokens_is_beyond_them_too(invoke: Invoke) -> None:
    asked, _ = service(spending("ok", 11), tools=[t], limits=Limits(max_tokens=10))
    with pytest.raises(LimitExceededError, match="max_tokens=10"):
        invoke(asked, "ask", "hi")


@pytest.mark.parametrize("limit", [0, 1, 2])
def test_answers_are_asked_for_again_so_often(invoke: Invoke, limit: int) -> None:
    asked, model = service(
        *["?"] * (limit + 1), returns=Result[int], parse_retries=10, limits=Limits(max_reasks=limit)
    )
    with pytest.raises(LimitExceededError, match=rf"Limits\.max_reasks={limit} ") as caught:
        invoke(asked, "ask", "hi")
    assert caught.value.limit == "max_reasks"
    assert len(model.requests) == limit + 1


def test_tool_rounds_are_no_asking_again(invoke: Invoke) -> None:
    asked, _ = service(
        calls("t", 1), calls("t", 2), "7", returns=Result[int], tools=[t], limits=Limits(max_reasks=0)
    )
    assert invoke(asked, "ask", "hi").content == 7


@pytest.mark.parametrize("limit", [1, 2, 3, None])
def test_so_many_run_side_by_side(invoke: Invoke, limit: int | None) -> None:
    guard, running, most = threading.Lock(), [0], [0]

    def busy(i: int) -> str:
        with guard:
            running[0] += 1
            most[0] = max(most[0], running[0])
        time.sleep(0.02)
        with guard:
            running[0] -= 1
        return str(i)

    asked, model = service(
        calls("busy", *range(6)), "ok", tools=[busy], limits=Limits(max_parallel_tools=limit)
    )
    invoke(asked, "ask", "hi")
    assert most[0] == (limit or 6)
    assert texts(model.requests[-1].messages) == [str(i) for i in range(6)]


# Time


def test_time_is_looked_at_before_each_request_and_each_tool(invoke: Invoke) -> None:
    ran: list[int] = []

    def slow(i: int) -> str:
        ran.append(i)
        time.sleep(0.08)
        return "ok"

    limits = Limits(timeout=0.05)
    asked, model = service(calls("slow", 1), tools=[slow], limits=limits)
    with pytest.raises(LimitExceededError, match=r"Limits\.timeout") as caught:
        invoke(asked, "ask", "hi")
    assert (caught.value.limit, ran, len(model.requests)) == ("timeout", [1], 1)
    ran.clear()
    asked, _ = service(calls("slow", 1, 2), tools=[slow], limits=limits, parallel_tools=False)
    with pytest.raises(LimitExceededError, match=r"Limits\.timeout") as caught:
        invoke(asked, "ask", "hi")
    assert ran == [1]
    assert caught.value.tool_executions[-1].is_error


class Waiting(aiservices.ChatModel):
    """A model that says when it was asked, and never answers; `cancelled` when it was told to stop."""

    def __init__(self, *, answers: int = 0) -> None:
        self.left = answers
        self.cancelled = False

    async def achat(self, request: Any) -> ChatResponse:
        if self.left:
            self.left -= 1
            return ChatResponse(AiMessage(tool_calls=tuple(calls("wait", self.left))))
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        raise AssertionError


@pytest.mark.anyio
async def test_an_asynchronous_service_cuts_off_a_model_that_does_not_answer() -> None:
    model = Waiting()
    asked = aiservices.create(asking(str), chat_model=model, limits=Limits(timeout=0.05))
    with pytest.raises(LimitExceededError, match=r"Limits\.timeout") as caught:
        await asked.aask("hi")
    assert (caught.value.limit, model.cancelled) == ("timeout", True)


@pytest.mark.anyio
@pytest.mark.parametrize("kind", ["blocking", "asynchronous"])
async def test_an_asynchronous_service_cuts_off_a_tool_that_does_not_end(kind: str) -> None:
    """A tool's own time-out is told to the model; that of the whole invocation ends it."""
    ending = threading.Event()

    async def wait_for_ever(i: int) -> str:
        await asyncio.Event().wait()
        raise AssertionError

    def block(i: int) -> str:
        ending.wait()
        return "too late"

    waiting = tool(name="wait")(wait_for_ever if kind == "asynchronous" else block)
    asked = aiservices.create(
        asking(str), chat_model=Waiting(answers=1), tools=[waiting], limits=Limits(timeout=0.05)
    )
    with pytest.raises(LimitExceededError, match=r"Limits\.timeout") as caught:
        await asked.aask("hi")
    ending.set()
    assert caught.value.limit == "timeout"
    assert [execution.is_error for execution in caught.value.tool_executions] == [True]


@pytest.mark.anyio
async def test_a_time_out_of_the_tools_own_is_no_limit_of_the_invocation() -> None:
    async def fetch(i: int) -> str:
        raise TimeoutError("the site is slow")

    asked, model = service(calls("fetch", 1), "ok", tools=[fetch])
    assert (await asked.aask("hi")).content == "ok"
    assert "the site is slow" in texts(model.requests[1].messages)[0]


def test_a_blocking_service_notices_when_the_answer_has_come_too_late() -> None:
    def late(request: Any) -> str:
        time.sleep(0.08)
        return "at last"

    asked, model = service(late, limits=Limits(timeout=0.05))
    with pytest.raises(LimitExceededError, match=r"Limits\.timeout") as caught:
        asked.ask("hi")
    assert (caught.value.limit, len(model.requests)) == ("timeout", 1)
    assert [response.text for response in caught.value.responses] == ["at last"]


def test_the_reader_of_a_stream_may_take_its_time() -> None:
    class Teller(Protocol):
        def ask(self, text: str) -> Iterator[str]: ...

    asked = aiservices.create(Teller, chat_model=ScriptedChatModel("one two"), limits=Limits(timeout=0.05))
    words = iter(asked.ask("hi"))
    first = next(words)
    time.sleep(0.08)
    assert first + "".join(words) == "one two"


def test_time_is_looked_at_after_the_interceptors_and_for_executors_too(invoke: Invoke) -> None:
    class Slow:
        def around(self, asked: Any, context: Any, proceed: Any) -> Any:
            time.sleep(0.06)
            return proceed(asked)

    ran: list[str] = []

    class Executor(aiservices.ToolExecutor):
        def execute(self, call: Any, context: Any) -> ToolOutcome:
            ran.append(call.name)
            return ToolOutcome("ok")

    asked, _ = service(
        calls("t", 1), tools=[t], limits=Limits(timeout=0.05), interceptors=[Slow()], tool_executor=Executor()
    )
    with pytest.raises(LimitExceededError, match=r"Limits\.timeout"):
        invoke(asked, "ask", "hi")
    assert ran == []


# The limits of a service that a tool asks


def test_the_limits_of_an_inner_service_are_the_failure_of_its_tool(invoke: Invoke) -> None:
    def delegate() -> str:
        inner, _ = service(call("boom"), tools=[boom], limits=Limits(max_round_trips=0))
        return str(inner.ask("hi").content)

    asked, model = service(call("delegate"), "sorry", tools=[delegate])
    result = invoke(asked, "ask", "hi")
    assert result.content == "sorry"
    (told,) = results(model.requests[-1].messages)
    assert told.is_error
    assert json.loads(told.text.partition(": ")[2])["error_type"] == "LimitExceededError"


# Size


@pytest.mark.parametrize("fails", [False, True])
def test_long_results_are_cut_for_the_model_only(invoke: Invoke, fails: bool) -> None:
    """TOOL-42."""
    text, heard = "A" * 200_000 + "TAIL", list[Any]()

    def big() -> str:
        if fails:
            raise aiservices.ToolError(text)
        return text

    asked, model = service(
        call("big"), "ok", tools=[big], limits=Limits(max_tool_result_chars=1000), listeners=[heard.append]
    )
    result = invoke(asked, "ask", "hi")
    (told,) = texts(model.requests[-1].messages)
    assert len(told) <= 1000
    assert told.startswith("AAA")
    assert told.endswith("TAIL")
    assert "left out" in told
    (execution,) = result.tool_executions
    assert execution.text == text
    assert fails or execution.value == text
    finished = [event.execution.text for event in heard if hasattr(event, "execution")]
    assert finished == [text]


def test_the_default_is_fifty_thousand_characters(invoke: Invoke) -> None:
    def big() -> str:
        return "x" * 60_000

    asked, model = service(call("big"), "ok", tools=[tool(big)])
    invoke(asked, "ask", "hi")
    assert len(texts(model.requests[-1].messages)[0]) <= 50_000
    asked, model = service(call("big"), "ok", tools=[tool(big)], limits=Limits(max_tool_result_chars=None))
    invoke(asked, "ask", "hi")
    assert len(texts(model.requests[-1].messages)[0]) == 60_000


# The values


def test_the_defaults_are_those_of_the_documentation() -> None:
    assert Limits() == Limits(
        max_round_trips=100,
        max_reasks=5,
        max_parallel_tools=16,
        max_tool_result_chars=50_000,
        timeout=600.0,
        max_tool_calls=None,
        max_calls_per_tool=None,
        max_argument_retries=None,
        max_tokens=None,
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_round_trips", -1),
        ("max_reasks", "5"),
        ("max_parallel_tools", 0),
        ("max_tool_result_chars", 99),
        ("timeout", float("nan")),
        ("max_tool_calls", True),
        ("max_tokens", -0.5),
        ("max_round_trips", 1.5),
    ],
)
def test_a_value_that_makes_no_sense_is_refused(name: str, value: Any) -> None:
    with pytest.raises(aiservices.ConfigurationError, match=rf"Limits\.{name} is .*: give .* or None"):
        Limits(**{name: value})
