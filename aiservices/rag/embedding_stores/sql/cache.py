"""The vectors and the metadata of the rows, in memory, brought up to date before each use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....driving import Places
from ...filters import Node
from ...segment_json import metadata_from_json
from ..exact_index import ExactIndex
from ..requests import Question, check_dimension, need_numpy
from .rows import Changes, Seen


class DamagedRowError(ValueError):
    """A row does not hold what this package writes; the message names its id."""


class Cache:
    """What was read of a table. Safe to share between threads; each use says what is new first.

    Where the changes do not follow on what is known, because somebody else was quicker, the answer is `None`:
    read the changes since `seen` and ask again.
    """

    def __init__(self) -> None:
        self._index = ExactIndex()
        self._one_at_a_time = Places(1)
        self.seen = Seen()

    def search(self, changes: Changes, question: Question) -> list[tuple[str, float]] | None:
        """The nearest ids and their scores, best first."""
        with self._one_at_a_time.held():
            if not self._follow(changes):
                return None
            check_dimension(len(question.vector), self._index.dimension)
            return self._index.search(question)

    def matching(self, changes: Changes, ids: Sequence[str] | None, node: Node) -> list[str] | None:
        """The ids that match a filter, all or of some."""
        with self._one_at_a_time.held():
            if not self._follow(changes):
                return None
            found = self._index.matching(node)
            return found if ids is None else sorted({*found}.intersection(ids))

    def _follow(self, changes: Changes) -> bool:
        if changes.before != self.seen:
            return False
        if changes.rows:
            vectors, metadata = _read(changes.rows)
            if self._index.dimension not in (None, vectors.shape[1]):
                self._index.clear()  # the store was emptied, and filled with others
            self._index.put([id for id, _, _ in changes.rows], vectors, metadata)
        if changes.ids is not None:
            there = set(changes.ids)
            self._index.discard([id for id in self._index.ids() if id not in there])
        self.seen = changes.now
        return True


def _read(rows: Sequence[tuple[str, bytes, str]]) -> tuple[Any, list[Any]]:
    """The vectors as a matrix, and the metadata."""
    np = need_numpy("SqlEmbeddingStore")
    size = len(rows[0][1])
    metadata = []
    for id, vector, text in rows:
        if len(vector) != size or not size or size % 4:
            raise DamagedRowError(f"the vector of {id!r} has {len(vector)} bytes, that of another {size}")
        try:
            metadata.append(metadata_from_json(text))
        except ValueError as error:
            raise DamagedRowError(f"the metadata of {id!r} is damaged: {error}") from error
    matrix = np.frombuffer(b"".join(vector for _, vector, _ in rows), dtype="<f4").reshape(len(rows), -1)
    if not np.isfinite(matrix).all():
        bad = rows[int(np.flatnonzero(~np.isfinite(matrix).all(axis=1))[0])][0]
        raise DamagedRowError(f"the vector of {bad!r} holds what is no number")
    return matrix, metadata
