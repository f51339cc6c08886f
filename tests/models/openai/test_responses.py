"""The responses language: the same features, and reasoning that goes back to the model as it came."""

from dataclasses import replace
from typing import Any

import pytest

from aiservices.errors import ContextLengthError, InvalidRequestError, RateLimitError, ServerError
from aiservices.messages import (
    AiMessage,
    AudioContent,
    ChatMessage,
    ChatRequest,
    ChatRequestParameters,
    ChatResponse,
    CustomMessage,
    FinishReason,
    ImageContent,
    ModelEvent,
    PartialText,
    PartialThinking,
    PartialToolCall,
    PdfContent,
    ResponseFormat,
    SystemMessage,
    TextContent,
    TokenLogprob,
    TokenUsage,
    ToolCall,
    ToolChoice,
    ToolResultMessage,
    ToolSpec,
    UserMessage,
    VideoContent,
)
from tests.models.fake_server import Script
from tests.models.openai.wire import HELLO, answered, model

USAGE = {"input_tokens": 9, "output_tokens": 4, "input_tokens_details": {"cached_tokens": 3}}
REASONING = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "Hm."}],
    "encrypted_content": "gAAA",
}
CALL = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "look", "arguments": '{"q":"a"}'}


def said(text: str, **more: Any) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []} | more.pop("part", {})
    return {"type": "message", "id": "msg_1", "role": "assistant", "content": [part], **more}


def response(*items: Any, status: str = "completed", **more: Any) -> dict[str, Any]:
    told = {"id": "resp_1", "object": "response", "status": status, "model": "gpt-test-1", "error": None}
    return told | {"output": list(items), "usage": USAGE} | more


def answer_to(script: Script, body: Any, request: ChatRequest = HELLO, **options: Any) -> ChatResponse:
    return model(script.will_say(body), api="responses", max_attempts=1, **options).chat(request)


def body_of(script: Script, request: ChatRequest, **options: Any) -> Any:
    answer_to(script, response(said("ok")), request, **options)
    return script.heard


def items_of(script: Script, *messages: ChatMessage, **options: Any) -> Any:
    return body_of(script, ChatRequest(messages), **options)["input"]


def test_a_plain_request_asks_to_store_nothing(script: Script) -> None:
    expected = {"model": "gpt-test", "input": [{"role": "user", "content": "Hello"}], "store": False}
    assert body_of(script, HELLO) == expected
    assert script.requests[0].path.endswith("/v1/responses")


