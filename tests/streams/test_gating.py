"""With output guardrails nothing of an answer is shown before it was accepted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from pydantic import BaseModel

import aiservices
from aiservices import (
    AiMessage,
    AsyncStream,
    GuardrailRan,
    MessageWindowChatMemory,
    OutputGuardrailError,
    PartialText,
    PartialThinking,
    PartialToolCall,
    Restarted,
    Stream,
    ToolCall,
    output_guardrails,
    tool,
)
from aiservices.testing import Pieces, ScriptedChatModel
from guardrails import Accept, GuardrailRequest, Reprompt, Retry, Rewrite, Verdict

from .models import Watched
from .styles import read, streaming

HANDLES = pytest.mark.parametrize("kind", [Stream, AsyncStream])
SHOWN = (PartialText, PartialThinking, PartialToolCall, Restarted)


class Person(BaseModel):
    name: str


@tool
def now() -> str:
    """The time."""
    return "12:00"


def no_secrets(request: GuardrailRequest[Any]) -> Verdict[Any]:
    return Reprompt("a secret", "Without it.") if "secret" in request.text else Accept()


def loudly(request: GuardrailRequest[Any]) -> Verdict[Any]:
    return Rewrite(request.text.upper())


def asked(kind: Any, *replies: Any, by: Any = (no_secrets,), **options: Any) -> Any:
    protocol = output_guardrails(*by)(streaming(kind))
    model = ScriptedChatModel(*replies)
    return aiservices.create(protocol, chat_model=model, **options).ask("hi")


@HANDLES
def test_nothing_is_shown_but_the_accepted_answer_once(kind: Any) -> None:
    """Neither text nor thinking nor tool parts; and what was never shown is not called void."""
    replies = (
        AiMessage("a secret", thinking="I must not say it"),
        AiMessage("let me", (ToolCall("c1", "now", "{}"),), thinking="a tool"),
        AiMessage("it is 12:00", thinking="done"),
    )
    events = read(asked(kind[str], *replies, tools=[now]).events())
    assert [event for event in events if isinstance(event, SHOWN)] == [PartialText("it is 12:00")]


@pytest.mark.parametrize("kind", [Iterator, AsyncIterator])
def test_texts_are_the_accepted_text(kind: Any) -> None:
    """GRD-13: one guardrail rewrites, another asks again, and both are heard."""
    replies = Pieces("a ", "secret"), Pieces("a", " word")
    assert read(asked(kind[str], *replies, by=(no_secrets, loudly))) == ["A WORD"]


@pytest.mark.parametrize("kind", [Iterator, AsyncIterator])
def test_items_are_those_of_the_accepted_text(kind: Any) -> None:
    replies = '[{"name": "secret"}]', '[{"name": "Ada"}, {"name": "Tom"}]'
    assert [item.name for item in read(asked(kind[Person], *replies))] == ["Ada", "Tom"]


@HANDLES
def test_partial_values_are_those_of_the_accepted_text(kind: Any) -> None:
    replies = '{"name": "secret"}', '{"name": "Ada"}'
    seen = read(asked(kind[Person], *replies).partials())
    assert seen[-1] == Person(name="Ada")
    assert {value.name for value in seen} == {"Ada"}


@HANDLES
def test_an_accepted_answer_that_does_not_parse_is_void(kind: Any) -> None:
    events = read(asked(kind[Person], "no person", "a secret", '{"name": "Ada"}').events())
    shown = [event for event in events if isinstance(event, SHOWN)]
    assert [type(event) for event in shown] == [PartialText, Restarted, PartialText]
    assert shown[-1] == PartialText('{"name": "Ada"}')


@pytest.mark.parametrize("kind", [Iterator, AsyncIterator])
def test_a_rejected_answer_shows_nothing_and_raises(kind: Any) -> None:
    memory, seen = MessageWindowChatMemory(10), list[str]()
    stream = asked(kind[str], "secret", "secret", chat_memory=memory)

    async def areading() -> None:
        async for piece in stream:
            seen.append(piece)

    with pytest.raises(OutputGuardrailError):
        asyncio.run(areading()) if kind is AsyncIterator else seen.extend(stream)
    assert seen == []
    assert list(memory.messages()) == []


def test_retries_show_only_the_last_answer() -> None:
    def twice(request: GuardrailRequest[Any]) -> Verdict[Any]:
        return Retry("once more") if request.text == "first" else Accept()

    assert read(asked(Iterator[str], "first", "second", by=(twice,))) == ["second"]


def test_the_model_is_read_to_its_end_before_anything_is_shown() -> None:
    model = Watched("a", "b", "c")
    protocol: Any = output_guardrails(no_secrets)(streaming(Iterator[str]))
    stream = aiservices.create(protocol, chat_model=model).ask("hi")
    assert next(stream) == "abc"
    assert (model.log, model.freed) == (["made a", "made b", "made c", "made ResponseDone"], 1)


@HANDLES
def test_events_tell_each_verdict_before_the_accepted_answer_also_where_nobody_else_listens(
    kind: Any,
) -> None:
    seen = read(asked(kind[str], "a secret", "fine").events())
    told = [event for event in seen if isinstance(event, GuardrailRan | PartialText)]
    assert [type(event) for event in told] == [GuardrailRan, GuardrailRan, PartialText]
    assert [event.validation for event in told[:2]] == [1, 2]


@HANDLES
def test_thoughts_in_an_accepted_text_are_not_shown(kind: Any) -> None:
    """MEM-21: nobody has judged them."""
    seen = read(asked(kind[str], Pieces("<think>a sec", "ret</think>", "fine")).events())
    assert [event.text for event in seen if isinstance(event, PartialText)] == ["fine"]
