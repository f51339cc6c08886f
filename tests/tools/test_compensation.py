"""Compensation: what was done is undone, in reverse and once, and everybody is told the truth."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

import aiservices
from aiservices import (
    AiMessage,
    LimitExceededError,
    Limits,
    Result,
    ToolError,
    ToolFailedError,
    tool,
)
from aiservices.events import Compensated, CompensationFailed
from aiservices.memory import MessageWindowChatMemory

from .calling import Invoke, World, boom, call, of_kind, results, service, texts

KINDS = ("blocking", "asynchronous")
ROLLED_BACK = "Tool 'book' was executed successfully but was rolled back due to failure of tool 'boom'"


def outcomes(result: Any) -> list[bool | None]:
    """For each call whether it was undone; `None` where nobody tried."""
    return [e.compensation.undone if e.compensation else None for e in result.tool_executions]


# A failed call


@pytest.mark.parametrize("kind", KINDS)
def test_a_failed_call_undoes_what_the_invocation_did_so_far(invoke: Invoke, kind: str) -> None:
    """Rows 369, 371, 376 and 377: also of earlier rounds, and the model is told."""
    world, heard = World(), list[Any]()
    memory = MessageWindowChatMemory(100)
    asked, model = service(
        call("book", "1", what="flight"),
        [call("book", "2", what="hotel"), call("boom")],
        "sorry",
        tools=[world.tool(kind=kind), boom],
        compensation="tool_error",
        parallel_tools=False,
        listeners=[heard.append],
        chat_memory=memory,
    )
    result = invoke(asked, "ask", "hi")
    assert world.log == ["book flight", "book hotel", "cancel hotel #hotel", "cancel flight #flight"]
    for said in (model.requests[-1].messages, result.exchange, memory.messages()):
        first, second, third = results(said)
        assert (first.text, second.text) == (ROLLED_BACK, ROLLED_BACK)
        assert (first.is_error, second.is_error, third.is_error) == (True, True, True)
        assert "no luck" in third.text
    assert outcomes(result) == [True, True, None]
    assert [e.value for e in result.tool_executions] == ["#flight", "#hotel", None]
    undone = [event.execution.call.id for event in heard if isinstance(event, Compensated)]
    assert undone == ["2", "1"]


@pytest.mark.parametrize(
    ("failing", "log"),
    [
        (2, ["book 0", "book 1", "cancel 1 #1", "cancel 0 #0"]),
        (1, ["book 0", "book 2", "cancel 2 #2", "cancel 0 #0"]),
        (0, ["book 1", "book 2", "cancel 2 #2", "cancel 1 #1"]),
    ],
)
def test_wherever_the_failure_is_the_others_are_undone_in_reverse(
    invoke: Invoke, failing: int, log: list[str]
) -> None:
    """Rows 372 to 374."""
    world = World()
    calls = [call("boom") if i == failing else call("book", str(i), what=str(i)) for i in range(3)]
    asked, _ = service(
        calls, "sorry", tools=[world.tool(), boom], compensation="tool_error", parallel_tools=False
    )
    invoke(asked, "ask", "hi")
    assert world.log == log


def test_the_order_is_that_in_which_the_tools_ended(invoke: Invoke) -> None:
    world = World()

    def book(what: str) -> str:
        time.sleep({"slow": 0.06, "middle": 0.03}.get(what, 0.0))
        return world.book(what)

    made = tool(book)
    made.compensation(world.cancel)
    calls = [call("book", what, what=what) for what in ("slow", "quick", "middle")]
    asked, _ = service([*calls, call("boom")], "sorry", tools=[made, boom], compensation="tool_error")
    invoke(asked, "ask", "hi")
    assert world.log[:3] == ["book quick", "book middle", "book slow"]
    assert world.log[3:] == ["cancel slow #slow", "cancel middle #middle", "cancel quick #quick"]


def test_nothing_is_undone_twice(invoke: Invoke) -> None:
    """TOOL-28 and row 375: two failures, and then the call fails as well."""
    world = World()
    asked, _ = service(
        call("book", "1", what="a"),
        call("boom", "2"),
        call("book", "3", what="b"),
        call("boom", "4"),
        ValueError("down"),
        tools=[world.tool(), boom],
        compensation="tool_error",
    )
    with pytest.raises(ValueError, match="down"):
        invoke(asked, "ask", "hi")
    assert world.log == ["book a", "cancel a #a", "book b", "cancel b #b"]


def test_the_failed_call_keeps_its_own_error_and_the_first_one_is_named(invoke: Invoke) -> None:
    world = World()

    def crash() -> str:
        raise ToolError("sold out")

    asked, model = service(
        [call("crash"), call("book", what="a"), call("boom")],
        "sorry",
        tools=[world.tool(), boom, crash],
        compensation="tool_error",
    )
    invoke(asked, "ask", "hi")
    first, second, third = texts(model.requests[-1].messages)
    assert first == "sold out"
    assert second.endswith("due to failure of tool 'crash'")
    assert "no luck" in third


@pytest.mark.parametrize(("mode", "log"), [("invocation_failure", ["book a"]), ("off", ["book a"])])
def test_in_other_modes_a_failed_call_undoes_nothing(invoke: Invoke, mode: Any, log: list[str]) -> None:
    """Row 370."""
    world = World()
    options: Any = {"tools": [world.tool(), boom], "compensation": mode}
    asked, model = service([call("book", what="a"), call("boom")], "ok", **options)
    assert outcomes(invoke(asked, "ask", "hi")) == [None, None]
    assert world.log == log
    assert texts(model.requests[-1].messages)[0] == "#a"


# A failed invocation


FAILURES: dict[str, tuple[list[Any], dict[str, Any], type[BaseException]]] = {
    "the model": ([OSError("down")], {}, OSError),
    "a limit": ([call("book", "2", what="b")], {"limits": Limits(max_round_trips=1)}, LimitExceededError),
    "parsing": (["?", "?"], {"returns": Result[int]}, aiservices.OutputParsingError),
    "a policy": ([call("boom")], {"on_tool_error": "raise"}, ToolFailedError),
    "an unknown tool": ([call("nobody")], {"on_unknown_tool": "raise"}, aiservices.UnknownToolError),
    "an empty answer": ([AiMessage(None)], {}, aiservices.EmptyAnswerError),
}


@pytest.mark.parametrize("why", FAILURES)
@pytest.mark.parametrize("mode", ["tool_error", "invocation_failure", "off"])
def test_whatever_ends_the_call_undoes_it(invoke: Invoke, mode: Any, why: str) -> None:
    replies, options, error = FAILURES[why]
    world, heard = World(), list[Any]()
    memory = MessageWindowChatMemory(100)
    asked, _ = service(
        call("book", "1", what="a"),
        *replies,
        tools=[world.tool(), boom],
        compensation=mode,
        listeners=[heard.append],
        chat_memory=memory,
        **options,
    )
    with pytest.raises(error) as caught:
        invoke(asked, "ask", "hi")
    undone = mode != "off"
    assert world.log == (["book a", "cancel a #a"] if undone else ["book a"])
    told = results(memory.messages())[0]
    assert told.is_error is undone
    assert told.text.endswith(
        f"rolled back because the invocation failed ({error.__name__})" if undone else "#a"
    )
    assert [isinstance(event, Compensated) for event in heard].count(True) == undone
    if isinstance(caught.value, aiservices.AiServiceError):
        compensation = caught.value.tool_executions[0].compensation
        assert (compensation is not None and compensation.undone) is undone


def test_a_success_is_left_alone(invoke: Invoke) -> None:
    world = World()
    asked, _ = service(call("book", what="a"), "ok", tools=[world.tool()])
    assert outcomes(invoke(asked, "ask", "hi")) == [None]
    assert world.log == ["book a"]


# Undos that fail


@pytest.mark.parametrize("kind", KINDS)
def test_a_failing_undo_is_tried_three_times_and_reported_and_the_others_still_run(
    invoke: Invoke, kind: str
) -> None:
    """Row 378, but the model is told the truth."""
    world, tries, heard = World(), list[str](), list[Any]()

    def cancel(what: str) -> None:
        tries.append(what)
        if what == "hotel":
            raise OSError("secret: 1234")
        world.standing.remove(what)

    made = aiservices.tool(name="book")(world.book)
    made.compensation(of_kind(kind, cancel))
    calls = [call("book", what, what=what) for what in ("flight", "hotel")]
    asked, model = service(
        [*calls, call("boom")],
        "sorry",
        tools=[made, boom],
        compensation="tool_error",
        parallel_tools=False,
        listeners=[heard.append],
    )
    result = invoke(asked, "ask", "hi")
    assert tries == ["hotel", "hotel", "hotel", "flight"]
    assert world.standing == ["hotel"]
    flight, hotel, _ = texts(model.requests[-1].messages)
    assert flight == ROLLED_BACK
    assert "undoing it failed (OSError): what it did still stands" in hotel
    assert "1234" not in hotel
    assert outcomes(result) == [True, False, None]
    error = result.tool_executions[1].compensation.error
    assert isinstance(error, OSError)
    failed = [event.execution.call.id for event in heard if isinstance(event, CompensationFailed)]
    assert failed == ["hotel"]


def test_the_error_that_ends_the_call_tells_what_still_stands(invoke: Invoke) -> None:
    def cancel(what: str) -> None:
        if what == "hotel":
            raise OSError("secret: 1234")

    made = aiservices.tool(name="book")(World().book)
    made.compensation(cancel)
    asked, _ = service(
        [call("book", "1", what="flight"), call("book", "2", what="hotel")], OSError("down"), tools=[made]
    )
    with pytest.raises(OSError, match="down") as caught:
        invoke(asked, "ask", "hi")
    assert caught.value.__notes__ == ["what the tool 'book' did could not be undone: OSError"]


def test_an_undo_that_works_at_last_has_worked(invoke: Invoke) -> None:
    world, tries = World(), list[str]()

    def cancel(what: str, result: str | None) -> None:
        tries.append(what)
        if len(tries) < 3:
            raise OSError
        world.cancel(what, result)

    made = aiservices.tool(name="book")(world.book)
    made.compensation(cancel)
    asked, _ = service(
        [call("book", what="a"), call("boom")], "ok", tools=[made, boom], compensation="tool_error"
    )
    assert outcomes(invoke(asked, "ask", "hi")) == [True, None]
    assert (tries, world.standing) == (["a", "a", "a"], [])


@pytest.mark.parametrize("error", [SystemExit, asyncio.CancelledError])
def test_an_undo_that_wants_to_leave_does_not_keep_the_others_from_running(
    invoke: Invoke, error: type[BaseException]
) -> None:
    world = World()

    def cancel(what: str, result: str | None) -> None:
        if what == "b":
            raise error
        world.cancel(what, result)

    made = aiservices.tool(name="book")(world.book)
    made.compensation(cancel)
    calls = [call("book", what, what=what) for what in "abc"]
    asked, _ = service(
        [*calls, call("boom")], "ok", tools=[made, boom], compensation="tool_error", parallel_tools=False
    )
    assert outcomes(invoke(asked, "ask", "hi")) == [True, False, True, None]
    assert world.standing == ["b"]
