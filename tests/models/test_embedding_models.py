"""What is taken for an embedding model, and what a scoring model is."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from aiservices.driving import run_in_background
from aiservices.errors import ConfigurationError
from aiservices.models import (
    EmbeddingModel,
    EmbeddingResponse,
    ScoringModel,
    TokenUsage,
    embedding_model_of,
    naming,
)
from aiservices.models.local import LocalEmbeddingModel
from aiservices.models.openai import OpenAiEmbeddingModel

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def lengths(texts: list[str]) -> list[list[float]]:
    return [[float(len(text)), 1.0] for text in texts]


async def alengths(texts: list[str]) -> list[list[float]]:
    return lengths(texts)


def array_of_lengths(texts: list[str]) -> Any:
    import numpy as np

    return np.array(lengths(texts))


def response_of_lengths(texts: list[str]) -> EmbeddingResponse:
    return EmbeddingResponse(lengths(texts), TokenUsage(3))


@pytest.mark.parametrize("function", [lengths, alengths, array_of_lengths, response_of_lengths])
def test_any_function_of_texts_is_an_embedding_model(function: Any) -> None:
    model = embedding_model_of(function)
    for response in (model.embed(["a", "bcd"]), run_in_background(model.aembed(("a", "bcd")))):
        assert [list(vector) for vector in response.vectors] == [[1.0, 1.0], [3.0, 1.0]]
        assert response.usage.known is (function is response_of_lengths)
    assert model.embed([]).vectors == ()
    assert repr(model) == f"FunctionEmbeddingModel({function.__name__})"


def test_a_function_that_loses_a_text_is_found_out() -> None:
    model = embedding_model_of(lambda texts: lengths(texts[1:]))
    with pytest.raises(ValueError, match="gave 1 vectors for 2 texts"):
        model.embed(["a", "b"])
    with pytest.raises(TypeError, match="not one text"):
        model.embed("ab")


def test_a_model_stands_for_itself() -> None:
    model = LocalEmbeddingModel()
    assert embedding_model_of(model) is model


@pytest.fixture
def declared(monkeypatch: pytest.MonkeyPatch) -> None:
    """The entry points that the project declares, whatever was installed when."""
    groups = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["entry-points"]

    def entry_points(group: str) -> list[EntryPoint]:
        return [EntryPoint(name, value, group) for name, value in groups[group].items()]

    monkeypatch.setattr(naming, "entry_points", entry_points)


@pytest.mark.usefixtures("declared")
def test_names_are_those_of_providers_and_their_models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1234567890")
    assert isinstance(embedding_model_of("local"), LocalEmbeddingModel)
    assert isinstance(embedding_model_of("local:all-MiniLM-L6-v2"), LocalEmbeddingModel)
    large = embedding_model_of("openai:text-embedding-3-large")
    assert isinstance(large, OpenAiEmbeddingModel)
    assert large.model_name == "text-embedding-3-large"
    assert isinstance(embedding_model_of("openai"), OpenAiEmbeddingModel)


@pytest.mark.usefixtures("declared")
@pytest.mark.parametrize(
    ("model", "complaint"),
    [
        ("nobody:x", "no model provider is called 'nobody': installed are local, openai"),
        ("local:other", "no embedded embedding model 'other'"),
        (None, "the embedding model is None: give an EmbeddingModel"),
        (LocalEmbeddingModel, "the embedding model is the class LocalEmbeddingModel"),
    ],
)
def test_what_is_no_embedding_model_is_a_configuration_error(model: Any, complaint: str) -> None:
    with pytest.raises(ConfigurationError, match=complaint):
        embedding_model_of(model)


def test_either_half_of_a_scoring_model_is_enough() -> None:
    class Blocking(ScoringModel):
        def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
            return [float(query in text) for text in texts]

    class Asynchronous(ScoringModel):
        async def ascore(self, query: str, texts: Sequence[str]) -> Sequence[float]:
            return [float(query in text) for text in texts]

    for model in (Blocking(), Asynchronous()):
        assert model.score("a", ["ab", "b"]) == [1.0, 0.0]
        assert run_in_background(model.ascore("a", ["ab", "b"])) == [1.0, 0.0]
    with pytest.raises(TypeError, match="neither score nor ascore"):
        type("Nothing", (ScoringModel,), {})


def test_an_embedding_model_needs_a_half() -> None:
    with pytest.raises(TypeError, match="neither embed nor aembed"):
        type("Nothing", (EmbeddingModel,), {})
