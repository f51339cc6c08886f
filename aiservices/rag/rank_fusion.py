"""Several ranked lists become one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ..driving import Driver
from ..segments import ScoredSegment, fingerprint
from .roles import Results
from .slots import DrivenPart

RRF_K: Final = 60
FUSED_SCORE: Final = "fused_score"


class ReciprocalRankFusion(DrivenPart):
    """Ranks segments by how high they stand in the lists: the sum of 1 / (k + rank) over them, from rank 1.

    First the lists of each query are fused, then what came of the queries. Equal sums keep the order in which
    the segments were first seen. Segments with equal text and metadata are the same one: it keeps the best of
    its scores, with the id and the attributes that came with that, and where lists were fused its attribute
    `fused_score` holds the sum. A segment that stands in one list twice counts there once, where it is first.

    Raises `ValueError` for a `k` below 1.
    """

    def __init__(self, k: int = RRF_K) -> None:
        if k < 1:
            raise ValueError(f"k is {k}: give 1 or more")
        self.k = k

    def aggregate(self, results: Results) -> list[ScoredSegment]:
        """All that was found, best first."""
        return self.fuse([self.fuse(lists) for _, lists in results])

    def fuse(self, lists: Sequence[Sequence[ScoredSegment]]) -> list[ScoredSegment]:
        """The lists as one, best first."""
        ranked = [deduplicated(each) for each in lists if each]
        if len(ranked) < 2:
            return list(ranked[0].values()) if ranked else []
        sums: dict[str, float] = {}
        best: dict[str, ScoredSegment] = {}
        for segments in ranked:
            for rank, (identity, found) in enumerate(segments.items(), start=1):
                sums[identity] = sums.get(identity, 0.0) + 1 / (self.k + rank)
                best[identity] = _better(best.get(identity), found)
        order = sorted(sums, key=lambda identity: -sums[identity])  # stable: ties as first seen
        return [_fused(best[identity], sums[identity]) for identity in order]

    async def drive(self, driver: Driver, results: Results) -> list[ScoredSegment]:
        return self.aggregate(results)


def deduplicated(segments: Sequence[ScoredSegment]) -> dict[str, ScoredSegment]:
    """The segments of one list by their identity, each at its first place."""
    found: dict[str, ScoredSegment] = {}
    for each in segments:
        identity = fingerprint(each.text, each.metadata)
        found[identity] = _better(found.get(identity), each)
    return found


def _better(known: ScoredSegment | None, other: ScoredSegment) -> ScoredSegment:
    if known is None or known.score is None:
        return other if known is None or other.score is not None else known
    return other if other.score is not None and other.score > known.score else known


def _fused(found: ScoredSegment, total: float) -> ScoredSegment:
    return replace(found, attributes={**found.attributes, FUSED_SCORE: total})
