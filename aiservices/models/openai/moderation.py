"""OpenAI's moderation: whether texts violate a policy, and which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from ...driving import Places
from ...errors import ServerError
from ..failures import Failure
from ..moderation import ModerationModel, ModerationResult
from ..retrying import Retries
from .complaints import complaint_in, failure_from
from .connecting import Connecting
from .reading import decoded
from .server import server_at
from .writing import encoded

PATH: Final = "/moderations"


class OpenAiModerationModel(ModerationModel):
    """The moderation of OpenAI, or of any server that has one of its form.

    All texts of a call go into one request; one flagged text is enough. `categories` are the provider's
    names for what it found. The other arguments are those of `OpenAiChatModel`. Every failure is a
    `ModelError`. Raises `AuthenticationError` at once when there is no key, `ConfigurationError` when the
    address is none.
    """

    def __init__(
        self,
        model_name: str = "omni-moderation-latest",
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        max_in_flight: int = 64,
        timeout: float | None = 60.0,
        max_attempts: int = 3,
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
    ) -> None:
        self.model_name = model_name
        self._server = server_at(
            base_url,
            api_key,
            timeout=timeout,
            headers=headers,
            query=query,
            organization=None,
            project=None,
        )
        self._origin = self._server.origin
        self._connecting = Connecting(self._server, PATH, Places(max_in_flight))
        self._retries = Retries(max_attempts)

    def moderate(self, texts: Sequence[str]) -> ModerationResult:
        """Judge the texts, blocking. Raises `ModelError`."""
        return self._retries.call(partial(self._ask, list(texts))) if texts else ModerationResult(False)

    async def amoderate(self, texts: Sequence[str]) -> ModerationResult:
        """Judge the texts. Raises `ModelError`."""
        if not texts:
            return ModerationResult(False)
        return await self._retries.acall(partial(self._aask, list(texts)))

    def close(self) -> None:
        """Close the connections of blocking requests; another request opens new ones."""
        self._connecting.close()

    async def aclose(self) -> None:
        """Close the connections of this event loop and of blocking requests."""
        await self._connecting.aclose()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model_name!r}, base_url={self._server.url!r})"

    def _ask(self, texts: list[str]) -> ModerationResult:
        with self._origin.telling(self.model_name):
            response = self._connecting.get().post(self._body(texts), None, stream=False)
            return _verdict(response.content, len(texts))

    async def _aask(self, texts: list[str]) -> ModerationResult:
        with self._origin.telling(self.model_name):
            connection = await self._connecting.aget()
            response = await connection.apost(self._body(texts), None, stream=False)
            return _verdict(response.content, len(texts))

    def _body(self, texts: list[str]) -> bytes:
        return encoded({"model": self.model_name, "input": texts})


def _verdict(data: bytes, count: int) -> ModerationResult:
    """What an answer says of so many texts. One that leaves a text out is none."""
    value = decoded(data)
    if complaint := complaint_in(value):
        raise failure_from(complaint)
    try:
        results = value["results"]
        if len(results) != count or not all(isinstance(result["flagged"], bool) for result in results):
            raise ValueError(f"{len(results)} results for {count} texts")
        flagged = [result for result in results if result["flagged"]]
        named = [
            name for result in flagged for name, found in (result.get("categories") or {}).items() if found
        ]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise Failure("its answer has not the form that the API describes", kind=ServerError) from error
    return ModerationResult(bool(flagged), tuple(dict.fromkeys(named)))
