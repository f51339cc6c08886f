"""What an embedding model is: texts become vectors of which near ones mean nearly the same."""

from __future__ import annotations

from abc import ABC
from collections.abc import Awaitable, Callable, Sequence, Sized
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeAlias

from ..driving import ASYNCHRONOUS, BLOCKING, Driver, run_in_background, run_in_worker, wait_for
from ..messages import NO_USAGE, TokenUsage

UNKNOWN_USAGE: Final = TokenUsage(known=False)


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


Vectors: TypeAlias = EmbeddingResponse | Sequence[Sequence[float]]
EmbeddingFunction: TypeAlias = Callable[[list[str]], Vectors | Awaitable[Vectors]]


class FunctionEmbeddingModel(EmbeddingModel):
    """A model that asks a function, synchronous or asynchronous: a list of texts in, a vector for each out.

    The function may give an `EmbeddingResponse`, a list of vectors, or an array of NumPy; where it gives
    no response, the usage is not known. Another number of vectors than of texts is a `ValueError`.
    `model_name` is the name of the function, by which an ingestor tells it from other ones.
    """

    def __init__(self, function: EmbeddingFunction) -> None:
        self._function = function
        self.model_name = _name_of(function)

    def embed(self, texts: Sequence[str]) -> EmbeddingResponse:
        return BLOCKING.run(self._embed(BLOCKING, texts))

    async def aembed(self, texts: Sequence[str]) -> EmbeddingResponse:
        return await self._embed(ASYNCHRONOUS, texts)

    async def _embed(self, driver: Driver, texts: Sequence[str]) -> EmbeddingResponse:
        given = list_of_texts(texts)
        made: Any = await driver.call(self._function, given) if given else ()
        response = made if isinstance(made, EmbeddingResponse) else EmbeddingResponse(made, UNKNOWN_USAGE)
        if not isinstance(response.vectors, Sized):
            raise TypeError(f"{self} gave a {type(response.vectors).__name__}: it gives a list of vectors")
        if len(response.vectors) != len(given):
            raise ValueError(f"{self} gave {len(response.vectors)} vectors for {len(given)} texts")
        return response

    def __repr__(self) -> str:
        return f"FunctionEmbeddingModel({self.model_name})"


def _name_of(function: EmbeddingFunction) -> str:
    """A name that is the same in every process."""
    inner: Any = getattr(function, "func", function)  # of a functools.partial
    return str(getattr(inner, "__qualname__", type(inner).__qualname__))


def list_of_texts(texts: Sequence[str]) -> list[str]:
    """The texts as a list. Raises `TypeError` for a single text, whose letters are not meant."""
    if isinstance(texts, str):
        raise TypeError("embed takes a list of texts, not one text: put it in brackets")
    return list(texts)
