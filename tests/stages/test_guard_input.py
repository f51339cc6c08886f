"""Input is judged before anything is sent: what passes is what is sent, what does not costs nothing."""

from __future__ import annotations

import asyncio
import time
from contextvars import ContextVar
from typing import Annotated, Any, Protocol

import pytest

import aiservices
import guardrails
from aiservices import (
    CallFailed,
    CallStarted,
    GuardrailRan,
    ImageContent,
    InputGuardrailError,
    RequestSent,
    Result,
    TextContent,
    ToolCall,
    UserMessage,
    V,
    system_message,
    tool,
    user_message,
)
from aiservices.messages import NO_USAGE, AiMessage
from aiservices.testing import ScriptedChatModel
from guardrails import Accept, GuardrailRequest, Halt, MaxLength, Reject, Reprompt, Retry, Rewrite, Verdict

from .guarded import ran, remembering, saying, service, texts, unless

tenant: ContextVar[str] = ContextVar("tenant", default="?")
PICTURE = ImageContent(url="https://example.org/cat.png")


def test_all_that_pass_are_asked_once_and_in_order(invoke: Any) -> None:
    """Row 434."""
    first, second = unless(""), unless("")
    asked, model = service("ok", input_guardrails=[first, second])
    assert invoke(asked, "ask", "hi") == "ok"
    assert (first.texts, second.texts) == (["hi"], ["hi"])
    assert texts(model.request.messages) == ["hi"]


@pytest.mark.parametrize("kind", ["blocking", "asynchronous"])
def test_nothing_is_sent_and_no_tool_runs_before_a_slow_guardrail_has_spoken(invoke: Any, kind: str) -> None:
    """GRD-11"""
    deleted: list[str] = []

    @tool
    def delete() -> str:
        """Delete everything."""
        deleted.append("all")
        return "done"

    def slow(request: GuardrailRequest[Any]) -> Verdict[Any]:
        time.sleep(0.05)
        return Reject("no")

    async def aslow(request: GuardrailRequest[Any]) -> Verdict[Any]:
        await asyncio.sleep(0.05)
        return Reject("no")

    asked, model, memory = remembering(
        ToolCall("c1", "delete", "{}"),
        tools=[delete],
        input_guardrails=[unless(""), slow if kind == "blocking" else aslow],
    )
    with pytest.raises(InputGuardrailError, match=f"{'' if kind == 'blocking' else 'a'}slow: no") as caught:
        invoke(asked, "ask", "delete")
    assert (model.requests, deleted, memory.messages()) == ([], [], ())
    assert caught.value.usage == NO_USAGE


def test_every_complaint_is_collected_but_a_halt_ends_the_chain(invoke: Any) -> None:
    """Rows 435 and 436."""
    last = unless("")
    asked, _ = service(input_guardrails=[saying(Reject("a")), saying(Reject("b")), MaxLength(1), last])
    with pytest.raises(guardrails.InputGuardrailError) as caught:
        invoke(asked, "ask", "hello")
    assert [failure.reason for failure in caught.value.failures][:2] == ["a", "b"]
    assert len(caught.value.failures) == 3
    asked, _ = service(input_guardrails=[saying(Halt("stop")), last])
    with pytest.raises(InputGuardrailError, match=r"The input may not be sent: fixed: stop$"):
        invoke(asked, "ask", "hello")
    assert last.texts == ["hello"]


@pytest.mark.parametrize("verdict", [Retry("r"), Reprompt("r", "p"), "yes", None])
def test_what_is_no_verdict_on_input_stops_it(invoke: Any, verdict: Any) -> None:
    asked, _ = service(input_guardrails=[saying(verdict)])
    with pytest.raises(InputGuardrailError) as caught:
        invoke(asked, "ask", "hi")
    assert isinstance(caught.value.__cause__, TypeError)


def test_an_exception_in_a_guardrail_stops_the_input_and_is_the_cause(invoke: Any) -> None:
    """Row 437."""

    def fails(request: GuardrailRequest[Any]) -> Verdict[Any]:
        raise ZeroDivisionError("oops")

    last = unless("")
    asked, _ = service(input_guardrails=[fails, last])
    with pytest.raises(InputGuardrailError, match="fails: ZeroDivisionError: oops") as caught:
        invoke(asked, "ask", "hi")
    assert isinstance(caught.value.failures[0].cause, ZeroDivisionError)
    assert caught.value.__cause__ is caught.value.failures[0].cause
    assert last.texts == []


def test_guardrails_of_either_kind_see_the_callers_context(invoke: Any) -> None:
    seen: list[str] = []

    def blocking(request: GuardrailRequest[Any]) -> Verdict[Any]:
        seen.append(tenant.get())
        tenant.set("changed")  # in a copy
        return Accept()

    async def asynchronous(request: GuardrailRequest[Any]) -> Verdict[Any]:
        await asyncio.sleep(0)
        return blocking(request)

    token = tenant.set("t1")
    try:
        asked, _ = service("ok", input_guardrails=[blocking, asynchronous])
        invoke(asked, "ask", "hi")
    finally:
        tenant.reset(token)
    assert seen == ["t1", "t1"]


def test_one_that_is_inline_runs_where_the_service_runs() -> None:
    class Inline:
        inline = True

        def validate(self, request: GuardrailRequest[Any]) -> Verdict[Any]:
            asyncio.get_running_loop()  # no worker thread has one
            return Accept()

    async def call() -> str:
        asked, _ = service("ok", input_guardrails=[Inline()])
        return str(await asked.aask("hi"))

    assert asyncio.run(call()) == "ok"