@pytest.mark.parametrize(
    ("message", "items"),
    [
        (SystemMessage("Be brief."), [{"role": "system", "content": "Be brief."}]),
        (AiMessage("Yes."), [{"role": "assistant", "content": "Yes."}]),
        (AiMessage(), [{"role": "assistant", "content": ""}]),
        (AiMessage(attributes={"refusal": "No."}), [{"role": "assistant", "content": "No."}]),
        (
            AiMessage("a", [ToolCall("c1", "look", "")]),
            [
                {"role": "assistant", "content": "a"},
                {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"},
            ],
        ),
        (
            ToolResultMessage("c1", "look", [TextContent("a cat"), ImageContent("https://x/y.png")]),
            [
                {
                    "type": "function_call_output",
                    "call_id": "c1",
                    "output": [
                        {"type": "input_text", "text": "a cat"},
                        {"type": "input_image", "image_url": "https://x/y.png", "detail": "auto"},
                    ],
                }
            ],
        ),
        (
            UserMessage([PdfContent("https://x/y.pdf"), PdfContent(data=b"pdf")]),
            [
                {
                    "role": "user",
                    "content": [
                        {"type": "input_file", "file_url": "https://x/y.pdf"},
                        {
                            "type": "input_file",
                            "filename": "document.pdf",
                            "file_data": "data:application/pdf;base64,cGRm",
                        },
                    ],
                }
            ],
        ),
        (
            UserMessage(AudioContent(data=b"wav", media_type="audio/wav")),
            [
                {
                    "role": "user",
                    "content": [{"type": "input_audio", "input_audio": {"data": "d2F2", "format": "wav"}}],
                }
            ],
        ),
        (CustomMessage({"type": "item_reference", "id": "x"}), [{"type": "item_reference", "id": "x"}]),
    ],
)
def test_a_message_is_said_as(script: Script, message: ChatMessage, items: Any) -> None:
    assert items_of(script, message) == items


def test_settings_tools_and_schema_have_the_names_of_this_api(script: Script) -> None:
    request = ChatRequest(
        [UserMessage("Hi")],
        [ToolSpec("now")],
        ToolChoice.REQUIRED,
        ResponseFormat("R", {"type": "object"}, strict=False),
        ChatRequestParameters(temperature=0.5, top_p=0.1, max_output_tokens=5, extra={"store": True}),
    )
    body = body_of(script, request, logprobs=True, system_role="developer")
    assert body == {
        "model": "gpt-test",
        "input": [{"role": "user", "content": "Hi"}],
        "store": True,
        "tools": [
            {
                "type": "function",
                "strict": False,
                "name": "now",
                "description": "",
                "parameters": {"type": "object", "properties": {}},
            }
        ],
        "tool_choice": "required",
        "text": {
            "format": {"type": "json_schema", "name": "R", "schema": {"type": "object"}, "strict": False}
        },
        "include": ["message.output_text.logprobs"],
        "temperature": 0.5,
        "top_p": 0.1,
        "max_output_tokens": 5,
    }


@pytest.mark.parametrize(
    ("name", "asks"),
    [
        ("o3-mini", True),
        ("gpt-5-mini", True),
        ("openai/gpt-oss-120b", True),
        ("gpt-5-chat-latest", False),
        ("gpt-4o", False),
        ("llama3", False),
    ],
)
def test_reasoning_is_asked_for_of_models_that_reason(script: Script, name: str, asks: bool) -> None:
    request = ChatRequest([UserMessage("Hi")], parameters=ChatRequestParameters(model_name=name))
    assert body_of(script, request).get("include") == (["reasoning.encrypted_content"] if asks else None)


@pytest.mark.parametrize("parameters", [ChatRequestParameters(stop="x"), ChatRequestParameters(seed=1)])
def test_settings_that_this_api_does_not_know_are_not_dropped_silently(
    script: Script, parameters: ChatRequestParameters
) -> None:
    with pytest.raises(InvalidRequestError, match="use api='chat'"):
        answer_to(script, {}, ChatRequest([UserMessage("Hi")], parameters=parameters))
    with pytest.raises(InvalidRequestError, match="takes no video"):
        answer_to(script, {}, ChatRequest([UserMessage(VideoContent("https://x/y.mp4"))]))


def test_an_answer_is_read_whole(script: Script) -> None:
    tokens = [{"token": "Yes", "logprob": -0.5}]
    told = response(REASONING, said("Yes", part={"logprobs": tokens}), CALL)
    answer = answer_to(script, told)
    assert answer.message.text == "Yes"
    assert answer.message.thinking == "Hm."
    assert answer.message.tool_calls == (ToolCall("c1", "look", '{"q":"a"}'),)
    assert answer.usage == TokenUsage(9, 4, 3)
    assert answer.finish_reason is FinishReason.TOOL_CALLS
    assert (answer.id, answer.model_name) == ("resp_1", "gpt-test-1")
    assert answer.logprobs == (TokenLogprob("Yes", -0.5),)
    assert answer.metadata["usage"] == USAGE


def test_reasoning_goes_back_as_it_came(script: Script) -> None:
    items = [REASONING, CALL, said("Yes.", phase="final_answer")]
    message = answer_to(script, response(*items)).message
    assert items_of(script, message) == items


@pytest.mark.parametrize("change", [{"text": "Yes, rewritten."}, {"tool_calls": ()}])
def test_a_message_that_was_rewritten_since_goes_back_as_it_is_now(
    script: Script, change: dict[str, Any]
) -> None:
    message = replace(answer_to(script, response(REASONING, said("Yes."), CALL)).message, **change)
    items = items_of(script, message)
    assert REASONING not in items
    assert items[0] == {"role": "assistant", "content": message.text}
    assert len(items) == 1 + len(message.tool_calls)


def test_reasoning_goes_back_to_its_own_host_alone(script: Script) -> None:
    message = answer_to(script, response(REASONING, said("Yes."))).message
    elsewhere = script.url.replace("127.0.0.1", "localhost")
    assert items_of(script, message, base_url=elsewhere) == [{"role": "assistant", "content": "Yes."}]
    in_chat = model(script.will_say({"choices": [{"message": {"content": "ok"}}]}))
    in_chat.chat(ChatRequest([message]))
    assert script.heard["messages"] == [{"role": "assistant", "content": "Yes."}]


def test_reasoning_of_which_nothing_was_told_does_not_go_back(script: Script) -> None:
    message = answer_to(script, response(REASONING | {"encrypted_content": None}, said("Yes."))).message
    assert items_of(script, message) == [{"role": "assistant", "content": "Yes."}]
    assert message.attributes == {}


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({}, FinishReason.STOP),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
            FinishReason.LENGTH,
        ),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}},
            FinishReason.CONTENT_FILTER,
        ),
        ({"status": "incomplete", "incomplete_details": None}, FinishReason.OTHER),
    ],
)
def test_a_finish_reason_is_read_as(script: Script, more: dict[str, Any], reason: FinishReason) -> None:
    assert answer_to(script, response(said("a"), **more)).finish_reason is reason


