"""Embedding stores whose operations are written once and driven two ways."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from ...driving import ASYNCHRONOUS, BLOCKING, Driver
from ...segments import TextSegment
from ..embedding_store import EmbeddingStore, Match
from ..filters import Filter, Node
from .requests import Addition, Question, checked_addition, checked_ids, checked_question, checked_removal


class DrivenEmbeddingStore(EmbeddingStore, ABC):
    """An embedding store of checked requests: a subclass does them, this class checks and drives them."""

    @abstractmethod
    async def _keep(self, driver: Driver, addition: Addition) -> None:
        """Keep segments, whole or not at all."""

    @abstractmethod
    async def _find(self, driver: Driver, question: Question) -> list[Match]:
        """The nearest segments, best first."""

    @abstractmethod
    async def _drop(self, driver: Driver, ids: Sequence[str] | None, filter: Node | None) -> int:
        """Remove what has one of the ids, unless that is `None`, and matches the filter, unless it is."""

    async def _add(
        self,
        driver: Driver,
        vectors: Sequence[Sequence[float]],
        segments: Sequence[TextSegment],
        ids: Sequence[str] | None,
    ) -> list[str]:
        named = checked_ids(vectors, segments, ids)
        if named:
            await self._keep(driver, await driver.call(checked_addition, vectors, segments, named))
        return named

    async def _remove(self, driver: Driver, ids: Sequence[str] | None, filter: Filter | None) -> int:
        chosen, node = checked_removal(ids, filter)
        return 0 if chosen is not None and not chosen else await self._drop(driver, chosen, node)

    def add(
        self,
        vectors: Sequence[Sequence[float]],
        segments: Sequence[TextSegment],
        *,
        ids: Sequence[str] | None = None,
    ) -> list[str]:
        return BLOCKING.run(self._add(BLOCKING, vectors, segments, ids))

    def search(
        self,
        vector: Sequence[float],
        *,
        query: str | None = None,
        max_results: int = 3,
        min_score: float = 0.0,
        filter: Filter | None = None,
    ) -> list[Match]:
        question = checked_question(vector, max_results, min_score, filter)
        return BLOCKING.run(self._find(BLOCKING, question))

    def remove(self, ids: Sequence[str] | None = None, *, filter: Filter | None = None) -> int:
        return BLOCKING.run(self._remove(BLOCKING, ids, filter))

    async def aadd(
        self,
        vectors: Sequence[Sequence[float]],
        segments: Sequence[TextSegment],
        *,
        ids: Sequence[str] | None = None,
    ) -> list[str]:
        return await self._add(ASYNCHRONOUS, vectors, segments, ids)

    async def asearch(
        self,
        vector: Sequence[float],
        *,
        query: str | None = None,
        max_results: int = 3,
        min_score: float = 0.0,
        filter: Filter | None = None,
    ) -> list[Match]:
        question = checked_question(vector, max_results, min_score, filter)
        return await self._find(ASYNCHRONOUS, question)

    async def aremove(self, ids: Sequence[str] | None = None, *, filter: Filter | None = None) -> int:
        return await self._remove(ASYNCHRONOUS, ids, filter)
