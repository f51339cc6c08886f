"""Exact search over vectors in memory: a product with the whole matrix, and the best of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from ..filters import Node
from .columns import Columns
from .requests import Question, need_numpy
from .scoring import scores_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .columns import Mask
    from .requests import Vectors

SMALLEST: Final = 64
SLACK: Final = 1000
"""So many rows may be stale before the index is made anew, however few are not."""

# The product in single precision is off by less than this; what is so near is looked at exactly.
NEARLY: Final = 1e-5
FEW: Final = 0.15
"""Below this share of the rows, copying the ones that count is cheaper than multiplying all."""

EXACT_AT_ONCE: Final = 4096


class ExactIndex:
    """Vectors at length 1 by id, with their metadata, in the order in which the ids were first put.

    Equal vectors have equal scores, and of equal scores the one that was put first comes first. It grows by
    doubling. Not for several threads at once.
    """

    def __init__(self) -> None:
        self._np = need_numpy("an embedding store")
        self.clear()

    def clear(self) -> None:
        """Forget everything, the dimension too."""
        self._rows: dict[str, int] = {}
        self._ids: list[str | None] = []  # `None` where a row was discarded
        self._matrix: Any = None
        self._metadata: list[Mapping[str, Any]] = []
        self._columns = Columns(self._np)
        self._replaced = 0

    @property
    def dimension(self) -> int | None:
        """That of all vectors; `None` as long as there are none."""
        return int(self._matrix.shape[1]) if self._rows else None

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, id: str) -> bool:
        return id in self._rows

    def ids(self) -> list[str]:
        """All ids, in the order in which they were first put."""
        return list(self._rows)

    def vectors(self) -> Vectors:
        """A copy of the vectors, in the order of the ids."""
        rows = list(self._rows.values())
        vectors: Vectors = self._matrix[rows] if rows else self._np.zeros((0, 0), "float32")
        return vectors

    def put(self, ids: Sequence[str], vectors: Vectors, metadata: Iterable[Mapping[str, Any]]) -> None:
        """Put vectors of the index's dimension under their ids, each id once; the ones there are replaced."""
        if not self._rows:
            self.clear()
        rows = [self._row_for(each) for each in ids]
        self._grow(len(self._ids), vectors.shape[1])
        self._matrix[rows] = vectors
        for row, each in zip(rows, metadata, strict=True):
            self._metadata[row] = each
            self._columns.put(row, each)
        self._tidy()

    def discard(self, ids: Iterable[str]) -> int:
        """Forget ids, and say how many of them were there."""
        before = len(self._rows)
        for each in ids:
            row = self._rows.pop(each, None)
            if row is not None:
                self._ids[row] = None
        self._tidy()
        return before - len(self._rows)

    def matching(self, node: Node) -> list[str]:
        """The ids whose metadata matches a filter."""
        chosen = self._np.flatnonzero(self._columns.mask(node, len(self._ids)))
        return [each for row in chosen.tolist() if (each := self._ids[row]) is not None]

    def search(self, question: Question) -> list[tuple[str, float]]:
        """The nearest ids and their scores, best first."""
        np, used = self._np, len(self._ids)
        if not self._rows:
            return []
        mask = self._mask(question.filter)
        if mask is not None and np.count_nonzero(mask) < FEW * used:
            rows = np.flatnonzero(mask)
            nearness = self._matrix[rows] @ question.vector
        else:
            rows, nearness = None, self._matrix[:used] @ question.vector
            if mask is not None:
                nearness[~mask] = -np.inf
        near = self._nearest(nearness, question)
        return self._exactly(near if rows is None else rows[near], question)

    def _mask(self, node: Node | None) -> Mask | None:
        """Which rows count; `None` for all."""
        used = len(self._ids)
        mask = None if node is None else self._columns.mask(node, used)
        if len(self._rows) < used:
            living = self._np.zeros(used, dtype=bool)
            living[list(self._rows.values())] = True
            mask = living if mask is None else mask & living
        return mask

    def _nearest(self, nearness: NDArray[np.float32], question: Question) -> NDArray[np.intp]:
        """The places of the nearest, and of all that may be as near when it is looked at exactly."""
        np, count = self._np, len(nearness)
        least = 2 * question.min_score - 1 - NEARLY
        if question.max_results < count:
            place = count - question.max_results
            least = max(least, float(np.partition(nearness, place)[place]) - NEARLY)
        near: NDArray[Any] = np.flatnonzero(nearness >= max(least, -2))  # minus infinity does not count
        return near

    def _exactly(self, rows: NDArray[np.intp], question: Question) -> list[tuple[str, float]]:
        """The best of some rows, by scores in double precision that depend on nothing but the two vectors."""
        np = self._np
        parts = [rows[start : start + EXACT_AT_ONCE] for start in range(0, len(rows), EXACT_AT_ONCE)]
        if not parts:
            return []
        scores = np.concatenate([scores_of(self._matrix[part], question.vector) for part in parts])
        best = np.argsort(-scores, kind="stable")[: question.max_results]
        found = zip(rows[best].tolist(), scores[best].tolist(), strict=True)
        return [(str(self._ids[row]), score) for row, score in found if score >= question.min_score]

    def _row_for(self, id: str) -> int:
        row = self._rows.get(id)
        if row is None:
            row = self._rows[id] = len(self._ids)
            self._ids.append(id)
            self._metadata.append({})
        else:
            self._replaced += 1
        return row

    def _grow(self, needed: int, dimension: int) -> None:
        np = self._np
        size = 0 if self._matrix is None else len(self._matrix)
        if needed > size:
            grown = np.empty((max(needed, 2 * size, SMALLEST), dimension), dtype=np.float32)
            if size:
                grown[:size] = self._matrix
            self._matrix = grown

    def _tidy(self) -> None:
        """Make everything anew, once discarded rows and replaced values are the greater part."""
        stale = len(self._ids) - len(self._rows) + self._replaced
        if stale <= max(SLACK, len(self._rows)):
            return
        rows = list(self._rows.values())
        ids, vectors, metadata = self.ids(), self.vectors(), [self._metadata[row] for row in rows]
        self.clear()
        if ids:
            self.put(ids, vectors, metadata)
