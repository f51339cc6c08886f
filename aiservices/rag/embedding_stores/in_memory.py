"""The embedding store that lives and dies with the process, unless it is saved."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Self
from uuid import uuid4

from ...driving import Driver, Places
from ...segments import TextSegment
from ..embedding_store import Match
from ..filters import Node
from ..segment_json import segment_from_json, segment_to_json
from .driven import DrivenEmbeddingStore
from .exact_index import ExactIndex
from .requests import Addition, Question, check_dimension, need_numpy

FORMAT: Final = 1


class InMemoryEmbeddingStore(DrivenEmbeddingStore):
    """Vectors in the memory of the process, searched exactly; needs the extra `rag`.

    The first vector says which dimension the others must have. 100,000 vectors of 384 numbers take 150 MB
    and some hundredths of a second to search. Safe to share between threads and event loops. `save` and
    `load` keep it in a file; a store that keeps itself is `SqlEmbeddingStore`.
    """

    def __init__(self) -> None:
        self._index = ExactIndex()
        self._segments: dict[str, TextSegment] = {}
        self._one_at_a_time = Places(1)

    async def _keep(self, driver: Driver, addition: Addition) -> None:
        await driver.call(self._put, addition)

    async def _find(self, driver: Driver, question: Question) -> list[Match]:
        return await driver.call(self._nearest, question)

    async def _drop(self, driver: Driver, ids: Sequence[str] | None, filter: Node | None) -> int:
        return await driver.call(self._discard, ids, filter)

    def _put(self, addition: Addition) -> None:
        with self._one_at_a_time.held():
            check_dimension(addition.vectors.shape[1], self._index.dimension, addition.ids)
            self._index.put(addition.ids, addition.vectors, [each.metadata for each in addition.segments])
            self._segments.update(zip(addition.ids, addition.segments, strict=True))

    def _nearest(self, question: Question) -> list[Match]:
        with self._one_at_a_time.held():
            check_dimension(len(question.vector), self._index.dimension)
            found = self._index.search(question)
            return [Match(id, score, self._segments[id]) for id, score in found]

    def _discard(self, ids: Sequence[str] | None, filter: Node | None) -> int:
        with self._one_at_a_time.held():
            chosen = self._index.ids() if ids is None else [each for each in ids if each in self._index]
            if filter is not None:
                matching = set(self._index.matching(filter))
                chosen = [each for each in chosen if each in matching]
            for each in chosen:
                del self._segments[each]
            return self._index.discard(chosen)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a file, which is replaced as a whole or stays as it was."""
        np = need_numpy("InMemoryEmbeddingStore")
        with self._one_at_a_time.held():
            ids, vectors = self._index.ids(), self._index.vectors()
            segments = [segment_to_json(self._segments[each]) for each in ids]
        file = Path(path)
        fresh = file.with_name(f"{file.name}.{uuid4().hex}")
        try:
            with fresh.open("xb") as output:
                np.savez(output, format=FORMAT, vectors=vectors, ids=_packed(ids), segments=_packed(segments))
            fresh.replace(file)
        finally:
            fresh.unlink(missing_ok=True)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The store that was saved in a file. Raises `ValueError` where it holds none, or a newer format."""
        np = need_numpy("InMemoryEmbeddingStore")
        store = cls()
        try:
            with np.load(Path(path), allow_pickle=False) as saved:
                found, vectors = int(saved["format"]), saved["vectors"]
                ids, segments = _unpacked(saved["ids"]), _unpacked(saved["segments"])
        except (KeyError, TypeError, ValueError, EOFError) as error:
            raise ValueError(f"{os.fspath(path)} holds no saved InMemoryEmbeddingStore") from error
        if found != FORMAT:
            raise ValueError(f"{os.fspath(path)} has the format {found}, this aiservices knows {FORMAT}")
        if ids:
            store._put(Addition(vectors, [segment_from_json(each) for each in segments], ids))
        return store

    def __len__(self) -> int:
        return len(self._segments)

    def __repr__(self) -> str:
        return f"InMemoryEmbeddingStore({len(self)} segments)"


def _packed(texts: list[str]) -> Any:
    """Texts as bytes in an array, which NumPy writes without pickling."""
    return need_numpy("InMemoryEmbeddingStore").frombuffer(json.dumps(texts).encode("ascii"), dtype="uint8")


def _unpacked(array: Any) -> list[str]:
    texts: list[str] = json.loads(array.tobytes())
    return texts
