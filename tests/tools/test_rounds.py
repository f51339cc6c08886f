"""Rounds: every call of an answer is run, and every one gets its own result, in the order of the request."""

from __future__ import annotations

import asyncio
import threading
import time
from contextvars import ContextVar
from decimal import Decimal
from typing import Any

import pytest

from aiservices import AiMessage, Limits, ToolCall, ToolOutcome, tool
from aiservices.events import ToolFinished
from aiservices.memory import MessageWindowChatMemory
from aiservices.messages import ChatResponse, TokenUsage

from .calling import Invoke, boom, call, of_kind, results, service, texts, weather

KINDS = ("blocking", "asynchronous")
tenant: ContextVar[str] = ContextVar("tenant", default="?")


# The conversation


def test_a_result_is_the_last_message_of_the_next_request(invoke: Invoke) -> None:
    """Rows 325 and 326: one message more for the answer, one for each result."""
    asked, model = service(
        call("weather", "1", city="Bern"), call("weather", "2", city="Rome"), "ok", tools=[weather]
    )
    result = invoke(asked, "ask", "hi")
    assert result.content == "ok"
    assert [len(request.messages) for request in model.requests] == [1, 3, 5]
    assert texts(model.requests[-1].messages) == ["Bern: sunny", "Rome: sunny"]
    assert result.exchange == model.requests[-1].messages[1:]


def test_usage_is_summed_over_the_rounds(invoke: Invoke) -> None:
    """Row 337."""
    asking = AiMessage(tool_calls=(call("weather", city="Bern"),))
    answers = [ChatResponse(asking, TokenUsage(10, 20)), ChatResponse(AiMessage("ok"), TokenUsage(5, 5))]
    asked, _ = service(*answers, tools=[weather])
    assert invoke(asked, "ask", "hi").usage == TokenUsage(15, 25)


def test_all_calls_of_an_answer_run_and_its_text_is_kept(invoke: Invoke) -> None:
    """TOOL-32."""
    calls = [call("weather", str(i), city=city) for i, city in enumerate(("Paris", "Rome", "Bern"))]
    asked, model = service(AiMessage("Let me see", calls), "ok", tools=[weather])
    result = invoke(asked, "ask", "hi")
    said = model.requests[-1].messages
    assert isinstance(said[1], AiMessage)
    assert said[1].text == "Let me see"
    assert [(r.tool_call_id, r.text) for r in results(said)] == [
        ("0", "Paris: sunny"),
        ("1", "Rome: sunny"),
        ("2", "Bern: sunny"),
    ]
    assert [execution.value for execution in result.tool_executions] == texts(said)


@pytest.mark.parametrize("kind", KINDS)
def test_a_failing_call_leaves_its_siblings_alone(invoke: Invoke, kind: str) -> None:
    """AGT-08 and row 327, whether or not the calls run side by side."""
    ran = []

    def slow() -> str:
        time.sleep(0.02)
        ran.append("slow")
        return "C"

    for parallel in (True, False):
        tools = [of_kind(kind, function) for function in (weather, boom, slow)]
        calls = [call("weather", city="A"), call("boom"), call("slow")]
        asked, model = service(calls, "ok", tools=tools, parallel_tools=parallel)
        assert invoke(asked, "ask", "hi").content == "ok"
        first, second, third = results(model.requests[-1].messages)
        assert (first.text, third.text) == ("A: sunny", "C")
        assert "no luck" in second.text
        assert (first.is_error, second.is_error, third.is_error) == (False, True, False)
    assert ran == ["slow", "slow"]


def test_two_calls_of_one_tool_stay_apart_whichever_ends_first(invoke: Invoke) -> None:
    """TOOL-12, and identical calls as well."""

    def pub(t: str, i: int) -> str:
        time.sleep(0.03 - 0.01 * i)
        return f"{t}{i}"

    calls = [call("pub", "1", t="x", i=0), call("pub", "2", t="x", i=1), call("pub", "3", t="x", i=1)]
    asked, model = service(calls, "ok", tools=[pub])
    invoke(asked, "ask", "hi")
    assert [(r.tool_call_id, r.text) for r in results(model.requests[-1].messages)] == [
        ("1", "x0"),
        ("2", "x1"),
        ("3", "x1"),
    ]


def test_the_order_is_kept_one_after_another_or_side_by_side(invoke: Invoke) -> None:
    """TOOL-11."""
    log: list[str] = []

    def a() -> str:
        time.sleep(0.03)
        log.append("a")
        return "A"

    def b() -> str:
        log.append("b")
        return "B"

    for parallel, expected in ((False, ["a", "b"]), (True, ["b", "a"])):
        log.clear()
        asked, model = service([call("a"), call("b")], "ok", tools=[a, b], parallel_tools=parallel)
        invoke(asked, "ask", "hi")
        assert log == expected
        assert texts(model.requests[-1].messages) == ["A", "B"]


