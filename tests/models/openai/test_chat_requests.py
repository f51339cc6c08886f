"""What a server of chat completions hears."""

import json
from typing import Any

import pytest

from aiservices.errors import InvalidRequestError
from aiservices.messages import (
    AiMessage,
    AudioContent,
    ChatMessage,
    ChatRequest,
    ChatRequestParameters,
    Content,
    CustomMessage,
    ImageContent,
    PdfContent,
    ResponseFormat,
    SystemMessage,
    TextContent,
    ToolCall,
    ToolChoice,
    ToolResultMessage,
    ToolSpec,
    UserMessage,
    VideoContent,
)
from aiservices.messages.frozen import FrozenMapping
from aiservices.models.openai.contents import KEPT_FORMS, format_form, tool_form
from tests.models.fake_server import Script
from tests.models.openai.wire import HELLO, completion, model

LOOK = ToolSpec("look", "Look it up.", {"type": "object", "properties": {"q": {"type": "string"}}})
CALL = ToolCall("c1", "look", '{"q":"a"}')
WIRE_CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"q":"a"}'}}


def body_of(script: Script, request: ChatRequest, **options: Any) -> Any:
    script.will_say(completion("ok"))
    model(script, **options).chat(request)
    return script.heard


def messages_of(script: Script, *messages: ChatMessage, **options: Any) -> Any:
    return body_of(script, ChatRequest(messages), **options)["messages"]


