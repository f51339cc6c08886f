"""What a scoring model is: it says how well texts answer a query. Re-rankers are such models."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from functools import partial
from typing import Any

from ..driving import run_in_background, run_in_worker, wait_for


class ScoringModel(ABC):  # noqa: B024 - either of the two methods will do
    """Scores texts against a query. A subclass overrides `score` or `ascore`; the other works by way of it.

    The scores are in the order of the texts, greater is better; their scale is the model's own. Overriding
    neither is a `TypeError` when the class is created.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.score is ScoringModel.score and cls.ascore is ScoringModel.ascore:
            raise TypeError(f"{cls.__name__} overrides neither score nor ascore: a scoring model needs one")

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Score the texts, blocking."""
        return run_in_background(self.ascore(query, texts))

    async def ascore(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Score the texts."""
        return await wait_for(run_in_worker(partial(self.score, query, texts)))
