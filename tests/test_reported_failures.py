"""Failures of other frameworks, as users reported them, played through whole services."""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
from typing import Any, Literal, Protocol

import pytest
from pydantic import BaseModel, field_validator

import aiservices
from aiservices import (
    AiMessage,
    ChatResponse,
    ContentFilteredError,
    FinishReason,
    MessageWindowChatMemory,
    OutputParsingError,
    OutputTruncatedError,
    RefusalError,
)
from aiservices.messages import TokenUsage
from aiservices.models import Capability
from aiservices.testing import ScriptedChatModel


class Currency(StrEnum):
    EUR = "EUR"
    USD = "USD"


class Invoice(BaseModel):
    total: Decimal
    currency: Currency = Currency.EUR
    note: str | None = None


class Node(BaseModel):
    name: str
    kids: list[Node] = []


class Docs(BaseModel):
    ids: list[str]


class Letter(BaseModel):
    r: Literal["a", "b"]


class Faulty(BaseModel):
    r: Literal["a", "b"]

    @field_validator("r")
    @classmethod
    def looked_up(cls, r: str) -> str:
        return {"x": "y"}[r]


class Person(BaseModel):
    name: str


class Reader(Protocol):
    def invoice(self, text: str) -> Invoice: ...

    def node(self, text: str) -> Node: ...

    def numbers(self, text: str) -> dict[str, int]: ...

    def texts(self, text: str) -> dict[str, str]: ...

    def docs(self, text: str) -> Docs: ...

    def letter(self, text: str) -> Letter: ...

    def faulty(self, text: str) -> Faulty: ...

    def person(self, text: str) -> Person: ...

    def names(self, text: str) -> list[str]: ...

    def chat(self, text: str) -> str: ...


def reader(*replies: Any, schema: bool = False, **options: Any) -> tuple[Reader, ScriptedChatModel]:
    model = ScriptedChatModel(*replies, capabilities={Capability.JSON_SCHEMA} if schema else ())
    return aiservices.create(Reader, chat_model=model, **options), model


def parts(schema: Any) -> list[dict[str, Any]]:
    """A schema and everything in it that is one."""
    if isinstance(schema, list):
        return [part for item in schema for part in parts(item)]
    if not isinstance(schema, dict):
        return []
    return [schema, *(part for item in schema.values() for part in parts(item))]


def sent(model: ScriptedChatModel) -> Any:
    form = model.request.response_format
    assert form is not None
    return form.schema


def test_a_strict_schema_carries_no_default_and_requires_every_name() -> None:
    """SCH-04"""
    service, model = reader('{"total": "9.90", "currency": "EUR", "note": null}', schema=True)
    assert service.invoice("x") == Invoice(total=Decimal("9.90"))
    schema = sent(model)
    assert not any("default" in part for part in parts(schema) if "type" in part or "$ref" in part)
    assert set(schema["required"]) == {"total", "currency", "note"}


def test_every_reference_of_a_recursive_schema_resolves_and_its_root_is_an_object() -> None:
    """SCH-21"""
    service, model = reader('{"name": "r", "kids": [{"name": "s", "kids": []}]}', schema=True)
    assert service.node("x") == Node(name="r", kids=[Node(name="s")])
    schema = sent(model)
    assert schema["type"] == "object"
    for part in parts(schema):
        target = schema
        for step in part.get("$ref", "#").split("/")[1:]:
            target = target[step]
        assert target


@pytest.mark.parametrize(
    "fenced", ['\n```JSON\n{"a":1}\n```  \n', '```\n{"a":1}\n```', '~~~json\n{"a":1}\n~~~']
)
def test_a_fence_is_taken_off_whatever_it_looks_like(fenced: str) -> None:
    """PAR-06"""
    service, model = reader(fenced)
    assert service.numbers("x") == {"a": 1}
    assert len(model.requests) == 1


def test_a_fence_within_a_value_stays() -> None:
    """PAR-06"""
    service, _ = reader('{"md": "```py\\nx\\n```"}')
    assert service.texts("x") == {"md": "```py\nx\n```"}


def test_prose_around_the_json_costs_no_second_request() -> None:
    """PAR-08"""
    reply = 'Based on my research…\n```json\n{"ids":["a9"]}\n```\n\nHope this helps!'
    service, model = reader(reply, parse_retries=0)
    assert service.docs("x") == Docs(ids=["a9"])
    assert len(model.requests) == 1


def test_a_broken_constraint_is_told_with_the_place_and_the_text() -> None:
    """PAR-22"""
    service, model = reader('{"r":"c"}', parse_retries=0)
    with pytest.raises(OutputParsingError, match=r"r: .*'a' or 'b'") as caught:
        service.letter("x")
    assert caught.value.text == '{"r":"c"}'
    assert len(model.requests) == 1


def test_a_mistake_in_a_validator_of_the_users_is_no_reason_to_ask_again() -> None:
    """PAR-22"""
    service, model = reader('{"r":"a"}')
    with pytest.raises(KeyError):
        service.faulty("x")
    assert len(model.requests) == 1


@pytest.mark.parametrize("method", ["person", "chat"])
def test_a_refusal_is_an_error_of_its_own_and_not_asked_again(method: str) -> None:
    """PAR-03"""
    refused = AiMessage(attributes={"refusal": "I cannot help with that."})
    service, model = reader(ChatResponse(refused), parse_retries=2)
    with pytest.raises(RefusalError, match="cannot help"):
        getattr(service, method)("x")
    assert len(model.requests) == 1


@pytest.mark.parametrize(("method", "text"), [("person", '{"name":"An'), ("names", '["a", "b"')])
def test_a_cut_off_answer_is_an_error_of_its_own_and_not_asked_again(method: str, text: str) -> None:
    """PAR-11"""
    cut = ChatResponse(AiMessage(text), TokenUsage(3, 5), FinishReason.LENGTH)
    service, model = reader(cut, parse_retries=3)
    with pytest.raises(OutputTruncatedError) as caught:
        getattr(service, method)("x")
    assert len(model.requests) == 1
    assert caught.value.usage == TokenUsage(3, 5)
    assert caught.value.response == cut


@pytest.mark.parametrize("method", ["person", "chat"])
@pytest.mark.parametrize("text", [None, "half of an"])
def test_a_filtered_answer_is_an_error_of_its_own_and_leaves_no_trace_in_memory(
    method: str, text: str | None
) -> None:
    """PAR-25"""
    filtered = ChatResponse(AiMessage(text), finish_reason=FinishReason.CONTENT_FILTER)
    memory = MessageWindowChatMemory(10)
    service, model = reader(filtered, "fine", parse_retries=2, chat_memory=memory)
    with pytest.raises(ContentFilteredError):
        getattr(service, method)("x")
    assert len(model.requests) == 1
    assert memory.messages() == ()
    assert service.chat("again") == "fine"
