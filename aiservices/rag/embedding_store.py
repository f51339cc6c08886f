"""What an embedding store is: six methods in three pairs, of which one half each is enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from ..closing import Closable
from ..driving import run_in_background, run_in_worker, wait_for
from ..segments import TextSegment
from .filters import Filter


@dataclass(frozen=True, slots=True)
class Match:
    """A segment that was found, its id, and how near it is: 0 to 1 from an embedding store, 1 the nearest."""

    id: str
    score: float
    segment: TextSegment


class EmbeddingStore(Closable):
    """Segments with their vectors, found again by the nearness of a vector.

    The score of a match is (cosine + 1) / 2: 1 for the same direction, 0.5 for none in common, 0 for the
    opposite. A vector of zeros has no direction, and is at 0.5 from everything. A score is never NaN: vectors
    that hold NaN or an infinity, or are of another dimension than the store's, are refused with an error
    that names the id.

    A subclass overrides `add` or `aadd`, `search` or `asearch`, `remove` or `aremove`; the other half of
    each pair works by way of it. A pair without any half is a `TypeError` when the class is created.
    `aiservices.testing.embedding_stores` checks all of this for any store.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        missing = [
            f"{name} or a{name}"
            for name in _METHODS
            if all(getattr(cls, half) is getattr(EmbeddingStore, half) for half in (name, f"a{name}"))
        ]
        if missing:
            raise TypeError(
                f"{cls.__name__} overrides neither {', nor '.join(missing)}: a store needs one of each"
            )

    def add(
        self,
        vectors: Sequence[Sequence[float]],
        segments: Sequence[TextSegment],
        *,
        ids: Sequence[str] | None = None,
    ) -> list[str]:
        """Keep each segment under its vector and id, and return the ids: new ones unless they are given.

        An id that is there already gets the new vector and segment; given twice at once, the last one counts.
        All of it is kept or, with an error, nothing. Raises `ValueError` where there are not as many vectors
        as segments and ids, for a vector that is refused, and for an id that is blank, longer than
        512 letters, or holds a NUL or a lone surrogate; `TypeError` for other types.
        """
        return run_in_background(self.aadd(vectors, segments, ids=ids))

    def search(
        self,
        vector: Sequence[float],
        *,
        query: str | None = None,
        max_results: int = 3,
        min_score: float = 0.0,
        filter: Filter | None = None,
    ) -> list[Match]:
        """The nearest segments, best first; of equal ones the one that was added first, where a store knows.

        `query` is the text that the vector stands for, for stores that look at words as well; the ones that
        come with the framework do not. Only segments whose metadata matches the filter count, and only those
        with at least `min_score`, from 0 to 1. Raises `ValueError` for limits out of their range and for
        a vector that could not be added, `TypeError` for what is no filter.
        """
        ask = partial(self.asearch, query=query, max_results=max_results, min_score=min_score, filter=filter)
        return run_in_background(ask(vector))

    def remove(self, ids: Sequence[str] | None = None, *, filter: Filter | None = None) -> int:
        """Remove what has one of the ids and, with a filter, also matches it; return how many there were.

        Unknown ids are no error, and no ids remove nothing. Raises `ValueError` with neither ids nor filter.
        """
        return run_in_background(self.aremove(ids, filter=filter))

    async def aadd(
        self,
        vectors: Sequence[Sequence[float]],
        segments: Sequence[TextSegment],
        *,
        ids: Sequence[str] | None = None,
    ) -> list[str]:
        """See `add`."""
        return await wait_for(run_in_worker(partial(self.add, vectors, segments, ids=ids)))

    async def asearch(
        self,
        vector: Sequence[float],
        *,
        query: str | None = None,
        max_results: int = 3,
        min_score: float = 0.0,
        filter: Filter | None = None,
    ) -> list[Match]:
        """See `search`."""
        ask = partial(self.search, query=query, max_results=max_results, min_score=min_score, filter=filter)
        return await wait_for(run_in_worker(partial(ask, vector)))

    async def aremove(self, ids: Sequence[str] | None = None, *, filter: Filter | None = None) -> int:
        """See `remove`."""
        return await wait_for(run_in_worker(partial(self.remove, ids, filter=filter)))


_METHODS: Final = ("add", "search", "remove")
