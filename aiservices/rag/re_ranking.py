"""Ranking what was found anew, by a model that reads question and text together."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from ..driving import ASYNCHRONOUS, BLOCKING, Driver
from ..errors import ServerError
from ..models.scoring import ScoringModel
from ..segments import ScoredSegment
from .query import Query
from .rank_fusion import ReciprocalRankFusion
from .roles import Results
from .slots import DrivenPart, slot

ScoringFunction: TypeAlias = Callable[[str, list[str]], Sequence[float] | Awaitable[Sequence[float]]]
RETRIEVAL_SCORE: Final = "retrieval_score"


class ReRanker(DrivenPart):
    """Fuses the lists by rank, then scores what is left against the question, in one request.

    What scores below `min_score` is left out (by default nothing is), then all but the best `max_results`
    (by default all stay). Equal scores keep the order of the fusion. `score` of what it gives is the new
    score; the attribute `retrieval_score` is the one from before, ids and attributes stay.

    `scoring_model` is a `ScoringModel`, or a function of the question and a list of texts, sync or async.

    Of several queries, the question is the user's own message where the call is known, else the first query;
    `query_selector`, a function of all queries, chooses otherwise. Where nothing was found nothing is asked.
    """

    def __init__(
        self,
        scoring_model: ScoringModel | ScoringFunction,
        *,
        max_results: int | None = None,
        min_score: float | None = None,
        query_selector: Callable[[Sequence[Query]], Query | str] | None = None,
    ) -> None:
        if max_results is not None and max_results < 1:
            raise ValueError(f"max_results is {max_results}: give 1 or more, or None for all")
        self.scoring_model = scoring_model
        self._score = slot(scoring_model, "score", "scoring_model")
        self.max_results = max_results
        self.min_score = min_score
        self._question = query_selector or question_of
        self._fusion = ReciprocalRankFusion()

    def aggregate(self, results: Results) -> list[ScoredSegment]:
        """All that was found and is good enough, best first."""
        return BLOCKING.run(self.drive(BLOCKING, results))

    async def aaggregate(self, results: Results) -> list[ScoredSegment]:
        """All that was found and is good enough, best first."""
        return await ASYNCHRONOUS.run(self.drive(ASYNCHRONOUS, results))

    async def drive(self, driver: Driver, results: Results) -> list[ScoredSegment]:
        found = self._fusion.aggregate(results)
        if not found:
            return []
        question = self._question([query for query, _ in results])
        text = question.text if isinstance(question, Query) else question
        given = await self._score.run(driver, text, [each.text for each in found])
        scores = _checked(given, len(found), self._score.name)
        best = sorted(zip(scores, found, strict=True), key=lambda pair: -pair[0])
        kept = [_scored(each, score) for score, each in best if self._is_enough(score)]
        return kept[: self.max_results]

    def _is_enough(self, score: float) -> bool:
        return self.min_score is None or score >= self.min_score


def question_of(queries: Sequence[Query]) -> str:
    """What was asked: the only query, or what the user said where it became several, or the first of them."""
    context = queries[0].context
    if len(queries) > 1 and context.user_message is not None:
        return context.user_message.text
    return queries[0].text


def _checked(given: Sequence[float], count: int, model: str) -> list[float]:
    scores = [float(score) for score in given]
    if len(scores) != count or not all(map(math.isfinite, scores)):
        raise ServerError(
            f"{model} scored {count} texts with {len(scores)} numbers"
            if len(scores) != count
            else f"{model} gave a score that is no finite number"
        )
    return scores


def _scored(found: ScoredSegment, score: float) -> ScoredSegment:
    return replace(found, score=score, attributes={**found.attributes, RETRIEVAL_SCORE: found.score})
