"""A model ranks what was found anew: rows X16 to X20 of the facts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from aiservices import ServerError
from aiservices.messages import UserMessage
from aiservices.rag import Query, QueryContext, ReRanker, ScoredSegment, ScoringModel, TextSegment

from .looking_up import KINDS, drive, found, texts_of


class Scores(ScoringModel):
    """Gives the scores of this table, and notes what it was asked."""

    def __init__(self, **scores: float) -> None:
        self.scores = scores
        self.asked: list[tuple[str, list[str]]] = []

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        self.asked.append((query, list(texts)))
        return [self.scores[text] for text in texts]


FIVE = Scores(a=0.6, b=0.2, c=0.3, d=0.4, e=0.5)


@pytest.mark.parametrize("kind", KINDS)
def test_the_new_scores_rank_and_the_old_ones_ids_and_attributes_stay(kind: str) -> None:
    """Row X16, where upstream loses them"""
    contents = [
        ScoredSegment(TextSegment("c1", {"page": 1}), 0.9, "id1", {"from": "here"}),
        ScoredSegment(TextSegment("c2"), 0.8, "id2"),
    ]
    model = Scores(c1=0.5, c2=0.7)
    best, second = drive(kind, ReRanker(model).drive, [(Query("q"), [contents])])
    assert (best.text, best.score, best.id, best.attributes) == ("c2", 0.7, "id2", {"retrieval_score": 0.8})
    assert (second.score, second.id, second.metadata) == (0.5, "id1", {"page": 1})
    assert second.attributes == {"from": "here", "retrieval_score": 0.9}
    assert model.asked == [("q", ["c1", "c2"])]


@pytest.mark.parametrize(("most", "expected"), [(None, "aed"), (2, "ae"), (9, "aed")])
def test_what_scores_too_low_or_stands_too_far_down_is_left_out(most: int | None, expected: str) -> None:
    """Rows X17, X18"""
    ranked = ReRanker(FIVE, min_score=0.4, max_results=most)
    assert "".join(texts_of(ranked.aggregate([(Query("q"), [found(*"abcde")])]))) == expected


def test_equal_scores_keep_the_order_of_the_fusion() -> None:
    model = Scores(**dict.fromkeys("abcd", 0.5))
    assert texts_of(ReRanker(model).aggregate([(Query("q"), [found(*"cab"), found(*"cd")])])) == list("cadb")


def test_of_several_queries_the_question_is_what_the_user_said() -> None:
    """Row X19: better than a refusal is the question that all of them came from"""
    context = QueryContext(user_message=UserMessage("what I asked"))
    results = [(Query("one", context), [found("a")]), (Query("two", context), [found("a", "b")])]
    model = Scores(a=1, b=0)
    ReRanker(model).aggregate(results)
    ReRanker(model).aggregate([(Query(query.text), lists) for query, lists in results])
    ReRanker(model, query_selector=lambda queries: queries[-1]).aggregate(results)
    ReRanker(model).aggregate(results[1:])
    assert [question for question, _ in model.asked] == ["what I asked", "one", "two", "two"]


@pytest.mark.parametrize("results", [[], [(Query("q"), [])], [(Query("q"), [[]])]])
def test_where_nothing_was_found_nothing_is_asked(results: Any) -> None:
    """Row X20"""
    model = Scores()
    assert ReRanker(model).aggregate(results) == []
    assert model.asked == []


def test_an_asynchronous_model_will_do() -> None:
    class Patient(ScoringModel):
        async def ascore(self, query: str, texts: Sequence[str]) -> Sequence[float]:
            await asyncio.sleep(0)
            return [float(len(text)) for text in texts]

    results = [(Query("q"), [found("a", "bbb")])]
    assert texts_of(ReRanker(Patient()).aggregate(results)) == ["bbb", "a"]
    assert texts_of(asyncio.run(ReRanker(Patient()).aaggregate(results))) == ["bbb", "a"]
    assert list(Patient().score("q", ["a"])) == [1.0]


def test_a_function_and_any_object_with_the_method_will_do() -> None:
    class Ranker:
        def score(self, query: str, texts: Sequence[str]) -> list[float]:
            return [float(len(text)) for text in texts]

    async def patient(query: str, texts: list[str]) -> list[float]:
        return Ranker().score(query, texts)

    results = [(Query("q"), [found("a", "bbb")])]
    for model in (Ranker(), Ranker().score, patient):
        assert texts_of(ReRanker(model).aggregate(results)) == ["bbb", "a"]
        assert texts_of(asyncio.run(ReRanker(model).aaggregate(results))) == ["bbb", "a"]


def test_a_blocking_model_can_be_awaited() -> None:
    assert list(asyncio.run(Scores(a=0.5).ascore("q", ["a"]))) == [0.5]


@pytest.mark.parametrize(
    ("scores", "complaint"),
    [([1.0], "scored 2 texts with 1 numbers"), ([1.0, float("nan")], "a score that is no finite number")],
)
def test_scores_that_cannot_be_right_are_an_error(scores: list[float], complaint: str) -> None:
    class Wrong(ScoringModel):
        def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
            return scores

    with pytest.raises(ServerError, match=complaint):
        ReRanker(Wrong()).aggregate([(Query("q"), [found("a", "b")])])


def test_wrong_settings_are_refused() -> None:
    with pytest.raises(ValueError, match="max_results is 0"):
        ReRanker(FIVE, max_results=0)
    with pytest.raises(TypeError, match="the scoring_model 'model' is neither a function nor an object"):
        ReRanker("model")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="overrides neither score nor ascore"):
        type("Neither", (ScoringModel,), {})
