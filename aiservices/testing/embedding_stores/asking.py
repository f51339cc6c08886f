"""The steps that the tests of embedding stores are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ...rag import EmbeddingStore, Filter, TextSegment

EAST: Final = (1.0, 0.0, 0.0)
NORTH: Final = (0.0, 1.0, 0.0)
UP: Final = (0.0, 0.0, 1.0)
WEST: Final = (-1.0, 0.0, 0.0)
NOWHERE: Final = (0.0, 0.0, 0.0)
NAN, INFINITE = float("nan"), float("inf")


def put(store: EmbeddingStore, **vectors: Sequence[float]) -> None:
    """Add a segment for each id, whose text is the id."""
    ids = list(vectors)
    assert store.add(list(vectors.values()), [TextSegment(each) for each in ids], ids=ids) == ids


def put_rows(store: EmbeddingStore, rows: Sequence[dict[str, Any]]) -> None:
    """Add a segment for each row of metadata, under the number of the row as its id."""
    ids = [str(number) for number in range(len(rows))]
    store.add(
        [EAST] * len(rows), [TextSegment(f"row {n}", row) for n, row in zip(ids, rows, strict=True)], ids=ids
    )


def scores(store: EmbeddingStore, vector: Sequence[float], **options: Any) -> dict[str, float]:
    """The ids that are found, best first, with their scores."""
    found = store.search(vector, **({"max_results": 100} | options))
    assert all(match.id == match.segment.text for match in found)
    return {match.id: match.score for match in found}


def rows_found(store: EmbeddingStore, filter: Filter | None = None) -> list[int]:
    """The numbers of the rows that a filter leaves."""
    return sorted(int(match.id) for match in store.search(EAST, max_results=1000, filter=filter))


def near(score: float, expected: float) -> bool:
    """Whether a score is what it should be, in single precision."""
    return abs(score - expected) < 1e-6