def test_a_refusal_is_read(script: Script) -> None:
    refusal = {"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}
    message = answer_to(script, response(refusal)).message
    assert (message.text, message.refusal) == (None, "No.")


@pytest.mark.parametrize(
    ("body", "kind", "words"),
    [
        (response(status="failed", error={"code": "server_error", "message": "boom"}), ServerError, "boom"),
        (response(status="failed"), ServerError, "no output"),
        ({"id": "x"}, ServerError, "no output"),
        ({"output": ["what"]}, ServerError, "not the form"),
        (
            response(status="failed", error={"code": "rate_limit_exceeded", "message": "slow"}),
            RateLimitError,
            "slow",
        ),
    ],
)
def test_what_is_no_answer_is_an_error(script: Script, body: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        answer_to(script, body)


def heard_from(script: Script, *events: Any) -> list[ModelEvent]:
    return list(model(script.will_say(list(events)), api="responses", max_attempts=1).stream(HELLO))


def test_a_stream_is_heard_in_pieces_and_then_whole(script: Script) -> None:
    whole = response(REASONING, said("Yes"), CALL)
    second = CALL | {"call_id": "c2"}
    events = heard_from(
        script,
        {"type": "response.created", "response": response(status="in_progress")},
        {"type": "response.reasoning_summary_text.delta", "delta": "Hm."},
        {"type": "response.output_item.added", "output_index": 1, "item": said("")},
        {"type": "response.output_text.delta", "output_index": 1, "delta": "Ye"},
        {"type": "response.output_text.delta", "output_index": 1, "delta": "s"},
        {"type": "response.output_item.added", "output_index": 2, "item": CALL | {"arguments": ""}},
        {"type": "response.output_item.added", "output_index": 3, "item": second | {"arguments": ""}},
        {"type": "response.function_call_arguments.delta", "output_index": 3, "delta": "{}"},
        {"type": "response.function_call_arguments.delta", "output_index": 2, "delta": "{"},
        {"type": "response.something.new", "delta": 7},
        {"type": "response.completed", "response": whole},
    )
    assert events[:-1] == [
        PartialThinking("Hm."),
        PartialText("Ye"),
        PartialText("s"),
        PartialToolCall(0, "c1", "look", ""),
        PartialToolCall(1, "c2", "look", ""),
        PartialToolCall(1, "c2", "look", "{}"),
        PartialToolCall(0, "c1", "look", "{"),
    ]
    assert answered(events) == answer_to(script, whole)


@pytest.mark.anyio
async def test_the_asynchronous_stream_is_the_same(script: Script) -> None:
    last = {"type": "response.incomplete", "response": response(said("a"), status="incomplete")}
    asking = model(script.will_say([last]), api="responses")
    assert [event async for event in asking.astream(HELLO)] == list(asking.stream(HELLO))
    assert script.heard["stream"] is True


def test_items_told_one_by_one_make_an_answer_where_the_last_event_is_empty(script: Script) -> None:
    events = heard_from(
        script,
        {"type": "response.output_item.done", "item": said("Yes")},
        {"type": "response.completed", "response": response()},
    )
    assert answered(events).message.text == "Yes"


@pytest.mark.parametrize(
    ("events", "kind", "words"),
    [
        ([], ServerError, "broke off"),
        (
            [{"type": "response.output_text.delta", "delta": "a"}, b"data: [DONE]\n\n"],
            ServerError,
            "broke off",
        ),
        (
            [{"type": "error", "code": "context_length_exceeded", "message": "too long"}],
            ContextLengthError,
            "too long",
        ),
        (
            [{"type": "response.failed", "response": response(status="failed", error={"message": "boom"})}],
            ServerError,
            "boom",
        ),
        ([{"type": "response.function_call_arguments.delta", "delta": "{}"}], ServerError, "not the form"),
    ],
)
def test_a_stream_that_fails_raises(
    script: Script, events: list[Any], kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind, match=words):
        heard_from(script, *events)


def test_an_image_that_the_model_has_made_is_read(script: Script) -> None:
    made = {"type": "image_generation_call", "id": "ig_1", "result": "AAEC", "output_format": "webp"}
    message = answer_to(script, response(said("Here."), made)).message
    assert message.text == "Here."
    assert message.images == (ImageContent(data=b"\x00\x01\x02", media_type="image/webp"),)