def test_one_after_another_nothing_begins_once_the_call_is_to_end(invoke: Invoke) -> None:
    """TOOL-11: what did not run says so; side by side, what runs is waited for (AGT-08)."""
    began: list[str] = []

    def b() -> str:
        began.append("b")
        return "B"

    options: dict[str, Any] = {"tools": [boom, b], "on_tool_error": "raise"}
    for parallel, expected in ((False, []), (True, ["b"])):
        began.clear()
        kept: list[Any] = []
        asked, _ = service(
            [call("boom"), call("b")], parallel_tools=parallel, listeners=[kept.append], **options
        )
        with pytest.raises(Exception, match="no luck") as caught:
            invoke(asked, "ask", "hi")
        assert began == expected
        first, second = caught.value.tool_executions
        assert first.is_error
        assert ("the call did not run" in second.text) is not parallel
        ended = [event.execution.call.name for event in kept if isinstance(event, ToolFinished)]
        assert sorted(ended) == ["b", "boom"] if parallel else ended == ["boom"]


# Ids and arguments


def test_ids_that_are_missing_or_repeated_become_ids_of_their_own(invoke: Invoke) -> None:
    """TOOL-17."""
    ran: list[str] = []

    def w(city: str) -> str:
        ran.append(city)
        return city.upper()

    def plain(id: Any, city: str) -> ToolCall:
        return ToolCall(id, "w", f'{{"city":"{city}"}}')

    asked, model = service(
        [plain("w", "Paris"), plain("w", "Rome")],
        [plain(None, "Bern"), plain("", "Oslo"), plain("w", "Nice")],
        "ok",
        tools=[w],
    )
    result = invoke(asked, "ask", "hi")
    assert len(result.tool_executions) == len(ran) == 5
    said = model.requests[-1].messages
    ids = [c.id for message in said if isinstance(message, AiMessage) for c in message.tool_calls]
    assert len(set(ids)) == 5
    assert all(isinstance(id, str) and id for id in ids)
    assert [(r.tool_call_id, r.text) for r in results(said)] == list(
        zip(ids, ["PARIS", "ROME", "BERN", "OSLO", "NICE"], strict=True)
    )
    assert model.requests[1].messages[1:] == said[1:4]


def test_ids_are_not_those_of_the_earlier_conversation(invoke: Invoke) -> None:
    """TOOL-17, second turn."""
    memory = MessageWindowChatMemory(100)
    for _ in range(2):
        asked, model = service(call("weather", "w", city="Bern"), "ok", tools=[weather], chat_memory=memory)
        invoke(asked, "ask", "hi")
    ids = [r.tool_call_id for r in results(model.requests[-1].messages)]
    assert len(ids) == len(set(ids)) == 2


@pytest.mark.parametrize("arguments", [None, "", "  ", "null", '""'])
def test_arguments_that_say_nothing_are_none_and_are_replayed_as_an_object(
    invoke: Invoke, arguments: Any
) -> None:
    """TOOL-06."""

    def now() -> str:
        return "12:00"

    calls = [ToolCall("1", "now", arguments), ToolCall("2", "weather", arguments)]
    asked, model = service(calls, "It is 12:00", tools=[now, weather])
    invoke(asked, "ask", "hi")
    said = model.requests[-1].messages
    assert isinstance(said[1], AiMessage)
    assert [c.arguments for c in said[1].tool_calls] == ["{}", "{}"]
    first, second = results(said)
    assert (first.text, first.is_error) == ("12:00", False)
    assert second.is_error
    assert "city" in second.text


def test_exact_numbers_reach_the_tool_and_the_text_is_replayed_as_it_was(invoke: Invoke) -> None:
    """TOOL-02."""
    got: list[Any] = []

    def lookup(id: int, amt: Decimal) -> str:
        got.append((id, amt))
        return "ok"

    arguments = '{"id":9007199254740993,"amt":1234567890.123456789}'
    asked, model = service(ToolCall("1", "lookup", arguments), "ok", tools=[lookup])
    invoke(asked, "ask", "hi")
    assert got == [(9007199254740993, Decimal("1234567890.123456789"))]
    said = model.requests[-1].messages[1]
    assert isinstance(said, AiMessage)
    assert said.tool_calls[0].arguments == arguments


