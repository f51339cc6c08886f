"""OpenAI's embedding models, and those of servers that have them in the same form."""

from __future__ import annotations

import sys
from array import array
from base64 import b64decode
from collections.abc import Mapping, Sequence
from functools import partial
from math import isfinite
from typing import Any, Final

from ...closing import Closable
from ...driving import ASYNCHRONOUS, BLOCKING, Driver
from ...messages import NO_USAGE, TokenUsage
from ..embedding import UNKNOWN_USAGE, EmbeddingModel, EmbeddingResponse, list_of_texts
from .endpoint import Endpoint

PATH: Final = "/embeddings"
MOST_TEXTS: Final = 2048
"""More texts OpenAI takes in no request."""


class OpenAiEmbeddingModel(EmbeddingModel, Closable):
    """An embedding model of OpenAI, or of any server that speaks its language.

    `dimensions` asks for shorter vectors than the model's own, of models that can give them. At most
    `batch_size` texts go into one request, up to 2,048; several requests run side by side, no more than
    `max_in_flight` of all calls. A request that fails is tried again like a chat model's; when it fails for
    good, so does the call. The other arguments are those of `OpenAiChatModel`.

    Every failure is a `ModelError`; a text that is too long for the model is one. Raises
    `AuthenticationError` at once when there is no key, `ConfigurationError` when the address is none.
    """

    def __init__(
        self,
        model_name: str = "text-embedding-3-small",
        *,
        dimensions: int | None = None,
        batch_size: int = 256,
        api_key: str | None = None,
        base_url: str | None = None,
        max_in_flight: int = 8,
        timeout: float | None = 60.0,
        max_attempts: int = 3,
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
    ) -> None:
        if not 1 <= batch_size <= MOST_TEXTS:
            raise ValueError(f"batch_size is {batch_size}: it can be 1 to {MOST_TEXTS}")
        if dimensions is not None and dimensions < 1:
            raise ValueError(f"dimensions is {dimensions}: a vector has at least 1")
        self.model_name = model_name
        self.dimensions = dimensions
        self._batch_size = batch_size
        self._endpoint = Endpoint(
            PATH,
            model_name,
            api_key=api_key,
            base_url=base_url,
            max_in_flight=max_in_flight,
            timeout=timeout,
            max_attempts=max_attempts,
            headers=headers,
            query=query,
        )
        self._in_flight = max_in_flight

    def embed(self, texts: Sequence[str]) -> EmbeddingResponse:
        """Embed the texts, blocking. Raises `ModelError`."""
        return BLOCKING.run(self._embed(BLOCKING, list_of_texts(texts)))

    async def aembed(self, texts: Sequence[str]) -> EmbeddingResponse:
        """Embed the texts. Raises `ModelError`."""
        return await self._embed(ASYNCHRONOUS, list_of_texts(texts))

    def close(self) -> None:
        """Close the connections of blocking requests; another request opens new ones."""
        self._endpoint.close()

    async def aclose(self) -> None:
        """Close the connections of this event loop and of blocking requests."""
        await self._endpoint.aclose()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model_name!r}, base_url={self._endpoint.url!r})"

    async def _embed(self, driver: Driver, texts: list[str]) -> EmbeddingResponse:
        batches = [texts[at : at + self._batch_size] for at in range(0, len(texts), self._batch_size)]
        jobs = [driver.twin(self._blocking, self._asynchronous, batch) for batch in batches]
        parts = await driver.gather(jobs, limit=self._in_flight) if len(jobs) > 1 else [await j for j in jobs]
        vectors = tuple(vector for part in parts for vector in part.vectors)
        return EmbeddingResponse(vectors, sum((part.usage for part in parts), NO_USAGE))

    def _blocking(self, texts: list[str]) -> EmbeddingResponse:
        return self._endpoint.ask(self._body(texts), partial(_response, len(texts)))

    async def _asynchronous(self, texts: list[str]) -> EmbeddingResponse:
        return await self._endpoint.aask(self._body(texts), partial(_response, len(texts)))

    def _body(self, texts: list[str]) -> dict[str, Any]:
        shorter = {} if self.dimensions is None else {"dimensions": self.dimensions}
        return {"model": self.model_name, "input": texts, "encoding_format": "base64"} | shorter


def _response(count: int, value: Any) -> EmbeddingResponse:
    """The vectors of so many texts, in their order, whichever order they came in."""
    by_place = {each["index"]: _vector(each["embedding"]) for each in value["data"]}
    vectors = tuple(by_place[place] for place in range(count))
    if len(value["data"]) != count or len({len(each) for each in vectors}) > 1:
        raise ValueError(f"{len(value['data'])} vectors for {count} texts, or of several lengths")
    used = (value.get("usage") or {}).get("prompt_tokens")
    usage = UNKNOWN_USAGE if used is None else TokenUsage(int(used))
    return EmbeddingResponse(vectors, usage)


def _vector(given: Any) -> tuple[float, ...]:
    """A vector from base64, which was asked for, or from a list, as some servers send it all the same."""
    if isinstance(given, str):
        numbers = array("f", b64decode(given, validate=True))
        if sys.byteorder == "big":
            numbers.byteswap()
        vector = tuple(numbers)
    else:
        vector = tuple(float(each) for each in given)
    if not vector or not all(map(isfinite, vector)):
        raise ValueError("a vector is empty, or holds what is no number")
    return vector
