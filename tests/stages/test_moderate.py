"""A moderation judges the user's words beside the first request, and nothing runs that it forbids."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any, Protocol

import pytest

import aiservices
import guardrails
from aiservices import (
    ConfigurationError,
    ImageContent,
    ModerationError,
    RequestSent,
    ServerError,
    ToolCall,
    moderate,
    tool,
)
from aiservices.messages import TokenUsage
from aiservices.models import ModerationModel, ModerationResult
from aiservices.testing import ScriptedChatModel
from guardrails import Accept, GuardrailRequest, Reprompt, Rewrite, Verdict
from tests.asking import answer, asking

from .guarded import saying, texts

tenant: ContextVar[str] = ContextVar("tenant", default="?")
FLAGGED = ModerationResult(True, ("violence", "hate"))


class Blocking(ModerationModel):
    """Says what it was told to say, raises what it was told to raise, and notes what it was asked."""

    def __init__(self, says: Any = ModerationResult(False)) -> None:  # noqa: B008
        self.says = says
        self.asked: list[tuple[str, ...]] = []
        self.tenants: list[str] = []

    def moderate(self, texts: Sequence[str]) -> ModerationResult:
        self.asked.append(tuple(texts))
        self.tenants.append(tenant.get())
        if isinstance(self.says, BaseException):
            raise self.says
        return self.says  # type: ignore[no-any-return]


class Asynchronous(ModerationModel):
    def __init__(self, says: Any = ModerationResult(False)) -> None:  # noqa: B008
        self.inner = Blocking(says)

    async def amoderate(self, texts: Sequence[str]) -> ModerationResult:
        await asyncio.sleep(0)
        return self.inner.moderate(texts)


class Both(Blocking):
    async def amoderate(self, texts: Sequence[str]) -> ModerationResult:
        return self.moderate(texts)


def moderated(moderation: ModerationModel, *replies: Any, returns: Any = str, **options: Any) -> Any:
    model = ScriptedChatModel(*replies)
    protocol = moderate(asking(returns))
    asked = aiservices.create(protocol, chat_model=model, moderation_model=moderation, **options)
    return asked, model


@pytest.mark.parametrize("kind", [Blocking, Asynchronous, Both])
def test_a_flagged_text_ends_the_call_and_the_error_says_why_and_what_it_cost(
    invoke: Any, kind: type[Any]
) -> None:
    """Row 542."""
    asked, model = moderated(kind(FLAGGED), answer("x"))
    with pytest.raises(ModerationError, match=r"violates the content policy: .*violence, hate") as caught:
        invoke(asked, "ask", "bad words")
    assert caught.value.categories == ("violence", "hate")
    assert isinstance(caught.value, guardrails.ModerationError)
    assert caught.value.usage == TokenUsage(1, 2)
    assert len(model.requests) == 1


@pytest.mark.parametrize("kind", [Blocking, Asynchronous, Both])
def test_a_clean_text_passes(invoke: Any, kind: type[Any]) -> None:
    """Row 543."""
    asked, _ = moderated(kind(), "ok")
    assert invoke(asked, "ask", "fine") == "ok"


def test_no_tool_runs_when_the_text_is_flagged(invoke: Any) -> None:
    ran: list[str] = []

    @tool
    def delete() -> str:
        """Delete."""
        ran.append("deleted")
        return "done"

    memory = aiservices.MessageWindowChatMemory(9)
    call = ToolCall("c1", "delete", "{}")
    asked, _ = moderated(Blocking(FLAGGED), call, tools=[delete], chat_memory=memory)
    with pytest.raises(ModerationError):
        invoke(asked, "ask", "delete it all")
    assert (ran, memory.messages()) == ([], ())


def test_only_the_first_request_is_moderated_and_only_the_users_words(invoke: Any) -> None:
    @tool
    def look() -> str:
        """Look."""
        return "seen"

    def no_no(request: GuardrailRequest[Any]) -> Verdict[Any]:
        return Reprompt("no no", "again") if request.text == "no" else Accept()

    moderation = Blocking()
    replies = ("no", ToolCall("c1", "look", "{}"), "many", "7")
    asked, model = moderated(moderation, *replies, returns=int, tools=[look], output_guardrails=[no_no])
    assert invoke(asked, "ask", "how many?") == 7
    assert len(model.requests) == 4
    assert moderation.asked == [("how many?",)]


def test_what_is_moderated_is_what_input_guardrails_left(invoke: Any) -> None:
    moderation = Blocking()
    asked, model = moderated(moderation, "ok", input_guardrails=[saying(Rewrite("softer"))])
    invoke(asked, "ask", "harsh")
    assert moderation.asked == [("softer",)]
    assert texts(model.request.messages) == ["softer"]


@pytest.mark.parametrize("text", ["", "  \n"])
def test_blank_texts_are_not_sent_to_a_moderation(invoke: Any, text: str) -> None:
    moderation = Blocking(FLAGGED)
    asked, _ = moderated(moderation, "ok")
    assert invoke(asked, "ask", text) == "ok"
    assert moderation.asked == []


def test_of_a_mixed_message_the_words_are_moderated() -> None:
    class Describing(Protocol):
        @moderate
        def ask(self, text: str, picture: ImageContent) -> str: ...

    moderation = Blocking()
    service = aiservices.create(Describing, chat_model=ScriptedChatModel("ok"), moderation_model=moderation)
    service.ask("what is it?", ImageContent(url="https://example.org/cat.png"))
    assert moderation.asked == [("what is it?",)]


# Failing


@pytest.mark.parametrize("kind", [Blocking, Asynchronous, Both])
def test_a_moderation_that_fails_blocks(invoke: Any, kind: type[Any]) -> None:
    asked, _ = moderated(kind(ServerError("down")), answer("x"))
    with pytest.raises(ServerError, match="down") as caught:
        invoke(asked, "ask", "hi")
    assert caught.value.usage == TokenUsage(1, 2)


def test_when_both_fail_the_callers_words_are_what_is_told(invoke: Any) -> None:
    asked, _ = moderated(Blocking(FLAGGED), ServerError("model down"))
    with pytest.raises(ModerationError):
        invoke(asked, "ask", "hi")
    asked, _ = moderated(Blocking(), ServerError("model down"))
    with pytest.raises(ServerError, match="model down"):
        invoke(asked, "ask", "hi")


def test_what_is_no_result_of_a_moderation_blocks() -> None:
    asked, _ = moderated(Blocking("fine"), "ok")
    with pytest.raises(ServerError, match=r"Blocking gave a str, not a ModerationResult"):
        asked.ask("hi")

    class Wrong(ModerationModel):
        async def moderate(self, texts: Sequence[str]) -> ModerationResult:  # type: ignore[override]
            return FLAGGED

    asked, _ = moderated(Wrong(), "ok")
    with pytest.raises(ServerError, match=r"Wrong\.moderate is asynchronous: the name for that is amoderate"):
        asked.ask("hi")


def test_a_model_that_overrides_nothing_is_refused_and_one_is_needed() -> None:
    with pytest.raises(TypeError, match="overrides neither moderate nor amoderate"):
        type("Nothing", (ModerationModel,), {})
    with pytest.raises(ConfigurationError, match="ask: @moderate needs the option moderation_model"):
        aiservices.create(moderate(asking(str)), chat_model=ScriptedChatModel())


# Side by side


def test_the_moderation_and_the_request_run_at_the_same_time(invoke: Any) -> None:
    met = threading.Barrier(2, timeout=10)

    class Meeting(ModerationModel):
        def moderate(self, texts: Sequence[str]) -> ModerationResult:
            met.wait()
            return ModerationResult(False)

    async def reply(request: Any) -> str:
        await asyncio.get_running_loop().run_in_executor(None, met.wait)
        return "ok"

    asked, _ = moderated(Meeting(), reply)
    assert invoke(asked, "ask", "hi") == "ok"


def test_both_see_the_callers_context_and_events_and_journal_are_whole(invoke: Any) -> None:
    heard: list[Any] = []
    moderation = Blocking()
    token = tenant.set("t1")
    try:
        asked, _ = moderated(
            moderation, answer("a"), answer("7"), returns=aiservices.Result[int], listeners=[heard.append]
        )
        result = invoke(asked, "ask", "hi")
    finally:
        tenant.reset(token)
    assert moderation.tenants == ["t1"]
    assert result.usage == TokenUsage(2, 4)
    assert [type(event).__name__ for event in heard].count(RequestSent.__name__) == 2


def test_a_cancelled_call_leaves_neither_behind() -> None:
    ended: list[str] = []

    class Patient(ModerationModel):
        async def amoderate(self, texts: Sequence[str]) -> ModerationResult:
            try:
                await asyncio.sleep(60)
            finally:
                ended.append("moderation")
            return ModerationResult(False)

    async def reply(request: Any) -> str:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("request")
        return "ok"

    async def call() -> None:
        asked, _ = moderated(Patient(), reply)
        async with asyncio.timeout(0.05):
            await asked.aask("hi")

    with pytest.raises(TimeoutError):
        asyncio.run(call())
    assert sorted(ended) == ["moderation", "request"]
