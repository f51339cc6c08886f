"""How answers of chat completions are understood, from servers that say more or less than OpenAI does."""

from typing import Any

import pytest

from aiservices.errors import ServerError
from aiservices.messages import (
    AiMessage,
    ChatResponse,
    FinishReason,
    ImageContent,
    TokenLogprob,
    TokenUsage,
    ToolCall,
)
from tests.models.fake_server import Script
from tests.models.openai.wire import HELLO, completion, model

FIVE_AND_TWO = {"prompt_tokens": 5, "completion_tokens": 2}


def part(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def answer_to(script: Script, body: Any) -> ChatResponse:
    return model(script.will_say(body)).chat(HELLO)


def test_a_plain_answer_is_read_whole(script: Script) -> None:
    told = completion("Hi!") | {"system_fingerprint": "fp", "service_tier": None}
    assert answer_to(script, told) == ChatResponse(
        AiMessage("Hi!"),
        usage=TokenUsage(9, 4, 3),
        finish_reason=FinishReason.STOP,
        id="chatcmpl-1",
        model_name="gpt-test-1",
        metadata={"usage": told["usage"], "system_fingerprint": "fp"},
    )


@pytest.mark.anyio
async def test_the_asynchronous_answer_is_the_same(script: Script) -> None:
    asking = model(script.will_say(completion("Hi!")))
    assert await asking.achat(HELLO) == asking.chat(HELLO)


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"content": None}, AiMessage()),
        ({"content": ""}, AiMessage("")),
        ({}, AiMessage()),
        ({"content": "a", "reasoning_content": "b"}, AiMessage("a", thinking="b")),
        ({"content": "a", "reasoning": "b", "reasoning_content": None}, AiMessage("a", thinking="b")),
        ({"content": "a", "reasoning": "b", "reasoning_content": "b"}, AiMessage("a", thinking="b")),
        ({"content": [part("a"), part("b")]}, AiMessage("ab")),
        (
            {"content": [{"type": "thinking", "thinking": [part("t")]}, part("a")]},
            AiMessage("a", thinking="t"),
        ),
        ({"content": None, "refusal": "No."}, AiMessage(attributes={"refusal": "No."})),
        ({"content": "a", "images": []}, AiMessage("a")),
        ({"content": "a", "tool_calls": None, "audio": None, "annotations": []}, AiMessage("a")),
        (
            {"content": "<|channel|>final <|constrain|>json<|message|>{}"},
            AiMessage("{}"),
        ),
    ],
)
def test_a_message_is_read_as(script: Script, told: dict[str, Any], message: AiMessage) -> None:
    body = completion()
    body["choices"][0]["message"] = told
    assert answer_to(script, body).message == message


@pytest.mark.parametrize(
    ("told", "call"),
    [
        (
            {"id": "c1", "function": {"name": "look", "arguments": '{"q":1}'}},
            ToolCall("c1", "look", '{"q":1}'),
        ),
        (
            {"id": "c1", "function": {"name": "look", "arguments": {"q": "ü"}}},
            ToolCall("c1", "look", '{"q": "ü"}'),
        ),
        ({"id": "c1", "function": {"name": "look", "arguments": None}}, ToolCall("c1", "look", "")),
        ({"id": "c1", "function": {"name": "look"}}, ToolCall("c1", "look", "")),
    ],
)
def test_a_tool_call_is_read_as(script: Script, told: dict[str, Any], call: ToolCall) -> None:
    answer = answer_to(script, completion(None, "stop", tool_calls=[told]))
    assert answer.message.tool_calls == (call,)
    assert answer.finish_reason is FinishReason.TOOL_CALLS, "whatever the server calls it"


def test_calls_that_came_without_ids_get_some_of_their_own(script: Script) -> None:
    told = [{"function": {"name": "look", "arguments": "{}"}}] * 2
    first, second = answer_to(script, completion(tool_calls=told)).message.tool_calls
    assert first.id != second.id
    assert first.id.startswith("call_")


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ("stop", FinishReason.STOP),
        ("length", FinishReason.LENGTH),
        ("tool_calls", FinishReason.TOOL_CALLS),
        ("content_filter", FinishReason.CONTENT_FILTER),
        (None, FinishReason.STOP),
        ("eos_reached", FinishReason.OTHER),
    ],
)
def test_a_finish_reason_is_read_as(script: Script, told: str | None, reason: FinishReason) -> None:
    answer = answer_to(script, completion("a", told))
    assert answer.finish_reason is reason
    assert answer.metadata.get("finish_reason") == ("eos_reached" if reason is FinishReason.OTHER else None)


