"""How sure the model was of a closed choice: from what it tells of labels, or of its tokens."""

from __future__ import annotations

from enum import Enum
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

import aiservices
from aiservices import Result, TokenLogprob
from aiservices.testing import ScriptedChatModel
from tests.asking import answer, asking


class Mood(Enum):
    GOOD = "good"
    BAD = "bad"


def logprobs(*tokens: tuple[str, float]) -> dict[str, Any]:
    text = "".join(token for token, _ in tokens)
    return {"text": text, "logprobs": tuple(TokenLogprob(*token) for token in tokens)}


SURE, HALF = -0.0001, -0.6931471805599453


@pytest.mark.parametrize(
    ("kind", "said", "confidence"),
    [
        (Mood, {"text": "good", "label_probabilities": {"good": 0.8, "bad": 0.2}}, 0.8),
        (Mood, {"text": "GOOD", "label_probabilities": {"good": 0.8}}, 0.8),
        (bool, {"text": "true", "label_probabilities": {"true": 1.2}}, 1.0),
        (bool, {"text": "yes", "label_probabilities": {"true": 0.6, "false": 0.4}}, 0.6),
        (Literal[1, 2], {"text": "2", "label_probabilities": {"1": 0.1, "2": 0.9}}, 0.9),
        (Mood, {"text": "good", "label_probabilities": {"bad": 0.2}}, None),
        (Mood, {"text": "good", "label_probabilities": {"good": float("nan")}}, None),
        (Mood, {"text": "good"}, None),
        (str, {"text": "good", "label_probabilities": {"good": 0.8}}, None),
        (int, {"text": "1", "logprobs": (TokenLogprob("1", HALF),)}, None),
        (Mood, logprobs(("good", HALF)), 0.5),
        (Mood, logprobs(("go", HALF), ("od", HALF), ("\n", -9.0)), 0.25),
        (Mood, logprobs(("GOOD", HALF)), 0.5),  # another case
        (Mood, logprobs(('{"', -9.0), ("value", -9.0), ('":"', -9.0), ("bad", HALF), ('"}', -9.0)), 0.5),
        (Mood, logprobs(('{"value": "ba', HALF), ('d"}', HALF)), 0.25),  # tokens that straddle
        (Mood, logprobs(("<think>good or bad? bad</think>", -9.0), ("good", HALF)), 0.5),
        (Mood, logprobs(("Not bad: ", -9.0), ('{"value": "', -9.0), ("good", HALF), ('"}', SURE)), 0.5),
        (Mood, logprobs(('{"value": "', -9.0), ("good", HALF), ('"}', -9.0), (" How good!", -9.0)), 0.5),
        (bool, logprobs(('{"value": ', -9.0), ("true", HALF), ("}", -9.0)), 0.5),
        (bool, logprobs(("yes", HALF)), 0.5),  # another word for the label
        (Literal[1, 12], logprobs(('{"value": ', -9.0), ("1", HALF), ("}", -9.0)), 0.5),
        (Literal["e", "x"], logprobs(('{"value": "', -9.0), ("e", HALF), ('"}', -9.0)), 0.5),
        (Mood, logprobs(("good", float("nan"))), None),
        (Mood, logprobs(("good", float("-inf"))), 0.0),
        (Mood, logprobs(("good", 5.0)), 1.0),
        (Mood, {"text": "good", "logprobs": ()}, None),
        (Literal["", "x"], logprobs(('{"value": "', -9.0), ('"}', -9.0)), None),
    ],
    ids=repr,
)
def test_a_closed_choice_has_a_confidence_where_the_model_tells(
    kind: Any, said: dict[str, Any], confidence: float | None
) -> None:
    result = aiservices.create(asking(Result[kind]), chat_model=ScriptedChatModel(answer(**said))).ask("q")
    assert result.confidence == (None if confidence is None else pytest.approx(confidence, abs=1e-3))


def test_an_enum_answered_by_name_has_the_confidence_of_the_name() -> None:
    class Size(Enum):
        S = "a small one"
        L = "a large one"

    said = answer(**logprobs(('{"value": "', -9.0), ("S", HALF), ('"}', -9.0)))
    result = aiservices.create(asking(Result[Size]), chat_model=ScriptedChatModel(said)).ask("q")
    assert result.content is Size.S
    assert result.confidence == pytest.approx(0.5)


@given(st.lists(st.tuples(st.text(max_size=4), st.floats(-5, 5)), max_size=6))
def test_a_confidence_is_a_probability_whatever_the_tokens(tokens: list[tuple[str, float]]) -> None:
    said = answer("good", logprobs=tuple(TokenLogprob(*token) for token in tokens))
    result = aiservices.create(asking(Result[Mood]), chat_model=ScriptedChatModel(said)).ask("q")
    assert result.confidence is None or 0.0 <= result.confidence <= 1.0
