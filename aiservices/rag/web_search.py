"""Looking things up on the web, by whatever search engine the user brings."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias

from ..driving import Driver
from ..errors import ConfigurationError
from ..segments import Metadata, ScoredSegment, TextSegment
from .contents import segments_in
from .query import Query
from .retrievers import DrivenRetriever
from .slots import slot

_TEXT_KEYS: Final = ("text", "content", "snippet", "body")


@dataclass(frozen=True, slots=True)
class WebPage:
    """A hit of a search engine: the page's address, its title, and what stands on it."""

    url: str
    text: str
    title: str | None = None


WebResults: TypeAlias = Iterable[WebPage | Mapping[str, Any] | TextSegment | ScoredSegment | str]


class WebSearchEngine(Protocol):
    """Searches the web. `search` may also be `async def`."""

    def search(self, query: str, max_results: int, /) -> WebResults | Awaitable[WebResults]:
        """The hits, best first."""
        ...


class WebSearchRetriever(DrivenRetriever):
    """Asks a search engine, and makes a segment of each hit, with `url` and `title` in its metadata.

    `engine` is an object with `search(query, max_results)` or such a function, sync or async. It gives
    `WebPage`s, or mappings with `url`, `title` and one of `text`, `content`, `snippet`, `body`; texts and
    segments are taken as they are. At most `max_results` (5) hits are kept.
    """

    def __init__(
        self,
        engine: WebSearchEngine | Callable[[str, int], WebResults | Awaitable[WebResults]],
        *,
        max_results: int = 5,
        name: str | None = None,
    ) -> None:
        try:
            self._engine = slot(engine, "search", "search engine")
        except TypeError as error:
            raise ConfigurationError(str(error)) from None
        if max_results < 1:
            raise ValueError(f"max_results is {max_results}: give 1 or more")
        self.max_results = max_results
        self.name = name

    async def drive(self, driver: Driver, query: Query) -> list[ScoredSegment]:
        hits = await self._engine.run(driver, query.text, self.max_results)
        if isinstance(hits, Mapping) or not isinstance(hits, Iterable):
            raise TypeError(f"{self._engine.name} gave a {type(hits).__name__}: it gives a list of hits")
        return segments_in(map(self._content, hits), self._engine.name)[: self.max_results]

    def _content(self, hit: Any) -> Any:
        if isinstance(hit, WebPage):
            return TextSegment(hit.text, Metadata({"url": hit.url, "title": hit.title}))
        if not isinstance(hit, Mapping):
            return hit
        text = next((hit[key] for key in _TEXT_KEYS if isinstance(hit.get(key), str)), None)
        if text is None:
            raise TypeError(
                f"{self._engine.name} gave a hit without any of {', '.join(_TEXT_KEYS)}: "
                f"it has {', '.join(map(str, hit))}"
            )
        return TextSegment(text, Metadata({"url": hit.get("url"), "title": hit.get("title")}))