def test_the_reasons_of_a_content_filter_are_kept(script: Script) -> None:
    told = completion("part", "content_filter")
    told["choices"][0]["content_filter_results"] = {"hate": {"filtered": True}}
    assert answer_to(script, told).metadata["content_filter_results"] == {"hate": {"filtered": True}}


@pytest.mark.parametrize(
    ("told", "usage"),
    [
        (None, TokenUsage(known=False)),
        ({}, TokenUsage(known=False)),
        ({"prompt_tokens": 5, "completion_tokens": None}, TokenUsage(5, known=False)),
        (FIVE_AND_TWO, TokenUsage(5, 2)),
        (FIVE_AND_TWO | {"prompt_tokens_details": None}, TokenUsage(5, 2)),
        (FIVE_AND_TWO | {"prompt_tokens_details": {"cached_tokens": None}}, TokenUsage(5, 2)),
        (FIVE_AND_TWO | {"prompt_cache_hit_tokens": 4}, TokenUsage(5, 2, 4)),
        (FIVE_AND_TWO | {"cached_tokens": 1}, TokenUsage(5, 2, 1)),
    ],
)
def test_usage_is_read_as(script: Script, told: Any, usage: TokenUsage) -> None:
    assert answer_to(script, completion("a") | {"usage": told}).usage == usage


def test_what_is_known_of_the_reasoning_tokens_is_kept(script: Script) -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 2, "completion_tokens_details": {"reasoning_tokens": 1}}
    assert answer_to(script, completion("a") | {"usage": usage}).metadata["usage"] == usage


def test_probabilities_are_read_in_order(script: Script) -> None:
    told = completion("ab")
    tokens = [{"token": "a", "logprob": -0.5, "bytes": [97]}, {"token": "b", "logprob": -1, "bytes": None}]
    told["choices"][0]["logprobs"] = {"content": tokens, "refusal": None}
    assert answer_to(script, told).logprobs == (TokenLogprob("a", -0.5), TokenLogprob("b", -1))


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"<html>gateway</html>", "not JSON"),
        (b"", "not JSON"),
        (b'{"choices": [', "not JSON"),
        (b"[1]", "a JSON list, not an object"),
        ({}, "no choices"),
        ({"choices": []}, "no choices"),
        ({"choices": None}, "no choices"),
        ({"choices": [{"message": {"tool_calls": ["what"]}}]}, "not the form"),
        ({"choices": [{"message": {"content": 7}}]}, "not the form"),
        ({"error": {"message": "Provider returned error", "code": 502}}, "Provider returned error"),
        ({"object": "error", "message": "engine died", "code": 500}, "engine died"),
    ],
)
def test_what_is_no_answer_is_the_servers_error(script: Script, body: Any, words: str) -> None:
    script.will_say(body)
    with pytest.raises(ServerError, match=words) as caught:
        model(script, max_attempts=1).chat(HELLO)
    assert "'gpt-test' at 127.0.0.1" in str(caught.value)


def test_images_that_the_model_has_made_are_read(script: Script) -> None:
    made = [
        {"type": "image_url", "image_url": {"url": "data:image/webp;base64,AAEC"}},
        {"type": "image_url", "image_url": {"url": "https://example.com/cat.png"}},
    ]
    told = completion("Here.")
    told["choices"][0]["message"]["images"] = made
    assert answer_to(script, told).message.images == (
        ImageContent(data=b"\x00\x01\x02", media_type="image/webp"),
        ImageContent(url="https://example.com/cat.png"),
    )


@pytest.mark.parametrize("image", [{}, {"image_url": {"url": "data:image/png;base64,?"}}, "x"])
def test_an_image_that_is_none_is_an_answer_that_cannot_be_read(script: Script, image: Any) -> None:
    told = completion("Here.")
    told["choices"][0]["message"]["images"] = [image]
    with pytest.raises(ServerError, match="not the form"):
        answer_to(script, told)