def test_inline_and_asynchronous_do_not_go_together(invoke: Any) -> None:
    async def accepting(request: GuardrailRequest[Any]) -> Verdict[Any]:
        return Accept()

    class Both:
        inline = True

        def validate(self, request: GuardrailRequest[Any]) -> Any:
            return accepting(request)

    asked, _ = service(input_guardrails=[Both()])
    with pytest.raises(InputGuardrailError, match="Both says that it is inline and is asynchronous"):
        invoke(asked, "ask", "hi")


# Rewrites


def test_a_rewrite_is_what_is_sent_stored_and_seen_by_the_next(invoke: Any) -> None:
    """Rows 439 and 451: a plain Accept after it does not bring the old text back."""
    last = unless("")
    asked, model, memory = remembering("ok", "ok", input_guardrails=[saying(Rewrite("HI")), last])
    invoke(asked, "ask", "hi")
    invoke(asked, "ask", "hi")
    assert last.texts == ["HI", "HI"]
    assert texts(model.requests[1].messages) == ["HI", "ok", "HI"]
    assert texts(memory.messages()) == ["HI", "ok", "HI", "ok"]


def test_other_contents_and_the_name_of_the_user_stay() -> None:
    class Describing(Protocol):
        def ask(
            self, picture: ImageContent, who: Annotated[str, aiservices.UserName], words: list[TextContent]
        ) -> str: ...

    model = ScriptedChatModel("ok")
    asked = aiservices.create(Describing, chat_model=model, input_guardrails=[saying(Rewrite("one"))])
    asked.ask(PICTURE, "ana", [TextContent("a"), TextContent("b")])
    assert model.request.messages == (UserMessage([PICTURE, TextContent("one")], "ana"),)


def test_a_whole_message_may_take_its_place_but_nothing_else(invoke: Any) -> None:
    asked, model = service("ok", input_guardrails=[saying(Rewrite(UserMessage([PICTURE])))])
    invoke(asked, "ask", "hi")
    assert model.request.messages == (UserMessage([PICTURE]),)
    for wrong in (AiMessage("hi"), 42, None):
        asked, _ = service(input_guardrails=[saying(Rewrite(wrong))])
        with pytest.raises(InputGuardrailError, match="give a text or a UserMessage") as caught:
            invoke(asked, "ask", "hi")
        assert isinstance(caught.value.__cause__, TypeError)


def test_format_instructions_are_neither_judged_nor_rewritten(invoke: Any) -> None:
    guardrail = unless("")
    asked, model = service("4", returns=int, input_guardrails=[saying(Rewrite("how many?")), guardrail])
    assert invoke(asked, "ask", "hi") == 4
    assert guardrail.texts == ["how many?"]
    assert model.request.messages[0].text.startswith("how many?\n")  # type: ignore[union-attr]


# What guardrails and listeners are told


def test_a_guardrail_may_look_at_the_conversation_the_template_and_the_caller() -> None:
    class Chat(Protocol):
        @system_message("Be kind.")
        @user_message("Tell {{ who }} about {{ topic }}")
        def ask(self, name: Annotated[str, V("who")], topic: str) -> str: ...

    guardrail = unless("")
    chat = aiservices.create(
        Chat,
        chat_model=ScriptedChatModel("1", "2"),
        input_guardrails=[guardrail],
        chat_memory=aiservices.MessageWindowChatMemory(9),
    )
    chat.ask("Ana", "cats")
    chat.ask("Bo", "dogs")
    request = guardrail.saw[1]
    assert texts(request.messages) == ["Be kind.", "Tell Ana about cats", "1", "Tell Bo about dogs"]
    assert request.subject == UserMessage("Tell Bo about dogs")
    assert request.template == "Tell {{ who }} about {{ topic }}"
    assert dict(request.variables) == {"who": "Bo", "topic": "dogs"}
    assert request.context.method == "ask"


def test_listeners_hear_each_verdict_and_that_nothing_was_sent(invoke: Any) -> None:
    """Row 539."""
    heard: list[Any] = []
    asked, _ = service(input_guardrails=[unless(""), saying(Halt("no"))], listeners=[heard.append])
    with pytest.raises(InputGuardrailError):
        invoke(asked, "ask", "hi")
    assert list(map(type, heard)) == [CallStarted, GuardrailRan, GuardrailRan, CallFailed]
    assert ran(heard) == [("Unless", "Accept", 1), ("fixed", "Halt", 1)]
    assert heard[1].seconds >= 0


def test_listeners_hear_them_before_the_request(invoke: Any) -> None:
    heard: list[Any] = []
    asked, _ = service("ok", returns=Result[str], input_guardrails=[unless("")], listeners=[heard.append])
    assert invoke(asked, "ask", "hi").content == "ok"
    assert list(map(type, heard))[1:3] == [GuardrailRan, RequestSent]


def test_a_guardrail_that_is_cancelled_is_no_failure_of_it() -> None:
    async def patient(request: GuardrailRequest[Any]) -> Verdict[Any]:
        await asyncio.sleep(60)
        return Accept()

    async def call() -> None:
        asked, _ = service(input_guardrails=[patient])
        async with asyncio.timeout(0.05):
            await asked.aask("hi")

    with pytest.raises(TimeoutError):
        asyncio.run(call())
