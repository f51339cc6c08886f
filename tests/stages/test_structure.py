"""The return type shapes the request, and the answer becomes a value, an error or another question."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, field_validator

import aiservices
import outputparsers
from aiservices import (
    AiMessage,
    Capability,
    ChatResponse,
    ContentFilteredError,
    EmptyAnswerError,
    OutputParsingError,
    OutputTruncatedError,
    RefusalError,
    Result,
    ToolCall,
    UserMessage,
)
from aiservices.invocation import MAX_CORRECTION_CHARS
from aiservices.messages import FinishReason, TokenUsage
from aiservices.testing import ScriptedChatModel
from tests.asking import answer, asking


@dataclass
class Person:
    name: str
    age: int


class Mood(Enum):
    GOOD = "good"
    BAD = "bad"


PERSON = '{"name": "Ana", "age": 3}'
SCHEMA = {Capability.JSON_SCHEMA}


# What is asked for


def test_a_model_that_takes_schemas_is_sent_one_and_no_instructions(invoke: Any) -> None:
    model = ScriptedChatModel(PERSON, capabilities=SCHEMA)
    invoke(aiservices.create(asking(Person), chat_model=model), "ask", "Who?")
    parser = outputparsers.output_parser(Person)
    response_format = model.request.response_format
    assert response_format is not None
    assert (response_format.name, response_format.schema) == ("Person", parser.json_schema())
    assert response_format.strict
    assert model.request.messages == (UserMessage("Who?"),)


def test_a_type_beyond_the_strict_subset_goes_with_strict_false() -> None:
    model = ScriptedChatModel('{"a": 1}', capabilities=SCHEMA)
    aiservices.create(asking(dict[str, int]), chat_model=model).ask("Which?")
    response_format = model.request.response_format
    assert response_format is not None
    assert not response_format.strict


def test_a_model_that_takes_none_is_told_in_words(invoke: Any) -> None:
    model = ScriptedChatModel(PERSON)
    invoke(aiservices.create(asking(Person), chat_model=model), "ask", "Who?")
    assert model.request.response_format is None
    instructions = outputparsers.output_parser(Person).format_instructions()
    assert model.request.messages == (UserMessage(f"Who?\n{instructions}"),)


@pytest.mark.parametrize("kind", [str, AiMessage, ChatResponse, None, Result[str], Result[None]])
@pytest.mark.parametrize("capabilities", [set(), SCHEMA])
def test_what_needs_no_parsing_is_asked_for_plainly(kind: Any, capabilities: set[Capability]) -> None:
    model = ScriptedChatModel("fine", capabilities=capabilities)
    aiservices.create(asking(kind), chat_model=model).ask("How?")
    assert model.request.messages == (UserMessage("How?"),)
    assert model.request.response_format is None


@pytest.mark.parametrize("capabilities", [set(), SCHEMA])
def test_a_result_is_asked_for_like_what_it_holds(capabilities: set[Capability]) -> None:
    bare, wrapped = (ScriptedChatModel(PERSON, capabilities=capabilities) for _ in range(2))
    aiservices.create(asking(Person), chat_model=bare).ask("Who?")
    aiservices.create(asking(Result[Person]), chat_model=wrapped).ask("Who?")
    assert bare.request == wrapped.request


@pytest.mark.parametrize("text", ["hi {{it}} {", "{% if %}", 'say {"name": 1}'])
def test_neither_the_text_nor_the_instructions_are_rendered(text: str) -> None:
    model = ScriptedChatModel(PERSON)
    aiservices.create(asking(Person), chat_model=model).ask(text)
    message = model.request.messages[0]
    assert isinstance(message, UserMessage)
    assert message.text.startswith(f"{text}\n")


# What comes back


@pytest.mark.parametrize(
    ("kind", "said", "value"),
    [
        (str, "fine", "fine"),
        (str, "<think>hm</think>fine", "fine"),
        (AiMessage, "fine", AiMessage("fine")),
        (ChatResponse, "fine", answer("fine")),
        (None, "fine", None),
        (int, "42", 42),
        (bool, "true", True),
        (float, '{"value": 1.5}', 1.5),
        (Mood, "GOOD", Mood.GOOD),
        (Literal["yes", "no"], " YES.\n", "yes"),
        (list[str], '["a", "b"]', ["a", "b"]),
        (list[Person], f'{{"values": [{PERSON}]}}', [Person("Ana", 3)]),
        (Person, f"Here:\n```json\n{PERSON}\n```\nHope this helps!", Person("Ana", 3)),
        (Person | None, "null", None),
        (dict[str, int], '{"a": 1}', {"a": 1}),
    ],
    ids=str,
)
@pytest.mark.parametrize("wrapped", [False, True], ids=["bare", "Result"])
def test_the_caller_gets_what_the_method_returns(
    invoke: Any, kind: Any, said: str, value: object, wrapped: bool
) -> None:
    service = aiservices.create(
        asking(Result[kind] if wrapped else kind), chat_model=ScriptedChatModel(answer(said))
    )
    got = invoke(service, "ask", "?")
    if wrapped:
        assert (got.usage, got.responses) == (TokenUsage(1, 2), (answer(said),))
        got = got.content
    assert got == value
    assert type(got) is type(value)


# Asking again


@pytest.mark.parametrize("retries", [0, 1, 3])
def test_an_answer_that_does_not_fit_is_asked_for_again(invoke: Any, retries: int) -> None:
    model = ScriptedChatModel(*[answer("no idea")] * (retries + 1))
    service = aiservices.create(asking(int), chat_model=model, parse_retries=retries)
    with pytest.raises(OutputParsingError) as caught:
        invoke(service, "ask", "How many?")
    error = caught.value
    assert len(model.requests) == retries + 1
    assert (error.text, error.expected, len(error.problems)) == ("no idea", "int", 1)
    assert error.responses == (answer("no idea"),) * (retries + 1)
    assert error.usage == TokenUsage(retries + 1, 2 * (retries + 1))
    assert isinstance(error, outputparsers.OutputParsingError)
    assert type(error.__cause__) is outputparsers.OutputParsingError
    assert str(error).startswith("Asker.aask: Failed" if "aask" in str(error) else "Asker.ask: Failed")


def test_the_new_request_holds_the_conversation_the_answer_and_what_is_wrong(invoke: Any) -> None:
    model = ScriptedChatModel('{"name": "Ana", "age": -1.5}', '{"name": "Ana"}', PERSON)
    service = aiservices.create(asking(Person), chat_model=model, system_message="Be brief.", parse_retries=2)
    assert invoke(service, "ask", "Who?") == Person("Ana", 3)
    first, second, third = (request.messages for request in model.requests)
    assert second[: len(first)] == first
    assert second[len(first)] == AiMessage('{"name": "Ana", "age": -1.5}')
    assert third[: len(second)] == second
    for correction in (second[-1], third[-1]):
        assert isinstance(correction, UserMessage)
        assert "age" in correction.text
        assert "corrected answer only" in correction.text
    assert len(third) == len(first) + 4


def test_the_same_format_is_asked_for_again() -> None:
    model = ScriptedChatModel("{}", PERSON, capabilities=SCHEMA)
    aiservices.create(asking(Person), chat_model=model).ask("Who?")
    assert model.requests[0].response_format == model.requests[1].response_format is not None


def test_a_correction_stays_short_however_wrong_the_answer() -> None:
    wrong = '{"values": [' + ", ".join(f'{{"{"x" * 500}": {n}}}' for n in range(200)) + "]}"
    model = ScriptedChatModel(wrong, "[]")
    aiservices.create(asking(list[Person]), chat_model=model).ask("Who?")
    correction = model.requests[1].messages[-1]
    assert isinstance(correction, UserMessage)
    assert len(correction.text) < MAX_CORRECTION_CHARS + 200


def test_a_rejected_answer_does_not_leave_a_tool_call_without_result() -> None:
    said = AiMessage("I shall look", tool_calls=[ToolCall("c1", "look", "{}")])
    model = ScriptedChatModel(said, "42")
    assert aiservices.create(asking(int), chat_model=model).ask("How many?") == 42
    assert model.requests[1].messages[-2] == AiMessage("I shall look")


@given(bad=st.integers(0, 5), retries=st.integers(0, 4))
def test_requests_are_one_more_than_bad_answers_as_far_as_retries_go(bad: int, retries: int) -> None:
    model = ScriptedChatModel(*[answer("?")] * bad, answer("7"))
    service = aiservices.create(asking(Result[int]), chat_model=model, parse_retries=retries)
    requests = min(bad, retries) + 1
    if bad <= retries:
        assert service.ask("q").usage == TokenUsage(requests, 2 * requests)
    else:
        with pytest.raises(OutputParsingError) as caught:
            service.ask("q")
        assert caught.value.usage == TokenUsage(requests, 2 * requests)
    assert len(model.requests) == requests


@given(text=st.text())
def test_whatever_a_model_says_is_a_value_or_one_of_our_errors(text: str) -> None:
    for kind in (int, Mood, Person, list[str], str):
        with suppress(OutputParsingError, EmptyAnswerError):
            aiservices.create(asking(kind), chat_model=ScriptedChatModel(text), parse_retries=0).ask("q")


# What asking again cannot help

UNUSABLE: list[tuple[ChatResponse, type[Exception]]] = [
    (answer(refusal="I cannot help with that."), RefusalError),
    (answer('{"name":"An', FinishReason.LENGTH), OutputTruncatedError),
    (answer(PERSON, FinishReason.LENGTH), OutputTruncatedError),
    (answer(None, FinishReason.CONTENT_FILTER), ContentFilteredError),
    (answer("How to", FinishReason.CONTENT_FILTER), ContentFilteredError),
    (answer(None), EmptyAnswerError),
    (answer(" \n"), EmptyAnswerError),
]


@pytest.mark.parametrize("kind", [str, Person, list[str], AiMessage, Result[str], Result[Person]])
@pytest.mark.parametrize(("response", "error"), UNUSABLE)
def test_what_is_no_answer_is_a_typed_error_after_one_request(
    invoke: Any, kind: Any, response: ChatResponse, error: type[Exception]
) -> None:
    model = ScriptedChatModel(response)
    service = aiservices.create(asking(kind), chat_model=model, parse_retries=3)
    with pytest.raises(error) as caught:
        invoke(service, "ask", "Who?")
    assert type(caught.value) is error
    assert caught.value.response is response
    assert caught.value.responses == (response,)
    assert caught.value.usage == TokenUsage(1, 2)
    assert len(model.requests) == 1


@pytest.mark.parametrize("response", [response for response, _ in UNUSABLE])
def test_a_method_that_returns_the_response_gets_it_as_it_is(response: ChatResponse) -> None:
    model = ScriptedChatModel(response, response, response)
    assert aiservices.create(asking(ChatResponse), chat_model=model).ask("Who?") is response
    assert aiservices.create(asking(Result[ChatResponse]), chat_model=model).ask("Who?").content is response
    assert aiservices.create(asking(None), chat_model=model).ask("Who?") is None


def test_a_refusal_says_the_models_words_but_not_without_end() -> None:
    model = ScriptedChatModel(answer(refusal="I must not. " * 1000))
    with pytest.raises(
        RefusalError, match=r"Asker.ask: the model declined to answer: I must not\."
    ) as caught:
        aiservices.create(asking(str), chat_model=model).ask("q")
    assert len(str(caught.value)) < 1200


def test_an_empty_refusal_is_none() -> None:
    assert (
        aiservices.create(asking(str), chat_model=ScriptedChatModel(answer("hi", refusal=""))).ask("q")
        == "hi"
    )


def test_only_thinking_aloud_is_no_answer() -> None:
    with pytest.raises(EmptyAnswerError):
        aiservices.create(asking(str), chat_model=ScriptedChatModel("<think>hm</think>\n")).ask("q")


def test_an_empty_text_that_is_a_choice_is_an_answer() -> None:
    model = ScriptedChatModel('{"value": ""}')
    assert aiservices.create(asking(Literal["", "x"]), chat_model=model).ask("q") == ""


def test_asking_for_a_tool_is_no_text_but_may_be_a_message() -> None:
    model = ScriptedChatModel(*[ToolCall("c1", "look", "{}")] * 2)
    with pytest.raises(EmptyAnswerError, match="asked for the tool look"):
        aiservices.create(asking(str), chat_model=model).ask("q")
    message = aiservices.create(asking(AiMessage), chat_model=model).ask("q")
    assert message.tool_calls == (ToolCall("c1", "look", "{}"),)


def test_an_error_after_asking_again_tells_of_both_requests() -> None:
    bad, refused = answer("?"), answer(refusal="No.")
    with pytest.raises(RefusalError) as caught:
        aiservices.create(asking(int), chat_model=ScriptedChatModel(bad, refused)).ask("q")
    assert caught.value.responses == (bad, refused)
    assert caught.value.usage == TokenUsage(2, 4)


def test_a_models_own_parsing_error_is_no_reason_to_ask_again(invoke: Any) -> None:
    error = outputparsers.OutputParsingError("text", "something of the model's own")
    model = ScriptedChatModel(error)
    with pytest.raises(outputparsers.OutputParsingError) as caught:
        invoke(aiservices.create(asking(int), chat_model=model), "ask", "q")
    assert caught.value is error
    assert len(model.requests) == 1


# Validators of the user


def raising(error: BaseException) -> type[BaseModel]:
    class Checked(BaseModel):
        a: int
        b: int

        @field_validator("b")
        @classmethod
        def check(cls, value: int) -> int:
            if value < 5:
                raise error
            return value

    return Checked


@pytest.mark.parametrize("error", [ValueError("b must be 5 or more"), AssertionError("b must be 5 or more")])
def test_what_a_validator_objects_to_is_told_to_the_model(invoke: Any, error: Exception) -> None:
    model = ScriptedChatModel('{"a": 5, "b": 1}', '{"a": 1, "b": 5}')
    value = invoke(aiservices.create(asking(raising(error)), chat_model=model), "ask", "?")
    assert (value.a, value.b) == (1, 5)
    correction = model.requests[1].messages[-1]
    assert isinstance(correction, UserMessage)
    assert "b must be 5 or more" in correction.text


@pytest.mark.parametrize("error", [KeyError("bug"), AttributeError("bug"), KeyboardInterrupt(), SystemExit()])
def test_a_validator_with_a_bug_surfaces_after_one_request(invoke: Any, error: BaseException) -> None:
    model = ScriptedChatModel('{"a": 5, "b": 1}')
    service = aiservices.create(asking(raising(error)), chat_model=model, parse_retries=3)
    with pytest.raises(type(error)) as caught:
        invoke(service, "ask", "?")
    assert caught.value is error
    assert len(model.requests) == 1
