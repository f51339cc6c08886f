"""Searching 100,000 vectors in memory, against a bare product of matrices with a partial sort."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from aiservices.rag import F, Filter, InMemoryEmbeddingStore, TextSegment

VECTORS, DIMENSIONS, BEST = 100_000, 384, 10
FILTERS: dict[str, Filter | None] = {
    "no_filter": None,
    "a_tenth": F("tenant") == "3",
    "half": F("number") < VECTORS // 2,
    "nearly_all": F("tenant") != "3",
    "one": F("number") == 77,
    "combined": (F("tenant") != "3") & (F("number") >= VECTORS // 4),
}


def retrieval(rounds: int) -> dict[str, Any]:
    """Wall-clock medians and ratios; the two alternate, so that what else the machine does hits both."""
    random = np.random.default_rng(0)
    vectors = random.normal(size=(VECTORS, DIMENSIONS)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    query = random.normal(size=DIMENSIONS).astype(np.float32)
    segments = [TextSegment("", {"tenant": str(n % 10), "number": n}) for n in range(VECTORS)]
    store = InMemoryEmbeddingStore()
    begin = time.perf_counter()
    store.add(vectors, segments)
    rows: dict[str, Any] = {"add_us_each": (time.perf_counter() - begin) / VECTORS * 1e6}

    def bare() -> Any:
        nearness = vectors @ query
        best = np.argpartition(nearness, -BEST)[-BEST:]
        return best[np.argsort(-nearness[best])]

    for name, filter in FILTERS.items():
        rows[name] = _compared(bare, lambda: store.search(query, max_results=BEST, filter=filter), rounds)  # noqa: B023
    return rows


def _compared(raw: Callable[[], Any], ours: Callable[[], Any], rounds: int) -> dict[str, float]:
    pairs = [(_seconds(raw), _seconds(ours)) for _ in range(rounds + 2)][2:]
    return {
        "raw_ms": statistics.median(pair[0] for pair in pairs) * 1e3,
        "ours_ms": statistics.median(pair[1] for pair in pairs) * 1e3,
        "ratio": statistics.median(pair[1] / pair[0] for pair in pairs),
    }


def _seconds(function: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin
