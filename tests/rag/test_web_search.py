"""Whatever engine a user brings, its hits become segments."""

from __future__ import annotations

from typing import Any

import pytest

from aiservices import ConfigurationError
from aiservices.rag import Query, ScoredSegment, TextSegment, WebPage, WebSearchRetriever

from .looking_up import KINDS, drive


def search(*hits: Any, kind: str = "blocking", **options: Any) -> list[ScoredSegment]:
    def engine(query: str, max_results: int) -> Any:
        return list(hits)

    found = drive(kind, WebSearchRetriever(engine, **options).drive, Query("q"))
    assert isinstance(found, list)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_a_hit_becomes_a_segment_with_its_address_and_title(kind: str) -> None:
    page = WebPage("https://example.org", "Text", "Title")
    found = search(page, {"url": "u", "snippet": "S"}, {"title": "t", "content": "C"}, kind=kind)
    assert [(each.text, dict(each.metadata)) for each in found] == [
        ("Text", {"url": "https://example.org", "title": "Title"}),
        ("S", {"url": "u"}),
        ("C", {"title": "t"}),
    ]


def test_texts_and_segments_are_taken_as_they_are() -> None:
    segment = ScoredSegment(TextSegment("b"), 0.5)
    assert search("a", segment) == [ScoredSegment(TextSegment("a")), segment]


@pytest.mark.parametrize("kind", KINDS)
def test_an_engine_object_is_asked_for_so_many_hits_and_no_more_are_kept(kind: str) -> None:
    class Engine:
        asked: tuple[str, int]

        async def search(self, query: str, max_results: int) -> list[str]:
            self.asked = (query, max_results)
            return [str(number) for number in range(10)]

    engine = Engine()
    assert len(drive(kind, WebSearchRetriever(engine).drive, Query("q"))) == 5
    assert engine.asked == ("q", 5)
    assert len(drive(kind, WebSearchRetriever(engine, max_results=2).drive, Query("q"))) == 2


def test_a_hit_without_text_is_named() -> None:
    with pytest.raises(TypeError, match=r"engine gave a hit without any of text, .*: it has url, rank"):
        search({"url": "u", "rank": 1})
    with pytest.raises(TypeError, match="engine gave a int among its contents"):
        search(3)


def test_what_is_no_list_of_hits_is_said() -> None:
    for given in (None, {"results": []}):
        with pytest.raises(TypeError, match=f"<lambda> gave a {type(given).__name__}: it gives a list"):
            WebSearchRetriever(lambda query, most, given=given: given).retrieve("q")


def test_what_cannot_search_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="the search engine 'google' is neither a function"):
        WebSearchRetriever("google")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="max_results is 0"):
        WebSearchRetriever(lambda query, most: [], max_results=0)