def test_a_plain_request_says_nothing_that_nobody_asked_for(script: Script) -> None:
    assert body_of(script, HELLO) == {"model": "gpt-test", "messages": [{"role": "user", "content": "Hello"}]}
    assert script.requests[0].path.endswith("/v1/chat/completions")


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (SystemMessage("Be brief."), {"role": "system", "content": "Be brief."}),
        (UserMessage("Hi", name="ana"), {"role": "user", "content": "Hi", "name": "ana"}),
        (UserMessage(()), {"role": "user", "content": []}),
        (AiMessage("Yes."), {"role": "assistant", "content": "Yes."}),
        (AiMessage(), {"role": "assistant", "content": ""}),
        (AiMessage(thinking="Hm."), {"role": "assistant", "content": ""}),
        (AiMessage(tool_calls=[CALL]), {"role": "assistant", "content": None, "tool_calls": [WIRE_CALL]}),
        (AiMessage(attributes={"refusal": "No."}), {"role": "assistant", "content": None, "refusal": "No."}),
        (
            ToolResultMessage("c1", "look", "found"),
            {"role": "tool", "tool_call_id": "c1", "content": "found"},
        ),
        (CustomMessage({"role": "critic", "content": [1]}), {"role": "critic", "content": [1]}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_message_is_said_as(script: Script, message: ChatMessage, said: Any) -> None:
    assert messages_of(script, message) == [said]


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (TextContent("t"), {"type": "text", "text": "t"}),
        (ImageContent("https://x/y.png"), {"type": "image_url", "image_url": {"url": "https://x/y.png"}}),
        (
            ImageContent(data=b"png", media_type="image/png", detail="low"),
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,cG5n", "detail": "low"}},
        ),
        (
            AudioContent(data=b"wav", media_type="audio/x-wav"),
            {"type": "input_audio", "input_audio": {"data": "d2F2", "format": "wav"}},
        ),
        (
            AudioContent(data=b"mp3", media_type="audio/mpeg"),
            {"type": "input_audio", "input_audio": {"data": "bXAz", "format": "mp3"}},
        ),
        (
            PdfContent(data=b"pdf", file_name="cv.pdf"),
            {"type": "file", "file": {"filename": "cv.pdf", "file_data": "data:application/pdf;base64,cGRm"}},
        ),
        (VideoContent("https://x/y.mp4"), {"type": "video_url", "video_url": {"url": "https://x/y.mp4"}}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_content_is_said_as(script: Script, content: Content, part: Any) -> None:
    (message,) = messages_of(script, UserMessage([TextContent("See:"), content]))
    assert message["content"] == [{"type": "text", "text": "See:"}, part]


@pytest.mark.parametrize("content", [AudioContent("https://x/y.mp3"), PdfContent("https://x/y.pdf")])
def test_a_content_that_cannot_be_said_is_refused_before_anything_is_sent(
    script: Script, content: Content
) -> None:
    with pytest.raises(InvalidRequestError, match="by its address: give it as data="):
        model(script).chat(ChatRequest([UserMessage(content)]))
    assert script.requests == []


def test_pictures_from_tools_follow_the_results_of_the_round_as_a_user_message(script: Script) -> None:
    picture = ImageContent("https://x/y.png")
    said = messages_of(
        script,
        UserMessage("Compare."),
        AiMessage(tool_calls=[CALL, ToolCall("c2", "look", "{}")]),
        ToolResultMessage("c1", "look", picture),
        ToolResultMessage("c2", "look", [TextContent("a cat"), picture]),
        AiMessage("Same."),
    )
    assert [message["role"] for message in said] == ["user", "assistant", "tool", "tool", "user", "assistant"]
    assert said[3]["content"] == "a cat"
    assert said[2]["content"], "a result may not be empty"
    kinds = [part["type"] for part in said[4]["content"]]
    assert kinds == ["text", "image_url", "text", "image_url"]
    assert "c1" in said[4]["content"][0]["text"]


def test_pictures_from_the_last_tool_are_not_forgotten(script: Script) -> None:
    said = messages_of(script, ToolResultMessage("c1", "look", ImageContent("https://x/y.png")))
    assert [message["role"] for message in said] == ["tool", "user"]


def test_settings_have_the_names_of_the_api(script: Script) -> None:
    parameters = ChatRequestParameters(
        model_name="gpt-other",
        temperature=0.0,
        top_p=0.5,
        max_output_tokens=7,
        stop="END",
        seed=3,
        extra={"reasoning_effort": "low", "messages": "mine"},
    )
    body = body_of(script, ChatRequest([UserMessage("Hi")], parameters=parameters))
    assert body == {
        "model": "gpt-other",
        "messages": "mine",
        "temperature": 0.0,
        "top_p": 0.5,
        "max_completion_tokens": 7,
        "stop": ["END"],
        "seed": 3,
        "reasoning_effort": "low",
    }


def test_a_request_overrules_the_model(script: Script) -> None:
    mine = ChatRequestParameters(temperature=1.0, max_output_tokens=9)
    request = ChatRequest([UserMessage("Hi")], parameters=ChatRequestParameters(temperature=0.2))
    body = body_of(script, request, parameters=mine, max_tokens_field="max_tokens")
    assert (body["temperature"], body["max_tokens"]) == (0.2, 9)


def test_options_that_servers_differ_in(script: Script) -> None:
    messages = [SystemMessage("s"), AiMessage("a", thinking="Hm.")]
    body = body_of(script, ChatRequest(messages), system_role="developer", send_thinking=True, logprobs=True)
    assert body["messages"][0]["role"] == "developer"
    assert body["messages"][1]["reasoning_content"] == "Hm."
    assert body["logprobs"] is True


def test_tools_and_the_choice_among_them(script: Script) -> None:
    strict = ToolSpec("now", attributes={"openai": {"strict": True}})
    body = body_of(script, ChatRequest([UserMessage("Hi")], [LOOK, strict], ToolChoice.REQUIRED))
    assert body["tool_choice"] == "required"
    assert [tool["function"] for tool in body["tools"]] == [
        {"name": "look", "description": "Look it up.", "parameters": LOOK.parameters},
        {
            "name": "now",
            "description": "",
            "parameters": {"type": "object", "properties": {}},
            "strict": True,
        },
    ]


def test_a_choice_among_no_tools_is_not_said(script: Script) -> None:
    assert "tool_choice" not in body_of(script, ChatRequest([UserMessage("Hi")], tool_choice=ToolChoice.NONE))
    assert "tool_choice" not in body_of(script, ChatRequest([UserMessage("Hi")], [LOOK]))


@pytest.mark.parametrize("strict", [True, False])
def test_a_schema_is_sent_with_a_name_that_the_api_admits(script: Script, strict: bool) -> None:
    schema = FrozenMapping({"type": "object", "properties": FrozenMapping({"a": {"type": "string"}})})
    body = body_of(
        script, ChatRequest([UserMessage("Hi")], response_format=ResponseFormat("list[Ä b]", schema, strict))
    )
    plain = {"type": "object", "properties": {"a": {"type": "string"}}}
    form = {"name": "list_b", "schema": plain, "strict": strict}
    assert body["response_format"] == {"type": "json_schema", "json_schema": form}


def test_formats_of_one_name_are_not_confused(script: Script) -> None:
    for schema in ({"type": "object"}, {"type": "array"}, {"type": "object"}):
        request = ChatRequest([UserMessage("Hi")], response_format=ResponseFormat("R", schema))
        assert body_of(script, request)["response_format"]["json_schema"]["schema"] == schema


def test_formats_and_tools_made_for_each_call_do_not_pile_up() -> None:
    for number in range(2 * KEPT_FORMS):
        format_form(ResponseFormat("R", {"title": number}))
        tool_form(ToolSpec(f"tool{number}"))
    assert format_form.cache_info().currsize == tool_form.cache_info().currsize == KEPT_FORMS


def test_a_tool_call_without_arguments_is_sent_back_with_an_empty_object(script: Script) -> None:
    (said,) = messages_of(script, AiMessage(tool_calls=[ToolCall("c1", "now", "")]))
    assert said["tool_calls"][0]["function"]["arguments"] == "{}"


def test_what_the_server_told_beyond_our_messages_goes_back_to_it_alone(script: Script) -> None:
    signed = {**WIRE_CALL, "extra_content": {"google": {"thought_signature": "sig"}}}
    details = [{"type": "reasoning.encrypted", "data": "xyz"}]
    told = completion(
        None, "tool_calls", tool_calls=[signed], reasoning_details=details, annotations=[{"u": 1}]
    )
    answer = model(script.will_say(told)).chat(HELLO).message
    assert answer.attributes["openai_chat"]["told"]["annotations"] == [{"u": 1}]

    (back,) = messages_of(script, answer)
    assert back == {
        "role": "assistant",
        "content": None,
        "tool_calls": [signed],
        "reasoning_details": details,
    }
    (elsewhere,) = messages_of(script, answer, base_url=script.url.replace("127.0.0.1", "localhost"))
    assert elsewhere == {"role": "assistant", "content": None, "tool_calls": [WIRE_CALL]}


def test_a_spoken_answer_is_referred_to_by_its_id(script: Script) -> None:
    answer = model(script.will_say(completion(None, audio={"id": "a1", "data": "..."}))).chat(HELLO).message
    assert messages_of(script, answer)[0]["audio"] == {"id": "a1"}


def test_attributes_of_other_providers_are_not_sent(script: Script) -> None:
    message = AiMessage("Hi", attributes={"anthropic": {"signature": "s"}, "openai_chat": "odd"})
    assert messages_of(script, message) == [{"role": "assistant", "content": "Hi"}]


def test_text_of_every_kind_arrives(script: Script) -> None:
    text = 'Zoë "quoted"\n\u2028 🐈 \x00'
    assert messages_of(script, UserMessage(text))[0]["content"] == text


def test_half_a_surrogate_pair_becomes_a_question_mark(script: Script) -> None:
    assert messages_of(script, UserMessage("file \udcff.txt 🐈"))[0]["content"] == "file ?.txt 🐈"


def test_the_request_is_compact_json(script: Script) -> None:
    body_of(script, HELLO)
    assert script.requests[0].text == json.dumps(script.heard, separators=(",", ":"))
    assert script.requests[0].headers["content-type"] == "application/json"