@pytest.mark.parametrize(
    "text",
    [
        'Example: {"name":"boom","arguments":{}}',
        '{"name":"boom","arguments":{}}',
        '<tool_call>{"name":"boom","arguments":{}}</tool_call>',
    ],
)
def test_text_that_looks_like_a_call_is_text(invoke: Invoke, text: str) -> None:
    """TOOL-18."""
    asked, model = service(text, tools=[boom])
    result = invoke(asked, "ask", "hi")
    assert (result.content, result.tool_executions, len(model.requests)) == (text, (), 1)


# Odd tools


class MuteError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("I cannot say")


@pytest.mark.parametrize(
    ("does", "told"),
    [
        (lambda: (_ for _ in ()).throw(MuteError()), "MuteError"),
        (object, "TypeError"),
        (lambda: (_ for _ in ()).throw(StopIteration(1)), "RuntimeError"),
        (lambda: (_ for _ in ()).throw(asyncio.CancelledError()), "RuntimeError"),
        (lambda: (_ for _ in ()).throw(ExceptionGroup("several", [ValueError("one")])), "ExceptionGroup"),
        (lambda: (_ for _ in ()).throw(ValueError("x" * 50_000)), "ValueError"),
    ],
    ids=["mute", "unserialisable", "stop", "cancelled from within", "group", "huge"],
)
@pytest.mark.parametrize("kind", KINDS)
def test_whatever_a_tool_does_its_sibling_keeps_its_result(
    invoke: Invoke, kind: str, does: Any, told: str
) -> None:
    def odd() -> Any:
        return does()

    odd.__annotations__["return"] = str
    asked, model = service(
        [call("odd"), call("weather", city="A")],
        "ok",
        tools=[of_kind(kind, odd), weather],
        limits=Limits(max_tool_result_chars=1000),
    )
    assert invoke(asked, "ask", "hi").content == "ok"
    first, second = results(model.requests[-1].messages)
    assert first.is_error
    assert told in first.text
    assert len(first.text) <= 1000
    assert second.text == "A: sunny"


def test_attributes_that_no_message_can_hold_are_the_failure_of_their_call(invoke: Invoke) -> None:
    def odd() -> ToolOutcome:
        return ToolOutcome("fine", attributes={"x": object()})

    asked, model = service([call("odd"), call("weather", city="A")], "ok", tools=[odd, weather])
    invoke(asked, "ask", "hi")
    first, second = results(model.requests[-1].messages)
    assert first.is_error
    assert "TypeError" in first.text
    assert second.text == "A: sunny"


@pytest.mark.parametrize("kind", KINDS)
def test_a_tool_that_hangs_is_given_up_after_its_timeout(invoke: Invoke, kind: str) -> None:
    """MCP-02, and the thread of a blocking tool keeps nobody waiting."""
    release = threading.Event()

    def hang() -> str:
        release.wait(5)
        return "late"

    async def ahang() -> str:
        await asyncio.sleep(5)
        return "late"

    hanging = tool(timeout=0.05, name="hang")(hang if kind == "blocking" else ahang)
    asked, model = service([call("hang"), call("weather", city="A")], "sorry", tools=[hanging, weather])
    began = time.monotonic()
    assert invoke(asked, "ask", "hi").content == "sorry"
    assert time.monotonic() - began < 2
    release.set()
    first, second = texts(model.requests[-1].messages)
    assert "TimeoutError" in first
    assert "0.05" in first
    assert second == "A: sunny"


@pytest.mark.parametrize("kind", KINDS)
def test_a_tools_own_time_out_keeps_its_words(invoke: Invoke, kind: str) -> None:
    def slow() -> str:
        raise TimeoutError("the server is slow")

    asked, model = service(call("slow"), "sorry", tools=[tool(timeout=5)(of_kind(kind, slow))])
    invoke(asked, "ask", "hi")
    assert "the server is slow" in texts(model.requests[-1].messages)[0]


# Time


@pytest.mark.parametrize("kind", KINDS)
def test_eight_tools_of_fifty_milliseconds_take_hardly_longer_than_one(invoke: Invoke, kind: str) -> None:
    def slow(i: int) -> str:
        time.sleep(0.05)
        return str(i)

    async def aslow(i: int) -> str:
        await asyncio.sleep(0.05)
        return str(i)

    slept = tool(name="slow")(slow if kind == "blocking" else aslow)
    fastest, ends = 1.0, time.monotonic() + 10
    while fastest >= 0.065 and time.monotonic() < ends:  # the machine may be busy with something else
        asked, model = service([call("slow", str(i), i=i) for i in range(8)], "ok", tools=[slept])
        began = time.perf_counter()
        invoke(asked, "ask", "hi")
        fastest = min(fastest, time.perf_counter() - began)
        assert texts(model.requests[-1].messages) == [str(i) for i in range(8)]
    assert fastest < 0.065
