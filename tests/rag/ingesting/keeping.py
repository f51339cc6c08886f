"""Stores and models for the tests of ingesting: what they hold and what they were asked can be looked at."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from aiservices import TokenUsage
from aiservices.models.embedding import EmbeddingModel, EmbeddingResponse
from aiservices.rag import Document, TextSegment


class Rows:
    """An embedding store that keeps its rows in a dictionary; it is not searched here."""

    def __init__(self) -> None:
        self.rows: dict[str, tuple[Sequence[float], TextSegment]] = {}
        self.adds: list[int] = []
        self.poison = "\0"

    def add(
        self,
        vectors: Sequence[Sequence[float]],
        segments: Sequence[TextSegment],
        *,
        ids: Sequence[str] | None = None,
    ) -> list[str]:
        assert ids is not None
        if any(self.poison in segment.text for segment in segments):
            raise OSError("the disk is full")
        self.adds.append(len(segments))
        self.rows.update(zip(ids, zip(vectors, segments, strict=True), strict=True))
        return list(ids)

    def remove(self, ids: Sequence[str] | None = None) -> int:
        return sum(self.rows.pop(id, None) is not None for id in ids or ())

    async def aadd(self, *args: Any, **named: Any) -> list[str]:
        return self.add(*args, **named)

    async def aremove(self, ids: Sequence[str] | None = None) -> int:
        return self.remove(ids)

    def texts(self, document_id: str | None = None) -> list[str]:
        """The texts of a document or of all, by document and number."""
        found = [segment for _, segment in self.rows.values()]
        found = [each for each in found if document_id in (None, each.metadata["document_id"])]
        return [each.text for each in sorted(found, key=_order)]


def _order(segment: TextSegment) -> tuple[str, int]:
    return str(segment.metadata["document_id"]), int(str(segment.metadata["index"]))


class Words:
    """A keyword index that keeps its segments in a dictionary."""

    def __init__(self) -> None:
        self.rows: dict[str, TextSegment] = {}

    def add(self, segments: Sequence[TextSegment], *, ids: Sequence[str] | None = None) -> list[str]:
        assert ids is not None
        self.rows.update(zip(ids, segments, strict=True))
        return list(ids)

    def remove(self, ids: Sequence[str] | None = None) -> int:
        return sum(self.rows.pop(id, None) is not None for id in ids or ())


class Lengths(EmbeddingModel):
    """Embeds a text as its length, and writes down what it is asked. Texts with a `!` cannot be embedded."""

    model_name = "lengths"

    def __init__(self, log: Path | None = None) -> None:
        self.batches: list[list[str]] = []
        self._log = log

    def embed(self, texts: Sequence[str]) -> EmbeddingResponse:
        self.batches.append(list(texts))
        if self._log is not None:
            with self._log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(list(texts)) + "\n")
        if any("!" in text for text in texts):
            raise ConnectionError("it does not like this")
        return EmbeddingResponse([[float(len(text))] for text in texts], TokenUsage(len(texts)))


def documents(**texts: str) -> list[Document]:
    """Documents by their ids."""
    return [Document(text, id=id) for id, text in texts.items()]
