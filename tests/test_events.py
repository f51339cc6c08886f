"""What listeners hear of a call, in which order, and that they cannot hurt it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import aiservices
from aiservices import (
    AskedAgain,
    CallCompleted,
    CallFailed,
    CallStarted,
    ConfigurationError,
    Event,
    OutputParsingError,
    RequestSent,
    ResponseReceived,
    TextContent,
    ToolCall,
    ToolFinished,
    ToolStarted,
    UserMessage,
)
from aiservices.events import EVENTS
from aiservices.messages import TokenUsage
from aiservices.testing import ScriptedChatModel
from tests.asking import answer, asking


class Recorder:
    """A listener object; `events` is what it heard."""

    def __init__(self) -> None:
        self.events: list[Any] = []

    def on_event(self, event: Event) -> None:
        self.events.append(event)

    @property
    def kinds(self) -> list[type]:
        return [type(event) for event in self.events]


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


EXCHANGE = [RequestSent, ResponseReceived]


def test_a_call_is_started_asked_answered_and_completed(invoke: Any, recorder: Recorder) -> None:
    model = ScriptedChatModel(answer("7"))
    assert invoke(aiservices.create(asking(int), chat_model=model, listeners=[recorder]), "ask", "hi") == 7
    assert recorder.kinds == [CallStarted, *EXCHANGE, CallCompleted]
    _, sent, received, completed = recorder.events
    assert sent.request is model.request
    assert received.response == answer("7")
    assert (completed.value, completed.usage) == (7, TokenUsage(1, 2))


def test_asking_again_is_heard_with_its_reason(invoke: Any, recorder: Recorder) -> None:
    model = ScriptedChatModel("?", "??", "7")
    service = aiservices.create(asking(int), chat_model=model, parse_retries=2, listeners=[recorder])
    invoke(service, "ask", "hi")
    assert recorder.kinds == [
        CallStarted,
        *EXCHANGE,
        AskedAgain,
        *EXCHANGE,
        AskedAgain,
        *EXCHANGE,
        CallCompleted,
    ]
    again = [event for event in recorder.events if isinstance(event, AskedAgain)]
    assert [event.attempt for event in again] == [1, 2]
    assert [UserMessage(event.reason) for event in again] == [
        request.messages[-1] for request in model.requests[1:]
    ]


def test_a_failure_of_the_model_is_heard_once_and_nothing_after_it(invoke: Any, recorder: Recorder) -> None:
    error = ConnectionError("gone")
    service = aiservices.create(asking(int), chat_model=ScriptedChatModel(error), listeners=[recorder])
    with pytest.raises(ConnectionError):
        invoke(service, "ask", "hi")
    assert recorder.kinds == [CallStarted, RequestSent, CallFailed]
    assert (recorder.events[-1].error, recorder.events[-1].text) == (error, None)


def test_a_failure_tells_what_the_model_had_answered(invoke: Any, recorder: Recorder) -> None:
    model = ScriptedChatModel("?", "??")
    service = aiservices.create(asking(int), chat_model=model, listeners=[recorder])
    with pytest.raises(OutputParsingError) as caught:
        invoke(service, "ask", "hi")
    assert recorder.kinds == [CallStarted, *EXCHANGE, AskedAgain, *EXCHANGE, CallFailed]
    assert (recorder.events[-1].error, recorder.events[-1].text) == (caught.value, "??")
    assert caught.value.usage.known  # it is on the error by the time listeners see it


def test_an_error_before_any_request_is_heard(invoke: Any, recorder: Recorder) -> None:
    def fail(context: Any) -> str:
        raise LookupError("no prompt")

    service = aiservices.create(
        asking(int), chat_model=ScriptedChatModel(), system_message=fail, listeners=[recorder]
    )
    with pytest.raises(LookupError):
        invoke(service, "ask", "hi")
    assert recorder.kinds == [CallStarted, CallFailed]


def test_every_event_tells_the_same_context(invoke: Any, recorder: Recorder) -> None:
    before = datetime.now().astimezone()
    model = ScriptedChatModel("?", "7", "8")
    service = aiservices.create(asking(int), chat_model=model, listeners=[recorder])
    invoke(service, "ask", text="hi")
    contexts = {id(event.context) for event in recorder.events}
    assert len(contexts) == 1
    context = recorder.events[0].context
    assert (context.service, context.method in ("ask", "aask")) == ("Asker", True)
    assert context.arguments == {"text": "hi"}
    assert before <= context.time <= datetime.now().astimezone()
    assert context.time.utcoffset() is not None
    invoke(service, "ask", text="hi")
    assert recorder.events[-1].context.invocation_id != context.invocation_id


def test_a_tool_turn_is_heard_step_by_step_under_one_id(invoke: Any, recorder: Recorder) -> None:
    """AJ-39"""

    def look() -> str:
        return "seen"

    model = ScriptedChatModel(ToolCall("c1", "look", "{}"), "ok")
    service = aiservices.create(asking(str), chat_model=model, tools=[look], listeners=[recorder])
    invoke(service, "ask", "hi")
    assert recorder.kinds == [
        CallStarted,
        *EXCHANGE,
        ToolStarted,
        ToolFinished,
        *EXCHANGE,
        CallCompleted,
    ]
    (id,) = {event.context.invocation_id for event in recorder.events}
    assert id


def test_a_call_without_what_it_needs_is_heard_and_does_not_run(invoke: Any, recorder: Recorder) -> None:
    """AJ-03"""
    ran: list[str] = []

    def execute(command: str) -> str:
        ran.append(command)
        return "done"

    model = ScriptedChatModel(ToolCall("c1", "execute", '{"action": "exec"}'), "ok")
    service = aiservices.create(asking(str), chat_model=model, tools=[execute], listeners=[recorder])
    invoke(service, "ask", "hi")
    assert ran == []
    assert recorder.kinds[3:5] == [ToolStarted, ToolFinished]
    assert recorder.events[4].execution.is_error
    assert "command: Field required" in recorder.events[4].execution.text


@given(bad=st.integers(0, 4), retries=st.integers(0, 3))
def test_a_call_has_one_beginning_one_end_and_an_answer_for_each_request(bad: int, retries: int) -> None:
    recorder = Recorder()
    model = ScriptedChatModel(*["?"] * bad, "7")
    service = aiservices.create(asking(int), chat_model=model, parse_retries=retries, listeners=[recorder])
    try:
        service.ask("hi")
    except OutputParsingError:
        end: type = CallFailed
    else:
        end = CallCompleted
    rounds = min(bad, retries) + 1
    assert recorder.kinds == [CallStarted, *([*EXCHANGE, AskedAgain] * rounds)[:-1], end]


# Listeners


def test_listeners_are_told_in_their_order_whichever_form_they_have() -> None:
    heard: list[Any] = []

    class Listener:
        def on_event(self, event: Event) -> None:
            heard.append(("object", type(event)))

    def function(event: Event) -> None:
        heard.append(("function", type(event)))

    service = aiservices.create(
        asking(str), chat_model=ScriptedChatModel("ok"), listeners=(function, Listener())
    )
    service.ask("hi")
    assert [form for form, _ in heard] == ["function", "object"] * 4
    assert heard[0][1] is heard[1][1] is CallStarted


def test_a_listener_that_fails_is_logged_once_for_each_event_and_hurts_nothing(
    invoke: Any, recorder: Recorder, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(event: Event) -> None:
        raise RuntimeError("broken listener")

    service = aiservices.create(
        asking(str), chat_model=ScriptedChatModel("ok", LookupError("gone")), listeners=[broken, recorder]
    )
    with caplog.at_level(logging.DEBUG):
        assert invoke(service, "ask", "hi") == "ok"
    assert recorder.kinds == [CallStarted, *EXCHANGE, CallCompleted]
    assert [record.levelname for record in caplog.records if record.name == "aiservices"] == ["WARNING"] * 4
    assert "a listener failed on CallStarted" in caplog.text
    recorder.events.clear()
    caplog.clear()
    with pytest.raises(LookupError, match="gone"):
        invoke(service, "ask", "hi")
    assert recorder.kinds == [CallStarted, RequestSent, CallFailed]
    assert len([record for record in caplog.records if record.name == "aiservices"]) == 3


@pytest.mark.parametrize("kind", [CallStarted, RequestSent, ResponseReceived])
def test_an_interrupt_in_a_listener_ends_the_call_and_is_heard(
    invoke: Any, recorder: Recorder, kind: type
) -> None:
    def interrupt(event: Event) -> None:
        if type(event) is kind:
            raise KeyboardInterrupt

    service = aiservices.create(
        asking(str), chat_model=ScriptedChatModel("ok"), listeners=[recorder, interrupt]
    )
    with pytest.raises(KeyboardInterrupt):
        invoke(service, "ask", "hi")
    assert recorder.kinds[-2:] == [kind, CallFailed]
    assert recorder.kinds.count(CallFailed) == 1


async def asynchronous(event: Event) -> None:
    """It would never run."""


class AsynchronousObject:
    async def on_event(self, event: Event) -> None:
        """It would never run."""


class AsynchronousCall:
    async def __call__(self, event: Event) -> None:
        """It would never run."""


@pytest.mark.parametrize(
    ("listener", "complaint"),
    [
        (7, "a listener is a callable of one event or has on_event"),
        (Recorder, r"a listener is an object, not its class: give Recorder\(\)"),
        (asynchronous, "cannot be asynchronous"),
        (AsynchronousObject(), "cannot be asynchronous"),
        (AsynchronousCall(), "cannot be asynchronous"),
    ],
)
def test_what_could_not_hear_is_refused_when_the_service_is_created(listener: Any, complaint: str) -> None:
    with pytest.raises(ConfigurationError, match=complaint):
        aiservices.create(asking(str), chat_model=ScriptedChatModel(), listeners=[listener])


@pytest.mark.parametrize("listeners", [print, Recorder(), "print", None])
def test_listeners_are_a_sequence(listeners: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"listeners is [\w ]+: give a list or a tuple"):
        aiservices.create(asking(str), chat_model=ScriptedChatModel(), listeners=listeners)


def test_all_mistakes_of_the_options_are_told_together() -> None:
    with pytest.raises(ConfigurationError) as caught:
        aiservices.create(
            asking(str),
            parse_retries=-1,
            listeners=[7, asynchronous],
            stages=[7],  # type: ignore[list-item]
        )
    assert len(caught.value.problems) == 5


# What events show


def test_the_closed_list_of_events_holds_every_event_with_a_context() -> None:
    assert {CallStarted, RequestSent, ResponseReceived, AskedAgain, CallCompleted, CallFailed} <= set(EVENTS)
    for kind in EVENTS:
        assert fields(kind)[0].name == "context"


SECRET = "k9-abc123SECRET"


@pytest.mark.parametrize("reply", [answer(f"{SECRET}!"), answer("7"), answer(None), LookupError("gone")])
def test_prompts_arguments_and_answers_show_in_no_repr(reply: Any, recorder: Recorder) -> None:
    model = ScriptedChatModel(SECRET, reply)
    service = aiservices.create(
        asking(int), chat_model=model, system_message=SECRET, listeners=[recorder], parse_retries=2
    )
    with suppress(LookupError, aiservices.AiServiceError, AssertionError):
        service.ask(f"my password is {SECRET}")
    assert AskedAgain in recorder.kinds
    shown = [event for event in recorder.events if not isinstance(event, CallFailed)]  # it shows its error
    assert SECRET not in repr(shown)


FAILURES: dict[str, Callable[[], dict[str, Any]]] = {
    "parse": lambda: {"replies": ["?", "?"]},
    "empty": lambda: {"replies": [""]},
    "no response": lambda: {
        "replies": [lambda request: answer("1")],
        "chat_request_transformer": lambda r, c: 1,
    },
    "system": lambda: {"replies": [], "system_message": lambda context: 7},
    "content": lambda: {"replies": [], "system_message_transformer": lambda text, context: b"x"},
}


@pytest.mark.parametrize("failure", FAILURES)
def test_prompts_and_arguments_are_in_no_error_and_no_log(
    invoke: Any, failure: str, caplog: pytest.LogCaptureFixture
) -> None:
    options = FAILURES[failure]()
    model = ScriptedChatModel(*options.pop("replies"))
    service = aiservices.create(
        asking(int), chat_model=model, **{"system_message": f"The key is {SECRET}", **options}
    )
    with caplog.at_level(logging.DEBUG), pytest.raises(Exception) as caught:
        invoke(service, "ask", f"my password is {SECRET}")
    shown: BaseException | None = caught.value
    while shown is not None:
        assert SECRET not in f"{shown!s} {shown!r}"
        shown = shown.__cause__ or shown.__context__
    assert SECRET not in caplog.text
    assert SECRET not in repr(service)


def test_text_contents_do_show_in_their_own_repr() -> None:
    assert "hi" in repr(TextContent("hi"))  # so events must hide what holds them
