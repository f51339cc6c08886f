"""From queries to what all retrievers found: routed, asked side by side, and put in order."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..driving import Driver
from ..errors import RetrievalError
from ..segments import RetrievalFailure, ScoredSegment
from .contents import segments_in
from .query import Query
from .slots import Slot, slot

MOST_AT_ONCE: Final = 16
_log: Final = logging.getLogger("aiservices")


@dataclass(frozen=True, slots=True)
class Lookup:
    """What came of asking: for each query the lists of its retrievers, and who failed."""

    results: list[tuple[Query, list[list[ScoredSegment]]]]
    failures: tuple[RetrievalFailure, ...]
    asked: int


async def look_up(
    driver: Driver, routed: Sequence[tuple[Query, Sequence[Slot]]], *, skip_failing: bool
) -> Lookup:
    """Ask the retrievers of each query, all side by side.

    The order of what they give is that of the queries and, for each, of its retrievers. Raises what the first
    that fails in this order raises; with `skip_failing` it is left out, and `RetrievalError` is raised when
    there is none that did not fail.
    """
    jobs = [_asked(driver, each, query, skip_failing) for query, slots in routed for each in slots]
    outcomes = iter(await driver.gather(jobs, limit=MOST_AT_ONCE) if jobs else ())
    answers = [(query, [next(outcomes) for _ in slots]) for query, slots in routed]
    failures = [item for _, items in answers for item in items if isinstance(item, RetrievalFailure)]
    if jobs and len(failures) == len(jobs):
        raise _nothing_left(failures) from failures[0].error
    results = [
        (query, [[] if isinstance(item, RetrievalFailure) else item for item in items])
        for query, items in answers
    ]
    return Lookup(results, tuple(failures), len(jobs))


async def found_by(driver: Driver, retriever: Slot, query: Query) -> list[ScoredSegment]:
    """What a retriever finds. An error that it raises has a note which names it."""
    try:
        return segments_in(await retriever.run(driver, query), f"the retriever {retriever.name}")
    except Exception as error:
        _note(error, f"This comes from the retriever {retriever.name}.")
        raise


async def _asked(
    driver: Driver, retriever: Slot, query: Query, skip_failing: bool
) -> list[ScoredSegment] | RetrievalFailure:
    try:
        return await found_by(driver, retriever, query)
    except Exception as error:
        if not skip_failing:
            raise
        _log.warning("the retriever %s failed and is left out", retriever.name, exc_info=error)
        return RetrievalFailure(retriever.name, query.text, error)


def slots_in(given: Any, source: str) -> list[Slot]:
    """The retrievers that a router chose, each once. Raises `TypeError` for what is none."""
    if callable(given) or callable(getattr(given, "retrieve", getattr(given, "aretrieve", None))):
        parts: Iterable[Any] = [given]
    elif isinstance(given, Iterable):
        parts = given
    else:
        raise TypeError(f"{source} gave a {type(given).__name__}: it gives the retrievers to ask")
    chosen: list[Slot] = []
    for part in parts:
        if all(known.part is not part for known in chosen):
            chosen.append(slot(part, "retrieve", "retriever"))
    return chosen


def _nothing_left(failures: Sequence[RetrievalFailure]) -> RetrievalError:
    kinds = ", ".join(
        dict.fromkeys(f"{failure.retriever} ({type(failure.error).__name__})" for failure in failures)
    )
    return RetrievalError(f"every retriever failed: {kinds}", failures)


def _note(error: Exception, note: str) -> None:
    if note not in getattr(error, "__notes__", ()):  # a retriever may raise the same object again
        error.add_note(note)
