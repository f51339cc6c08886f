"""What an embedding model is: texts become vectors of which near ones mean nearly the same."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ..driving import run_in_background, run_in_worker, wait_for
from ..messages import NO_USAGE, TokenUsage


@dataclass(frozen=True, slots=True)
class EmbeddingResponse:
    """The vectors of the texts, in their order, and the tokens it took."""

    vectors: Sequence[Sequence[float]] = field(hash=False)
    usage: TokenUsage = NO_USAGE


class EmbeddingModel(ABC):  # noqa: B024 - either of the two methods will do
    """A model that embeds texts. A subclass overrides `embed` or `aembed`; the other works by way of it.

    Overriding neither is a `TypeError` when the class is created.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.embed is EmbeddingModel.embed and cls.aembed is EmbeddingModel.aembed:
            raise TypeError(
                f"{cls.__name__} overrides neither embed nor aembed: an embedding model needs one"
            )

    def embed(self, texts: Sequence[str]) -> EmbeddingResponse:
        """Embed the texts, blocking."""
        return run_in_background(self.aembed(texts))

    async def aembed(self, texts: Sequence[str]) -> EmbeddingResponse:
        """Embed the texts."""
        return await wait_for(run_in_worker(partial(self.embed, texts)))
