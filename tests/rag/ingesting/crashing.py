"""The process that the crash tests kill: `python -m tests.rag.ingesting.crashing`.

Reads tasks as lines of JSON and forks a child for each, which has imported everything already. The child
ingests and dies by SIGKILL right before the step that the task names. What is answered is how it ended.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from aiservices.models.embedding import EmbeddingResponse
from aiservices.rag import (
    Document,
    Filter,
    IngestionReport,
    Ingestor,
    SqlEmbeddingStore,
    TextSegment,
    by_word,
)
from aiservices.stores import SqlStore
from tests.mortals import serve

from .keeping import Lengths

DOCUMENTS: Final = ("a", "b", "c")
_deadly = ""


def step(name: str) -> None:
    """Die here if this is the step to die at."""
    if name == _deadly:
        os.kill(os.getpid(), signal.SIGKILL)


def given(version: str) -> list[Document]:
    """Documents of two segments, of which the second one is the same in each version."""
    return [Document(f"{version}-{name} kept-{name}", id=name) for name in DOCUMENTS]


class SteppingLedger(SqlStore):
    def put(self, namespace: str, key: str, value: Any, **options: Any) -> int:
        step(f"{'intend' if value['digest'] is None else 'done'} {value['document_id']}")
        return super().put(namespace, key, value, **options)

    async def aput(self, namespace: str, key: str, value: Any, **options: Any) -> int:
        return self.put(namespace, key, value, **options)

    def delete(self, namespace: str, key: str, **options: Any) -> bool:
        step("forget")
        return super().delete(namespace, key, **options)

    async def adelete(self, namespace: str, key: str, **options: Any) -> bool:
        return self.delete(namespace, key, **options)


class SteppingRows(SqlEmbeddingStore):
    last = ""

    def add(
        self,
        vectors: Sequence[Sequence[float]],
        segments: Sequence[TextSegment],
        *,
        ids: Sequence[str] | None = None,
    ) -> list[str]:
        self.last = str(segments[0].metadata["document_id"])
        step(f"add {self.last}")
        return super().add(vectors, segments, ids=ids)

    async def aadd(
        self,
        vectors: Sequence[Sequence[float]],
        segments: Sequence[TextSegment],
        *,
        ids: Sequence[str] | None = None,
    ) -> list[str]:
        self.last = str(segments[0].metadata["document_id"])
        step(f"add {self.last}")
        return await super().aadd(vectors, segments, ids=ids)

    def remove(self, ids: Sequence[str] | None = None, *, filter: Filter | None = None) -> int:
        step(f"remove {self.last}")
        return super().remove(ids, filter=filter)

    async def aremove(self, ids: Sequence[str] | None = None, *, filter: Filter | None = None) -> int:
        step(f"remove {self.last}")
        return await super().aremove(ids, filter=filter)


class SteppingLengths(Lengths):
    def embed(self, texts: Sequence[str]) -> EmbeddingResponse:
        step(f"embed {texts[-1].rpartition('-')[2]}")
        return super().embed(texts)


def ingest(folder: Path, kind: str, version: str) -> IngestionReport:
    """Follow a source that has this version of the documents; with `gone` it has only the last one."""
    documents = given("old")[2:] if version == "gone" else given(version)
    url = str(folder / "knowledge.db")
    with SteppingLedger(url) as ledger, SteppingRows(url) as rows:
        ingestor = Ingestor(
            embedding_model=SteppingLengths(folder / "embedded.jsonl"),
            embedding_store=rows,
            splitter=by_word(6),
            batch_size=2,
            parallel=1,
            ledger=ledger,
        )
        if kind == "blocking":
            return ingestor.ingest(documents, source="s", remove_missing=True)
        return asyncio.run(ingestor.aingest(documents, source="s", remove_missing=True))


def perform(folder: str, kind: str, version: str, deadly: str = "") -> None:
    global _deadly  # noqa: PLW0603 - this process lives for one task
    _deadly = deadly
    ingest(Path(folder), kind, version)


if __name__ == "__main__":
    serve(perform)
