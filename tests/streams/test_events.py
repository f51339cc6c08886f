"""What happens in a streamed call, told while it happens."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from aiservices import (
    AiMessage,
    AsyncStream,
    CallFailed,
    ServerError,
    Stream,
    ToolCall,
    ToolFinished,
    ToolStarted,
    tool,
)
from aiservices.testing import Pieces

from .models import Watched
from .services import HANDLES, asked, calling, now, read_until_it_fails
from .styles import read
from .test_four_styles import FAILING, UNDOING, booking


def kinds(stream: Any) -> list[str]:
    return [type(event).__name__ for event in read(stream.events())]


@HANDLES
def test_events_are_those_of_the_model_and_those_that_listeners_hear(kind: Any) -> None:
    """Rows 522 and 523."""
    heard: list[Any] = []
    stream = asked(kind[str], calling(), Pieces("12", ":00"), tools=[now], listeners=[heard.append])
    events = read(stream.events())
    assert [type(event).__name__ for event in events] == [
        "CallStarted",
        "RequestSent",
        "PartialToolCall",
        "ResponseReceived",
        "ToolStarted",
        "ToolFinished",
        "RequestSent",
        "PartialText",
        "PartialText",
        "ResponseReceived",
        "CallCompleted",
    ]
    assert [event for event in events if hasattr(event, "context")] == heard


@HANDLES
def test_events_of_an_answer_that_is_asked_for_again_say_that_it_is_void(kind: Any) -> None:
    assert kinds(asked(kind[int], "many", "7")) == [
        "CallStarted",
        "RequestSent",
        "PartialText",
        "ResponseReceived",
        "AskedAgain",
        "Restarted",
        "RequestSent",
        "PartialText",
        "ResponseReceived",
        "CallCompleted",
    ]


@HANDLES
def test_events_of_a_failed_call_end_with_the_failure(kind: Any) -> None:
    stream = asked(kind[str], Watched("a", ServerError("down")))
    seen, error = read_until_it_fails(stream.events(), ServerError)
    assert [type(event).__name__ for event in seen][-2:] == ["PartialText", "CallFailed"]
    assert seen[-1].error is error
    assert seen[-1].text == "a"


@HANDLES
def test_a_failed_call_tells_as_much_of_the_answer_as_came(kind: Any) -> None:
    """Section 10: the failure has the partial text, not that of the answer before it."""
    asks = AiMessage("let me look", (ToolCall("c1", "now", "{}"),))
    heard: list[Any] = []
    stream = asked(
        kind[str],
        asks,
        Pieces("it ", "is ", ServerError("down")),
        tools=[now],
        listeners=[heard.append],
    )
    read_until_it_fails(stream.events(), ServerError)
    assert (type(heard[-1]), heard[-1].text) == (CallFailed, "it is ")


@HANDLES
def test_a_call_that_fails_between_two_answers_tells_the_last(kind: Any) -> None:
    asks = AiMessage("let me look", (ToolCall("c1", "now", "{}"),))
    stream = asked(kind[str], asks, ServerError("down"), tools=[now])
    seen, _ = read_until_it_fails(stream.events(), ServerError)
    assert seen[-1].text == "let me look"


@pytest.mark.parametrize("calls", [1, 3])
def test_events_of_tools_come_while_the_tools_run(calls: int) -> None:
    """Row 523: the reader hears of a tool's start before the tool has ended."""
    heard = threading.Event()

    @tool
    def waiting(number: int) -> str:
        """Wait."""
        if calls > 1:  # one alone runs in step with its reader
            assert heard.wait(5)
        return "done"

    asks = [ToolCall(f"c{number}", "waiting", f'{{"number": {number}}}') for number in range(calls)]
    order: list[str] = []
    for event in asked(Stream[str], asks, "x", tools=[waiting]).events():
        if isinstance(event, ToolStarted | ToolFinished):
            order.append(type(event).__name__)
            assert not (isinstance(event, ToolFinished) and event.execution.is_error)
        if order.count("ToolStarted") == calls:
            heard.set()
    assert order.count("ToolStarted") == order.count("ToolFinished") == calls
    assert order[:calls] == ["ToolStarted"] * calls


def test_events_of_asynchronous_tools_come_while_the_tools_run() -> None:
    async def main() -> None:
        heard = asyncio.Event()

        @tool
        async def waiting(number: int) -> str:
            """Wait."""
            await asyncio.wait_for(heard.wait(), 5)
            return "done"

        asks = [ToolCall(f"c{number}", "waiting", f'{{"number": {number}}}') for number in range(3)]
        async for event in asked(AsyncStream[str], asks, "x", tools=[waiting]).events():
            if isinstance(event, ToolStarted) and event.call.id == "c2":
                heard.set()
            assert not (isinstance(event, ToolFinished) and event.execution.is_error)

    asyncio.run(main())


def test_events_of_an_undo_come_before_the_next_request() -> None:
    stream = asked(Stream[str], [booking(1), FAILING], "x", compensation="tool_error", **UNDOING)
    names = kinds(stream)
    undone = names.index("Compensated")
    assert names[undone + 1] == "RequestSent"
