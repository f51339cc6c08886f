"""OpenAI's moderation: whether texts violate a policy, and which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from ...closing import Closable
from ..moderation import ModerationModel, ModerationResult
from .endpoint import Endpoint

PATH: Final = "/moderations"


class OpenAiModerationModel(ModerationModel, Closable):
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

    def moderate(self, texts: Sequence[str]) -> ModerationResult:
        """Judge the texts, blocking. Raises `ModelError`."""
        if not texts:
            return ModerationResult(False)
        return self._endpoint.ask(self._body(texts), partial(_verdict, len(texts)))

    async def amoderate(self, texts: Sequence[str]) -> ModerationResult:
        """Judge the texts. Raises `ModelError`."""
        if not texts:
            return ModerationResult(False)
        return await self._endpoint.aask(self._body(texts), partial(_verdict, len(texts)))

    def close(self) -> None:
        """Close the connections of blocking requests; another request opens new ones."""
        self._endpoint.close()

    async def aclose(self) -> None:
        """Close the connections of this event loop and of blocking requests."""
        await self._endpoint.aclose()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model_name!r}, base_url={self._endpoint.url!r})"

    def _body(self, texts: Sequence[str]) -> dict[str, Any]:
        return {"model": self.model_name, "input": list(texts)}


def _verdict(count: int, value: Any) -> ModerationResult:
    """What an answer says of so many texts. One that leaves a text out is none."""
    results = value["results"]
    if len(results) != count or not all(isinstance(result["flagged"], bool) for result in results):
        raise ValueError(f"{len(results)} results for {count} texts")
    flagged = [result for result in results if result["flagged"]]
    named = [name for result in flagged for name, found in (result.get("categories") or {}).items() if found]
    return ModerationResult(bool(flagged), tuple(dict.fromkeys(named)))
