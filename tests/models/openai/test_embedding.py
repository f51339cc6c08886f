"""OpenAI's embedding models, asked over a real connection."""

from __future__ import annotations

import asyncio
import struct
from base64 import b64encode
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from aiservices.errors import (
    AuthenticationError,
    InvalidRequestError,
    ModelError,
    RateLimitError,
    ServerError,
)
from aiservices.models import EmbeddingResponse
from aiservices.models.openai import OpenAiEmbeddingModel
from tests.models.fake_server import Answer, Script

from .wire import KEY

JSON = {"content-type": "application/json"}


def said(*vectors: Any, usage: Any = 7, order: Sequence[int] = ()) -> dict[str, Any]:
    data = [{"object": "embedding", "index": n, "embedding": each} for n, each in enumerate(vectors)]
    used = {} if usage is None else {"usage": {"prompt_tokens": usage, "total_tokens": usage}}
    return {"object": "list", "model": "m", "data": [data[n] for n in order] or data, **used}


def packed(*numbers: float) -> str:
    return b64encode(struct.pack(f"<{len(numbers)}f", *numbers)).decode()


def by_length(asked: dict[str, Any]) -> dict[str, Any]:
    """A vector for each text that says how long it is."""
    return said(*([len(text), 1] for text in asked["input"]), usage=len(asked["input"]))


def model(script: Script, **options: Any) -> OpenAiEmbeddingModel:
    return OpenAiEmbeddingModel(**{"api_key": KEY, "base_url": script.url} | options)


@pytest.fixture(params=["blocking", "asynchronous"])
def embed(request: pytest.FixtureRequest) -> Callable[..., EmbeddingResponse]:
    def embedded(asked: OpenAiEmbeddingModel, texts: Sequence[str]) -> EmbeddingResponse:
        if request.param == "blocking":
            try:
                return asked.embed(texts)
            finally:
                asked.close()

        async def aembedded() -> EmbeddingResponse:
            try:
                return await asked.aembed(texts)
            finally:
                await asked.aclose()

        return asyncio.run(aembedded())

    return embedded


def test_texts_become_vectors_in_their_order_and_the_usage_is_told(script: Script, embed: Any) -> None:
    script.will_say(said(packed(0.5, -1), packed(2, 0.25), order=(1, 0)))
    response = embed(model(script, dimensions=2), ("a", "b"))
    assert response.vectors == ((0.5, -1.0), (2.0, 0.25))
    assert response.usage.input == 7
    assert script.heard == {
        "model": "text-embedding-3-small",
        "input": ["a", "b"],
        "encoding_format": "base64",
        "dimensions": 2,
    }
    assert script.requests[0].path.endswith("/v1/embeddings")
    assert script.requests[0].headers["authorization"] == f"Bearer {KEY}"


def test_a_server_that_sends_lists_and_no_usage_is_understood(script: Script, embed: Any) -> None:
    script.will_say(said([1, 2.5], usage=None))
    response = embed(model(script), ["a"])
    assert response.vectors == ((1.0, 2.5),)
    assert not response.usage.known
    assert "dimensions" not in script.heard


def test_many_texts_go_in_batches_and_come_back_in_order(script: Script, embed: Any) -> None:
    script.will_say(Answer(by_length))
    texts = ["x" * number for number in range(1, 26)]
    response = embed(model(script, batch_size=10), texts)
    assert [vector[0] for vector in response.vectors] == list(range(1, 26))
    assert response.usage.input == 25
    assert sorted(len(request.json["input"]) for request in script.requests) == [5, 10, 10]


def test_no_more_requests_are_under_way_than_allowed(script: Script, embed: Any) -> None:
    script.will_say(Answer(by_length, after=0.02))
    embed(model(script, batch_size=1, max_in_flight=2), ["x"] * 6)
    assert script.peak <= 2
    assert len(script.requests) == 6


def test_nothing_to_embed_is_not_sent(script: Script, embed: Any) -> None:
    assert embed(model(script), []).vectors == ()
    assert script.requests == []
    with pytest.raises(TypeError, match="not one text"):
        embed(model(script), "text")


@pytest.mark.parametrize(
    "body",
    [
        *(said([1]), said([1], [1], [1]), said([1], [1, 2]), said([1], []), said([1], ["x"]), said([1], "!")),
        *({}, {"data": None}, b"oops", [1], said([1], packed(float("nan"))), said(packed(1), "AAA=")),
        {"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [2]}]},
    ],
)
def test_an_answer_without_a_vector_for_each_text_is_none(script: Script, embed: Any, body: Any) -> None:
    script.will_say(Answer(body, headers=JSON))
    with pytest.raises(ServerError):
        embed(model(script, max_attempts=1), ["a", "b"])


def test_failures_are_those_of_any_model_and_show_no_key(script: Script, embed: Any) -> None:
    script.will_say(Answer({"error": {"message": f"bad key {KEY}"}}, 401))
    with pytest.raises(AuthenticationError) as caught:
        embed(model(script), ["a"])
    assert KEY not in str(caught.value)
    script.will_say(Answer({"error": {"message": "slow down"}}, 429))
    with pytest.raises(RateLimitError):
        embed(model(script, max_attempts=1), ["a"])
    script.will_say(Answer({"error": {"message": "an empty text"}}, 400))
    with pytest.raises(InvalidRequestError, match="an empty text"):
        embed(model(script), [""])
    script.will_say({"error": {"message": "odd"}})
    with pytest.raises(ModelError, match="odd"):
        embed(model(script, max_attempts=1), ["a"])


def test_a_failure_that_may_pass_is_tried_again(script: Script, embed: Any) -> None:
    script.will_say(Answer({"error": {"message": "wait"}}, 500, {"retry-after": "0"}), said([1]))
    assert embed(model(script), ["a"]).vectors == ((1.0,),)
    assert len(script.requests) == 2


def test_wrong_options_are_refused(script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    for options in ({"batch_size": 0}, {"batch_size": 2049}, {"dimensions": 0}):
        with pytest.raises(ValueError, match=next(iter(options))):
            model(script, **options)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(AuthenticationError, match="OPENAI_API_KEY"):
        OpenAiEmbeddingModel()
