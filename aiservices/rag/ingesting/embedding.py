"""Embedding the segments of several documents, in batches that go side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TypeAlias

from ...driving import Driver
from ...errors import AuthenticationError, ConfigurationError, ConflictError, MissingExtraError, StoreError
from ...messages import NO_USAGE, TokenUsage
from ...models.embedding import EmbeddingModel, EmbeddingResponse

Vectors: TypeAlias = list[Sequence[float]]


@dataclass(frozen=True, slots=True)
class FailedBatch:
    """The first batch of a document that could not be embedded, counted from 1, and why."""

    number: int
    error: Exception


def concerns_all(error: Exception) -> bool:
    """Whether an error would meet every other document too: a wrong key, a ledger that is down."""
    if isinstance(error, ConflictError):
        return False
    return isinstance(error, AuthenticationError | ConfigurationError | MissingExtraError | StoreError)


class Embedding:
    """The embedding of one run; `usage` is what it has taken until now."""

    def __init__(self, driver: Driver, model: EmbeddingModel, *, batch_size: int, parallel: int) -> None:
        self._driver = driver
        self._model = model
        self._batch_size = batch_size
        self._parallel = parallel
        self.usage: TokenUsage = NO_USAGE

    async def embed(self, documents: Sequence[Sequence[str]]) -> list[Vectors | FailedBatch]:
        """The vectors of each document's texts. Batches go over ends of documents.

        A document that shares a batch with another one is embedded alone when that fails, so that it does
        not fail for its neighbour. Raises what would meet every other document too.
        """
        texts = [text for document in documents for text in document]
        batches = [texts[at : at + self._batch_size] for at in range(0, len(texts), self._batch_size)]
        answers = await self._driver.gather([self._answer(each) for each in batches], limit=self._parallel)
        self._settle(answers)
        if len(documents) == 1:
            return [_joined(answers)]
        ends = (0, *accumulate(map(len, documents)))
        found: list[Vectors | FailedBatch] = []
        for document, (start, end) in zip(documents, pairwise(ends), strict=True):
            first, last = start // self._batch_size, (end - 1) // self._batch_size
            joined = _joined(answers[first : last + 1])
            if isinstance(joined, FailedBatch):
                found += await self.embed([document])
            else:
                offset = first * self._batch_size
                found.append(joined[start - offset : end - offset])
        return found

    async def _answer(self, texts: Sequence[str]) -> EmbeddingResponse | Exception:
        try:
            response = await self._driver.twin(self._model.embed, self._model.aembed, texts)
            if len(response.vectors) != len(texts):
                raise ValueError(f"the model gave {len(response.vectors)} vectors for {len(texts)} texts")
        except Exception as error:
            return error
        return response

    def _settle(self, answers: Iterable[EmbeddingResponse | Exception]) -> None:
        for answer in answers:
            if isinstance(answer, EmbeddingResponse):
                self.usage += answer.usage
            elif concerns_all(answer):
                raise answer


def _joined(answers: Iterable[EmbeddingResponse | Exception]) -> Vectors | FailedBatch:
    vectors: Vectors = []
    for number, answer in enumerate(answers, start=1):
        if isinstance(answer, Exception):
            return FailedBatch(number, answer)
        vectors.extend(answer.vectors)
    return vectors
