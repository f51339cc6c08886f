"""What retrievers and transformers give, in the one form that the rest works with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..segments import ScoredSegment, TextSegment
from .query import NO_CONTEXT, Query


def segments_in(given: Any, source: str) -> list[ScoredSegment]:
    """What `source` gave as scored segments. Raises `TypeError` naming it for what is none."""
    if isinstance(given, str | TextSegment | ScoredSegment):
        given = [given]
    if isinstance(given, Mapping) or not isinstance(given, Iterable):
        raise TypeError(
            f"{source} gave a {type(given).__name__}: it gives texts, TextSegments or ScoredSegments"
        )
    return [_scored(item, source) for item in given]


def queries_in(given: Any, original: Query, source: str) -> list[Query]:
    """What `source` made of a query: its texts as queries of the same call, each once, without blank ones."""
    if isinstance(given, str | Query):
        given = [given]
    if isinstance(given, Mapping) or not isinstance(given, Iterable):
        raise TypeError(f"{source} gave a {type(given).__name__}: it gives a Query, a text or several")
    queries: list[Query] = []
    for item in given:
        query = _query(item, original, source)
        if query.text.strip() and query not in queries:
            queries.append(query)
    return queries


def _query(item: object, original: Query, source: str) -> Query:
    if isinstance(item, str):
        return original.saying(item)
    if not isinstance(item, Query):
        raise TypeError(f"{source} gave a {type(item).__name__} among its queries: give a Query or a text")
    return item if item.context is not NO_CONTEXT else Query(item.text, original.context)


def _scored(item: object, source: str) -> ScoredSegment:
    match item:
        case ScoredSegment():
            return item
        case TextSegment():
            return ScoredSegment(item)
        case str():
            return ScoredSegment(TextSegment(item))
    raise TypeError(
        f"{source} gave a {type(item).__name__} among its contents: "
        "give texts, TextSegments or ScoredSegments"
    )
