"""What ingesting costs: time for each segment, and the memory that does not grow with their number."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from aiservices import SqlStore, Store
from aiservices.models.embedding import EmbeddingModel, EmbeddingResponse
from aiservices.rag import Document, Ingestor, TextSegment, recursive

from .measuring import resident

WORDS = "The quick brown fox jumps over the lazy dog, and then it asks for its order. "
SEGMENTS_OF_A_DOCUMENT = 10


class Instant(EmbeddingModel):
    """Gives vectors of 384 numbers at once, each text its own list."""

    def embed(self, texts: Sequence[str]) -> EmbeddingResponse:
        return EmbeddingResponse([[float(len(text))] * 384 for text in texts])

    async def aembed(self, texts: Sequence[str]) -> EmbeddingResponse:
        return self.embed(texts)


class Forgetting:
    """A store that counts what it is given and keeps nothing, so that only the ingestor's memory remains."""

    def __init__(self) -> None:
        self.segments = 0

    def add(
        self,
        vectors: Sequence[Sequence[float]],
        segments: Sequence[TextSegment],
        *,
        ids: Sequence[str] | None = None,
    ) -> list[str]:
        self.segments += len(segments)
        return list(ids or ())

    def remove(self, ids: Sequence[str] | None = None) -> int:
        return 0

    async def aadd(self, *args: Any, **named: Any) -> list[str]:
        return self.add(*args, **named)

    async def aremove(self, ids: Sequence[str] | None = None) -> int:
        return 0


def documents(segments: int) -> Iterator[Document]:
    for number in range(segments // SEGMENTS_OF_A_DOCUMENT):
        text = "\n\n".join(f"{number} {part} {WORDS * 5}" for part in range(SEGMENTS_OF_A_DOCUMENT))
        yield Document(text, id=str(number))


def ingest(segments: int, ledger: Store) -> int:
    store = Forgetting()
    ingestor = Ingestor(
        embedding_model=Instant(), embedding_store=store, splitter=recursive(500), ledger=ledger
    )
    ingestor.ingest(documents(segments))
    return store.segments


def ingesting(segments: int = 10_000) -> dict[str, Any]:
    """CPU of the framework's own share, and the memory it has at most, also for a tenth of the segments."""
    with TemporaryDirectory() as folder:
        with SqlStore(str(Path(folder) / "warm.db")) as ledger:
            ingest(100, ledger)
        before, begin = resident(), time.process_time()
        with SqlStore(str(Path(folder) / "first.db")) as ledger:
            written = ingest(segments, ledger)
            cpu, begin = time.process_time() - begin, time.process_time()
            ingest(segments, ledger)
            again = time.process_time() - begin
        grown = resident() - before
        peaks = {}
        for number in (segments // 10, segments):
            tracemalloc.start()
            with SqlStore(str(Path(folder) / f"{number}.db")) as ledger:
                ingest(number, ledger)
            peaks[number] = tracemalloc.get_traced_memory()[1] / 1e6
            tracemalloc.stop()
    small, large = peaks.values()
    return {
        "segments": written,
        "first_us_per_segment": cpu / written * 1e6,
        "unchanged_us_per_segment": again / written * 1e6,
        "resident_growth_mb": grown,
        "peak_mb": large,
        "peak_of_a_tenth_mb": small,
        "peak_ratio": large / small,
    }
