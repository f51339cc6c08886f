"""What a moderation model is: it says whether texts violate a policy."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..driving import run_in_background, run_in_worker, wait_for


@dataclass(frozen=True, slots=True)
class ModerationResult:
    """Whether any of the texts was flagged, and for what, in the moderation's own words."""

    flagged: bool
    categories: tuple[str, ...] = ()


class ModerationModel(ABC):  # noqa: B024 - either of the two methods will do
    """Judges texts together. A subclass overrides `moderate` or `amoderate`; the other works by way of it.

    Overriding neither is a `TypeError` when the class is created. One that fails blocks the call.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.moderate is ModerationModel.moderate and cls.amoderate is ModerationModel.amoderate:
            raise TypeError(f"{cls.__name__} overrides neither moderate nor amoderate: it needs one")

    def moderate(self, texts: Sequence[str]) -> ModerationResult:
        """Judge the texts, blocking."""
        return run_in_background(self.amoderate(texts))

    async def amoderate(self, texts: Sequence[str]) -> ModerationResult:
        """Judge the texts."""
        return await wait_for(run_in_worker(partial(self.moderate, texts)))
