"""Tools for a model that knows none."""

import json

import pytest

from aiservices.messages import (
    AiMessage,
    ChatMessage,
    ChatRequest,
    ChatRequestParameters,
    FinishReason,
    PartialText,
    PartialToolCall,
    ResponseDone,
    ResponseFormat,
    ToolCall,
    ToolChoice,
    ToolResultMessage,
    ToolSpec,
    UserMessage,
)
from aiservices.models.local import LocalChatModel
from aiservices.models.local.bodies import body_of
from aiservices.models.local.tool_calls import CallReader, grammar_of, told
from tests.models.local.asking import fields

WEATHER = ToolSpec(
    "get_weather", "Current weather of a city.", fields(city={"type": "string", "maxLength": 20})
)
CLOCK = ToolSpec("get_time", "The time.")
ASKED = UserMessage("Is it raining in Seattle?")
SHORT = ChatRequestParameters(max_output_tokens=60)


def test_a_required_call_is_a_call_of_a_tool_with_fitting_arguments(model: LocalChatModel) -> None:
    response = model.chat(ChatRequest([ASKED], [WEATHER, CLOCK], ToolChoice.REQUIRED))
    (call,) = response.message.tool_calls
    assert response.finish_reason is FinishReason.TOOL_CALLS
    assert response.text is None
    assert call.id.startswith("call_")
    assert call.name in ("get_weather", "get_time")
    assert json.loads(call.arguments).keys() == ({"city"} if call.name == "get_weather" else set())


def test_a_call_streams_whole_and_not_as_text(model: LocalChatModel) -> None:
    piece, done = model.stream(ChatRequest([ASKED], [WEATHER], ToolChoice.REQUIRED))
    assert isinstance(piece, PartialToolCall)
    assert isinstance(done, ResponseDone)
    (call,) = done.response.message.tool_calls
    assert (piece.id, piece.name, piece.arguments) == (call.id, call.name, call.arguments)


def test_two_calls_have_different_ids(model: LocalChatModel) -> None:
    request = ChatRequest([ASKED], [CLOCK], ToolChoice.REQUIRED)
    assert len({model.chat(request).message.tool_calls[0].id for _ in range(2)}) == 2


def test_a_model_that_may_call_may_also_answer_in_words(model: LocalChatModel) -> None:
    call = ToolCall("call_1", "get_weather", '{"city": "Seattle"}')
    result = ToolResultMessage("call_1", "get_weather", "rain, 9 degrees")
    messages: list[ChatMessage] = [ASKED, AiMessage(None, (call,)), result]
    *pieces, done = model.stream(ChatRequest(messages, [WEATHER], parameters=SHORT))
    assert isinstance(done, ResponseDone)
    if not done.response.message.tool_calls:
        text = "".join(piece.text for piece in pieces if isinstance(piece, PartialText))
        assert text == done.response.text != ""


def test_without_a_choice_of_tools_the_model_hears_nothing_of_them() -> None:
    body = body_of(ChatRequest([ASKED], [WEATHER], ToolChoice.NONE))
    assert "grammar" not in body
    assert "get_weather" not in json.dumps(body)


def test_tools_and_a_shape_are_alternatives(model: LocalChatModel) -> None:
    shape = ResponseFormat("answer", fields(raining={"type": "boolean"}))
    response = model.chat(ChatRequest([ASKED], [WEATHER], response_format=shape))
    if response.message.tool_calls:
        assert response.message.tool_calls[0].name == "get_weather"
    else:
        assert json.loads(response.text or "").keys() == {"raining"}


@pytest.mark.parametrize(
    ("choice", "rules"),
    [
        (ToolChoice.AUTO, "start: call_0 | call_1 | text\n"),
        (ToolChoice.REQUIRED, "start: call_0 | call_1\n"),
    ],
)
def test_the_grammar_holds_what_may_be_answered(choice: ToolChoice, rules: str) -> None:
    grammar = grammar_of(ChatRequest([ASKED], [WEATHER, CLOCK], choice))
    assert grammar is not None
    assert rules in grammar


def test_the_prompt_says_what_the_tools_are() -> None:
    said = told(ChatRequest([ASKED], [WEATHER]))
    assert '"name": "get_weather", "description": "Current weather of a city."' in said
    assert '"city"' in said


def test_answers_that_only_look_like_calls_are_none() -> None:
    reader = CallReader([WEATHER])
    for text in (
        '{"name": "get_weather", "arguments": {"city": "Rome"}',
        '{"name": "get_weather"}',
        '{"name": "other", "arguments": {}}',
        "It rains.",
    ):
        assert reader.call_in(text) is None
    assert not reader.may_become_call("It")
    assert reader.may_become_call('{"na')
