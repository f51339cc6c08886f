"""What an embedding store is asked, checked: what gets here, a store can do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from operator import index
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from ...errors import MissingExtraError
from ...segments import TextSegment
from ..filters import Filter, Node, checked_filter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


LONGEST_ID: Final = 512
AT_ONCE: Final = 1024


@dataclass(frozen=True, slots=True, eq=False)
class Addition:
    """What is to be kept: a row of `vectors`, an id and a segment each; no id twice."""

    vectors: Vectors  # of length 1, or 0
    segments: Sequence[TextSegment]
    ids: Sequence[str]


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """What is looked for: the nearest to a vector of length 1, or 0."""

    vector: Vectors
    max_results: int
    min_score: float
    filter: Node | None


def need_numpy(feature: str) -> Any:
    """The module, or `MissingExtraError`."""
    try:
        import numpy as np
    except ImportError as missing:
        raise MissingExtraError(feature, extra="rag") from missing
    return np


def checked_ids(vectors: Sequence[Any], segments: Sequence[Any], ids: Sequence[str] | None) -> list[str]:
    """The ids for so many segments."""
    if isinstance(ids, str):
        raise TypeError("ids is one text: give a list of ids")
    given = [uuid4().hex for _ in segments] if ids is None else list(ids)
    if not len(vectors) == len(segments) == len(given):
        counts = f"{len(vectors)} vectors, {len(segments)} segments" + (
            "" if ids is None else f" and {len(given)} ids"
        )
        raise ValueError(f"an embedding store needs as many of each, not {counts}")
    for number, (each, segment) in enumerate(zip(given, segments, strict=True)):
        check_id(each, f"the id at {number}")
        if not isinstance(segment, TextSegment):
            raise TypeError(f"the segment {each!r} is a {type(segment).__name__}, not a TextSegment")
    return given


def check_id(id: object, what: str) -> None:
    """Raise unless it is a text that any database can hold."""
    if not isinstance(id, str):
        raise TypeError(f"{what} is a {type(id).__name__}, not a text")
    if not id.strip() or len(id) > LONGEST_ID:
        raise ValueError(f"{what} is {id[:20]!r}...: give 1 to {LONGEST_ID} letters that are not all blanks")
    if "\0" in id or any("\ud800" <= letter <= "\udfff" for letter in id):
        raise ValueError(f"{what}, {id!r}, holds a NUL or a lone surrogate: not every database keeps these")


def last_of_each(ids: Sequence[str]) -> list[int]:
    """The places of the ids without the earlier ones of those that come twice."""
    last = {each: number for number, each in enumerate(ids)}
    return [number for number, each in enumerate(ids) if last[each] == number]


def checked_addition(
    vectors: Sequence[Sequence[float]], segments: Sequence[TextSegment], ids: list[str]
) -> Addition:
    """What is to be kept, once for each id. Raises `ValueError` naming the id whose vector is refused."""
    rows = _rows(vectors, ids)
    kept = last_of_each(ids)
    distinct = rows if len(kept) == len(rows) else rows[kept]
    return Addition(_unit(distinct), [segments[n] for n in kept], [ids[n] for n in kept])


def checked_question(
    vector: Sequence[float], max_results: int, min_score: float, filter: Filter | None
) -> Question:
    """What is looked for. Raises `ValueError` and `TypeError` as `EmbeddingStore.search` says."""
    limit = index(max_results)
    if limit < 1:
        raise ValueError(f"max_results is {max_results}: ask for at least 1")
    if not (isfinite(min_score) and 0 <= min_score <= 1):
        raise ValueError(f"min_score is {min_score}: scores go from 0 to 1")
    return Question(_unit(_rows([vector], None))[0], limit, float(min_score), checked_filter(filter))


def checked_removal(
    ids: Sequence[str] | None, filter: Filter | None
) -> tuple[Sequence[str] | None, Node | None]:
    """What is to be removed. Raises `ValueError` where nothing says what."""
    if ids is None and filter is None:
        raise ValueError("remove needs ids or a filter: it does not empty the store for want of them")
    if isinstance(ids, str):
        raise TypeError("remove takes a list of ids, not one text")
    chosen = None if ids is None else list(dict.fromkeys(ids))
    if strange := [each for each in chosen or () if not isinstance(each, str)]:
        raise TypeError(f"remove takes ids, which are texts, and not a {type(strange[0]).__name__}")
    return chosen, checked_filter(filter)


def check_dimension(found: int, expected: int | None, ids: Sequence[str] = ()) -> None:
    """Raise `ValueError` where vectors are of another dimension than the store's."""
    if expected is not None and found != expected:
        name = _named(ids[0] if ids else None)
        raise ValueError(f"{name} has {found} dimensions, those of the store {expected}")


def _rows(vectors: Sequence[Sequence[float]], ids: Sequence[str] | None) -> Any:
    """The vectors as a matrix of finite numbers. Only when something is wrong, it is asked what."""
    np = need_numpy("an embedding store")
    rows = _numbers(np, vectors)
    if rows is None or rows.ndim != 2 or not rows.shape[1] or not np.isfinite(rows).all():
        _complain(np, vectors, ids)
    return rows


def _numbers(np: Any, values: Any) -> Any:
    """An array of floats, or `None` where the values are others, or of several lengths."""
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "fiuO":  # text would be read as numbers
            return None
        return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        return None


def _complain(np: Any, vectors: Sequence[Sequence[float]], ids: Sequence[str] | None) -> None:
    dimension = None
    for number, vector in enumerate(vectors):
        name = _named(ids[number] if ids else None)
        row = _numbers(np, vector)
        if row is None or row.ndim != 1 or not row.size:
            raise ValueError(f"{name} is no sequence of numbers, or an empty one")
        if not np.isfinite(row).all():
            raise ValueError(f"{name} holds {row[~np.isfinite(row)][0]}, which has no direction")
        dimension = dimension or row.size
        if row.size != dimension:
            raise ValueError(f"{name} has {row.size} dimensions, the one before it {dimension}")
    raise ValueError("the vectors are no matrix of numbers")


def _named(id: str | None) -> str:
    return "the vector" if id is None else f"the vector of {id!r}"


def _unit(rows: Any) -> Any:
    """The rows at length 1 in single precision; zeros stay zeros."""
    np = need_numpy("an embedding store")
    unit = np.empty(rows.shape, dtype=np.float32)
    for start in range(0, len(rows), AT_ONCE):  # as they are computed in double precision, and in copies
        some = rows[start : start + AT_ONCE].astype(np.float64)
        largest = np.abs(some).max(axis=1, keepdims=True)
        some /= np.where(largest == 0, 1, largest)  # so that no square is too large or too small
        length = np.linalg.norm(some, axis=1, keepdims=True)
        unit[start : start + AT_ONCE] = some / np.where(length == 0, 1, length)
    return unit
