"""What becomes of a failed call: the model is told, the call ends, or a function decides."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

import aiservices
from aiservices import (
    AiMessage,
    LimitExceededError,
    Limits,
    StoreError,
    ToolArgumentsError,
    ToolCall,
    ToolContext,
    ToolError,
    ToolFailedError,
    UnknownToolError,
)
from aiservices.memory import MessageWindowChatMemory

from .calling import Invoke, call, of_kind, results, service, texts


def forecast(city: str) -> str:
    raise ConnectionError("postgres://user:secret@host")


def polite(city: str) -> str:
    raise ToolError("No weather for that city.")


BAD = ToolCall("1", "forecast", "{ invalid json }")
CASES = {
    "unknown": (
        call("nobody", "1"),
        "on_unknown_tool",
        UnknownToolError,
        "there is no tool 'nobody'; there are: forecast, polite",
    ),
    "arguments": (
        ToolCall("1", "forecast", '{"city": 7}'),
        "on_tool_argument_error",
        ToolArgumentsError,
        "city",
    ),
    "json": (BAD, "on_tool_argument_error", ToolArgumentsError, "arguments of tool 'forecast' do not fit"),
    "failure": (
        call("forecast", "1", city="Munich"),
        "on_tool_error",
        ToolFailedError,
        "postgres://user:secret@host",
    ),
}


def facts(text: str) -> dict[str, Any]:
    prefix, _, rest = text.partition(": ")
    assert prefix == "TOOL_ERROR"
    parsed: dict[str, Any] = json.loads(rest)
    return parsed


@pytest.mark.parametrize("case", CASES)
def test_the_model_is_told_by_default_and_may_try_again(invoke: Invoke, case: str) -> None:
    """Rows 323, 327, 331, 334 and 335; TOOL-05: a failure of any kind is a result, and the call goes on."""
    asked_for, _, kind, says = CASES[case]
    asked, model = service(asked_for, call("polite", "2", city="x"), "ok", tools=[forecast, polite])
    result = invoke(asked, "ask", "hi")
    assert result.content == "ok"
    assert [len(request.messages) for request in model.requests] == [1, 3, 5]
    told, polite_one = texts(model.requests[-1].messages)
    error_type = "ConnectionError" if case == "failure" else kind.__name__
    assert facts(told) | {"error": ""} == {
        "error_type": error_type,
        "error": "",
        "tool": asked_for.name,
        "call_id": "1",
    }
    assert says in facts(told)["error"]
    assert polite_one == "No weather for that city."
    assert type(result.tool_executions[0].error).__name__ == error_type


@pytest.mark.parametrize("case", CASES)
def test_of_the_type_alone_when_the_text_may_hold_secrets(invoke: Invoke, case: str) -> None:
    asked_for, option, _, says = CASES[case]
    asked, model = service(asked_for, "ok", tools=[forecast, polite], **{option: "tell_model_type"})
    invoke(asked, "ask", "hi")
    (told,) = texts(model.requests[-1].messages)
    assert facts(told)["error"] == ""
    assert says not in told


def test_what_a_tool_says_to_the_model_is_told_under_each_policy_that_tells(invoke: Invoke) -> None:
    asked, model = service(call("polite", city="x"), "ok", tools=[polite], on_tool_error="tell_model_type")
    invoke(asked, "ask", "hi")
    assert texts(model.requests[-1].messages) == ["No weather for that city."]


@pytest.mark.parametrize("case", CASES)
def test_raising_ends_the_call_with_what_went_wrong(invoke: Invoke, case: str) -> None:
    """TOOL-05 and TOOL-10: the error names tool and cause, and memory holds a whole round."""
    asked_for, option, kind, says = CASES[case]
    memory = MessageWindowChatMemory(100)
    asked, model = service(
        [asked_for, call("polite", "2", city="x")],
        tools=[forecast, polite],
        chat_memory=memory,
        **{option: "raise"},
    )
    with pytest.raises(ToolFailedError) as caught:
        invoke(asked, "ask", "hi")
    error = caught.value
    assert type(error) is kind
    assert says in str(error)
    assert asked_for.name in str(error)
    assert error.call == asked_for
    assert len(model.requests) == 1
    assert [execution.is_error for execution in error.tool_executions] == [True, True]
    assert [result.tool_call_id for result in results(memory.messages())] == ["1", "2"]
    if case == "failure":
        assert isinstance(error.__cause__, ConnectionError)


def test_of_two_errors_that_end_the_call_the_first_one_asked_for_is_raised(invoke: Invoke) -> None:
    import time

    def slow() -> str:
        time.sleep(0.02)
        raise ValueError("slow")

    def quick() -> str:
        raise ValueError("quick")

    asked, _ = service([call("slow"), call("quick")], tools=[slow, quick], on_tool_error="raise")
    with pytest.raises(ToolFailedError, match="slow"):
        invoke(asked, "ask", "hi")


# Functions


@pytest.mark.parametrize("kind", ["blocking", "asynchronous"])
@pytest.mark.parametrize("case", CASES)
def test_a_function_gives_the_text(invoke: Invoke, kind: str, case: str) -> None:
    """Rows 328, 331, 333 and 335."""
    asked_for, option, error_kind, _ = CASES[case]
    got: list[Any] = []

    def decide(error: Exception, context: ToolContext) -> str:
        got.append((error, context))
        return "Something else."

    asked, model = service(asked_for, "ok", tools=[forecast, polite], **{option: of_kind(kind, decide)})
    invoke(asked, "ask", "hi")
    (told,) = results(model.requests[-1].messages)
    assert (told.text, told.is_error) == ("Something else.", True)
    ((error, context),) = got
    assert isinstance(error, ConnectionError if case == "failure" else error_kind)
    assert context.call == asked_for
    if isinstance(error, ToolFailedError):
        assert error.call == asked_for


class OwnError(Exception):
    pass


@pytest.mark.parametrize("kind", ["blocking", "asynchronous"])
@pytest.mark.parametrize("case", CASES)
def test_what_a_function_raises_leaves_the_call_as_it_is(invoke: Invoke, kind: str, case: str) -> None:
    """Rows 329 and 332."""
    asked_for, option, _, _ = CASES[case]
    own = OwnError("mine")

    def decide(error: Exception, context: ToolContext) -> str:
        raise own

    memory = MessageWindowChatMemory(100)
    asked, model = service(
        asked_for, tools=[forecast, polite], chat_memory=memory, **{option: of_kind(kind, decide)}
    )
    with pytest.raises(OwnError) as caught:
        invoke(asked, "ask", "hi")
    assert caught.value is own
    assert len(model.requests) == 1
    assert len(results(memory.messages())) == 1


class QuestionError(Exception):
    """Only whoever called the service can go on."""


def test_a_tool_may_end_the_call_with_a_question_to_the_caller(invoke: Invoke) -> None:
    """AJ-12, AJ-13: the memory holds a result for the call, so that it can go on afterwards."""

    def order(city: str) -> str:
        raise QuestionError(f"Which hotel in {city}?")

    def pass_on(error: Exception, context: ToolContext) -> str:
        if isinstance(error, QuestionError):
            raise error
        return str(error)

    memory = MessageWindowChatMemory(100)
    asked, model = service(
        call("order", "call_1", city="Rome"),
        "booked",
        tools=[order],
        chat_memory=memory,
        on_tool_error=pass_on,
    )
    with pytest.raises(QuestionError, match=r"Which hotel in Rome\?"):
        invoke(asked, "ask", "hi")
    assert len(model.requests) == 1
    (result,) = results(memory.messages())
    assert (result.tool_call_id, result.is_error) == ("call_1", True)
    assert "QuestionError" in result.text
    assert invoke(asked, "ask", "the one at the station").content == "booked"


def test_a_function_that_forgets_its_text_is_told_so(invoke: Invoke) -> None:
    asked, _ = service(
        call("forecast", city="x"), tools=[forecast], on_tool_error=lambda error, context: None
    )
    with pytest.raises(TypeError, match="a policy gave a NoneType: it gives the text for the model"):
        invoke(asked, "ask", "hi")


def test_each_kind_has_its_own_policy(invoke: Invoke) -> None:
    asked, model = service(
        [call("nobody"), BAD, call("forecast", "2", city="x")],
        "ok",
        tools=[forecast],
        on_unknown_tool=lambda error, context: "unknown",
        on_tool_argument_error=lambda error, context: "arguments",
        on_tool_error=lambda error, context: "failure",
    )
    invoke(asked, "ask", "hi")
    assert texts(model.requests[-1].messages) == ["unknown", "arguments", "failure"]


# Failures of what a tool uses itself


@pytest.mark.parametrize("option", ["on_unknown_tool", "on_tool_argument_error"])
def test_the_failures_of_an_inner_service_are_those_of_its_tool(invoke: Invoke, option: str) -> None:
    """The outer service knows its tools; which the inner one did not know is not its matter."""

    def delegate() -> str:
        asked_for = call("nobody") if option == "on_unknown_tool" else BAD
        inner, _ = service(asked_for, tools=[forecast], **{option: "raise"})
        return str(inner.ask("hi").content)

    policies: dict[str, Any] = {"on_unknown_tool": "raise", "on_tool_argument_error": "raise"}
    asked, model = service(call("delegate"), "sorry", tools=[delegate], **policies)
    assert invoke(asked, "ask", "hi").content == "sorry"
    assert facts(texts(model.requests[-1].messages)[0])["tool"] == "delegate"
    asked, _ = service(call("delegate"), tools=[delegate], on_tool_error="raise")
    with pytest.raises(ToolFailedError, match="tool 'delegate' failed") as caught:
        invoke(asked, "ask", "hi")
    assert type(caught.value) is ToolFailedError
    assert caught.value.call == call("delegate")


@pytest.mark.parametrize(
    "error",
    [
        StoreError("down", namespace="n"),
        LimitExceededError("enough", limit="max_tokens"),
        TimeoutError("slow"),
    ],
)
def test_a_tools_own_errors_of_our_kinds_are_failures_of_the_tool(invoke: Invoke, error: Exception) -> None:
    def uses_a_store() -> str:
        raise error

    asked, model = service(call("uses_a_store"), "sorry", tools=[uses_a_store])
    assert invoke(asked, "ask", "hi").content == "sorry"
    assert facts(texts(model.requests[-1].messages)[0])["error_type"] == type(error).__name__


def test_arguments_that_do_not_fit_may_be_sent_again_so_often(invoke: Invoke) -> None:
    """TOOL-10: the error names tool, attempts, limit and what was wrong; memory has all answers."""
    memory = MessageWindowChatMemory(20)
    asked, model = service(
        BAD, BAD, "hello", tools=[forecast], limits=Limits(max_argument_retries=1), chat_memory=memory
    )
    with pytest.raises(
        LimitExceededError, match=r"in 2 rounds .*'forecast'.*max_argument_retries=1"
    ) as caught:
        invoke(asked, "ask", "hi")
    assert caught.value.limit == "max_argument_retries"
    assert isinstance(caught.value.__cause__, ToolArgumentsError)
    assert str(caught.value.__cause__) in str(caught.value)
    assert invoke(asked, "ask", "again").content == "hello"
    answers = [message for message in model.requests[-1].messages if isinstance(message, AiMessage)]
    asked_ids = [asked_for.id for answer in answers for asked_for in answer.tool_calls]
    assert [result.tool_call_id for result in results(model.requests[-1].messages)] == asked_ids
    assert len(asked_ids) == 2


def test_a_call_that_fits_begins_the_count_of_wrong_arguments_anew(invoke: Invoke) -> None:
    """TOOL-10: and two wrong calls of one answer are one attempt."""
    good = call("forecast", city="Rome")
    asked, _ = service(
        [BAD, BAD], good, BAD, [BAD, good], BAD, "ok", tools=[forecast], limits=Limits(max_argument_retries=1)
    )
    assert invoke(asked, "ask", "hi").content == "ok"
    asked, _ = service(BAD, tools=[forecast], limits=Limits(max_argument_retries=0))
    with pytest.raises(LimitExceededError):
        invoke(asked, "ask", "hi")


def test_wrong_arguments_are_bounded_by_the_rounds_too(invoke: Invoke) -> None:
    """TOOL-10: without a limit of their own."""
    asked, _ = service(BAD, BAD, tools=[forecast], limits=Limits(max_round_trips=1))
    with pytest.raises(LimitExceededError, match="forecast") as caught:
        invoke(asked, "ask", "hi")
    assert "do not fit" in caught.value.tool_executions[0].text


# Logging


def test_only_failures_that_nobody_else_hears_of_are_logged(
    invoke: Invoke, caplog: pytest.LogCaptureFixture
) -> None:
    """Row 338: with the traceback; what is meant for the model and what a function has seen is not."""
    asked_for = [call("forecast", "1", city="x"), call("polite", city="x"), call("nobody"), BAD]
    asked, _ = service(asked_for, "ok", tools=[forecast, polite])
    with caplog.at_level(logging.WARNING, "aiservices"):
        invoke(asked, "ask", "hi")
    (record,) = caplog.records
    assert record.getMessage() == "tool forecast failed, and the model is told"
    assert record.exc_info is not None
    caplog.clear()
    asked, _ = service(asked_for[0], "ok", tools=[forecast], on_tool_error=lambda error, context: "no")
    invoke(asked, "ask", "hi")
    assert not caplog.records


def test_a_tool_never_runs_again_by_itself(invoke: Invoke) -> None:
    """TOOL-26: neither after its own failure nor when the model fails later."""
    ledger: list[str] = []

    def pay(order: str) -> str:
        ledger.append(order)
        return "paid"

    asked, _ = service(call("pay", order="o1"), aiservices.RateLimitError("slow down"), tools=[pay])
    with pytest.raises(aiservices.RateLimitError) as caught:
        invoke(asked, "ask", "hi")
    assert ledger == ["o1"]
    assert [execution.value for execution in caught.value.tool_executions] == ["paid"]
