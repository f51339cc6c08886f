"""What an ingestor tells: while it works, and at the end."""

from __future__ import annotations

from dataclasses import dataclass

from ...messages import NO_USAGE, TokenUsage
from ..failures import FailedDocument


@dataclass(frozen=True, slots=True)
class IngestionProgress:
    """How far it is: `done` documents of `total`, which is `None` where they are not counted beforehand."""

    done: int
    total: int | None


@dataclass(frozen=True, slots=True)
class IngestionReport:
    """What has been done.

    `ids` are those of the segments that were written, in order. The numbers are of documents: `added` were
    not there before, `updated` were but differed, `unchanged` did not, `removed` have no segments any more.
    `failed` names the others, and why. `usage` is what embedding took, that of failed documents too.
    """

    ids: tuple[str, ...] = ()
    added: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    failed: tuple[FailedDocument, ...] = ()
    usage: TokenUsage = NO_USAGE
