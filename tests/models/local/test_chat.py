"""Chatting with the embedded model: texts, settings, usage and streams."""

import asyncio
import time
from contextlib import aclosing
from typing import Any, cast

import pytest

from aiservices.errors import InvalidRequestError, ModelTimeoutError
from aiservices.messages import (
    AiMessage,
    ChatMessage,
    ChatRequest,
    ChatRequestParameters,
    CustomMessage,
    FinishReason,
    ImageContent,
    PartialText,
    ResponseDone,
    SystemMessage,
    TextContent,
    ToolResultMessage,
    UserMessage,
)
from aiservices.models import resolve_chat_model
from aiservices.models.local import LocalChatModel
from aiservices.models.local.bodies import conversation
from aiservices.models.local.weights import Weights
from tests.models.local.asking import endless, say

GIVEN_UP_SECONDS = 15  # the whole answer would take longer, also on a fast machine


def test_an_answer_tells_its_model_usage_and_token_probabilities(model: LocalChatModel) -> None:
    response = model.chat(say("Say hello.", 12))
    assert response.text
    assert response.model_name == "smollm2-135m"
    assert response.metadata["sha256"].startswith("b179c952")
    assert response.usage.known
    assert response.usage.input > 10
    assert response.usage.output <= 12
    assert response.logprobs
    assert all(token.logprob <= 0 for token in response.logprobs)
    assert "".join(token.token for token in response.logprobs).startswith(response.text[:5])


def test_the_finish_reason_tells_a_cut_off_answer_from_a_whole_one(model: LocalChatModel) -> None:
    assert model.chat(say("Write a long story.", 3)).finish_reason is FinishReason.LENGTH
    assert model.chat(say("Say only: OK", 200, stop=[" ", "."])).finish_reason is FinishReason.STOP


def test_the_same_seed_gives_the_same_text(model: LocalChatModel) -> None:
    warm = say("Invent a name for a cat.", 8, seed=7, temperature=1.5)
    assert model.chat(warm).text == model.chat(warm).text


def test_the_conversation_before_counts(model: LocalChatModel) -> None:
    messages: list[ChatMessage] = [
        SystemMessage("You answer in one word."),
        UserMessage("My name is Zoe. What is my name?"),
        AiMessage("Zoe"),
        UserMessage("Repeat my name."),
    ]
    parameters = ChatRequestParameters(max_output_tokens=12, temperature=0)
    assert "Zoe" in (model.chat(ChatRequest(messages, parameters=parameters)).text or "")


def test_parameters_of_the_model_hold_where_the_request_says_nothing(weights: Weights) -> None:
    short = LocalChatModel(
        weights.name, context=2048, slots=2, parameters=ChatRequestParameters(max_output_tokens=2)
    )
    assert short.chat(ChatRequest([UserMessage("Tell me a story.")])).usage.output == 2
    assert short.chat(say("Tell me a story.", 5)).usage.output == 5
    short.close()


def test_another_models_name_is_refused(model: LocalChatModel) -> None:
    with pytest.raises(InvalidRequestError, match="runs smollm2-135m and cannot answer as gpt-5"):
        model.chat(say(model_name="gpt-5"))


def test_images_are_refused_before_the_engine_is_asked(model: LocalChatModel) -> None:
    image = UserMessage([TextContent("What is this?"), ImageContent(data=b"x", media_type="image/png")])
    with pytest.raises(InvalidRequestError, match="sent a ImageContent"):
        model.chat(ChatRequest([image]))


def test_names_with_a_colon_make_local_models(weights: Weights) -> None:
    for name in ("local:smollm2-135m", f"local:{weights.path}"):
        made = resolve_chat_model(name)
        assert isinstance(made, LocalChatModel)
        assert made.weights.path == weights.path


def test_templates_get_texts_in_turn_whatever_the_messages_are() -> None:
    messages: list[ChatMessage] = [
        UserMessage("one"),
        UserMessage("two"),
        AiMessage("three"),
        ToolResultMessage("id", "clock", "10:15"),
        ToolResultMessage("id", "clock", "broken", is_error=True),
        CustomMessage({"role": "developer", "content": "four"}),
    ]
    assert conversation(messages, ["note"]) == [
        {"role": "system", "content": "note"},
        {"role": "user", "content": "one\n\ntwo"},
        {"role": "assistant", "content": "three"},
        {"role": "user", "content": "The tool clock gave: 10:15\n\nThe tool clock failed: broken"},
        {"role": "developer", "content": "four"},
    ]


def test_a_stream_gives_the_text_in_pieces_and_then_the_response(model: LocalChatModel) -> None:
    *pieces, last = model.stream(say("Write a sentence.", 12, seed=1))
    assert isinstance(last, ResponseDone)
    assert len(pieces) > 3
    assert "".join(piece.text for piece in pieces if isinstance(piece, PartialText)) == last.response.text


def test_closing_a_stream_stops_the_engine(model: LocalChatModel) -> None:
    began = time.monotonic()
    events = model.stream(endless())
    assert isinstance(next(events), PartialText)
    cast("Any", events).close()
    assert model.chat(say()).text
    assert time.monotonic() - began < GIVEN_UP_SECONDS


def test_an_error_reaches_the_reader_of_a_stream(model: LocalChatModel) -> None:
    with pytest.raises(ModelTimeoutError):
        list(model.stream(endless(timeout=0.2)))


@pytest.mark.anyio
async def test_asynchronous_answers_and_streams_work_too(model: LocalChatModel) -> None:
    response = await model.achat(say())
    assert response.text
    events = [event async for event in model.astream(say())]
    assert isinstance(events[-1], ResponseDone)


@pytest.mark.anyio
async def test_closing_an_asynchronous_stream_stops_the_engine(model: LocalChatModel) -> None:
    began = time.monotonic()
    async with aclosing(cast("Any", model.astream(endless()))) as events:
        assert isinstance(await anext(events), PartialText)
    assert (await model.achat(say())).text
    assert time.monotonic() - began < GIVEN_UP_SECONDS


@pytest.mark.anyio
async def test_cancelling_a_task_stops_the_engine_and_the_loop_goes_on_meanwhile(
    model: LocalChatModel,
) -> None:
    began, ticks = time.monotonic(), 0
    task = asyncio.create_task(model.achat(endless()))
    for _ in range(20):
        await asyncio.sleep(0.02)
        ticks += 1
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ticks == 20
    assert (await model.achat(say())).text
    assert time.monotonic() - began < GIVEN_UP_SECONDS
