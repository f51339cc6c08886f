"""Segments as points of Qdrant, and back.

Qdrant compares texts for equality alone and numbers as floats. So a point's payload has, beside the segment,
`facets`, a list of texts that each stand for a key and the code of its value, and `numbers`, the values that
have an order as floats by kind and key, which are near enough to leave out most of what does not match.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, datetime
from sys import float_info
from typing import Any, Final
from uuid import UUID, uuid5

from qdrant_client import models

from ....segments import TextSegment
from ...comparing import Comparable, Kind, comparable
from ...segment_json import segment_from_json, segment_to_json
from ..codes import facets_of
from ..requests import Addition

NAMESPACE: Final = UUID("8f9d2c56-6d1c-5b0a-9d3e-6a3d7c0f4b21")
_EPOCH: Final = datetime(1970, 1, 1)


def point_id(id: str) -> str:
    """Qdrant's ids are UUIDs: the same one for the same id, always."""
    return str(uuid5(NAMESPACE, id))


def value_facet(key: str, code: str) -> str:
    """What stands for a key that has a value."""
    return f"={len(key)}:{key}{code}"


def element_facet(key: str, code: str) -> str:
    """What stands for a key whose list has an element."""
    return f"~{len(key)}:{key}{code}"


def number_path(kind: Kind, key: str) -> str:
    """Where the values of a kind under a key are as numbers. A key in hexadecimal has no dots or brackets."""
    return f"numbers.{_number_name(kind, key)}"


def number_of(found: Comparable) -> float | None:
    """A number in the order of its kind, rounded; `None` where there is none."""
    match found.kind, found.value:
        case ((Kind.NUMBER | Kind.MOMENT | Kind.TRUTH), number):
            try:
                return float(number)
            except OverflowError:
                return float_info.max if number > 0 else -float_info.max
        case Kind.LOCAL_TIME, datetime() as time:
            return (time - _EPOCH).total_seconds()
        case Kind.DAY, date() as day:
            return float(day.toordinal())
        case _:
            return None


def points_of(addition: Addition, *, first: int) -> Iterator[models.PointStruct]:
    """The points; `first` is the number of the first in the order of all that were ever added."""
    rows = zip(addition.ids, addition.vectors.tolist(), addition.segments, strict=True)
    for number, (id, vector, segment) in enumerate(rows, first):
        payload = {"id": id, "segment": segment_to_json(segment), "added": number}
        yield models.PointStruct(
            id=point_id(id), vector=vector, payload=payload | _payload_of(segment.metadata)
        )


def segment_of(payload: Mapping[str, Any]) -> TextSegment:
    """The segment of a point."""
    return segment_from_json(payload["segment"])


def _payload_of(metadata: Mapping[str, Any]) -> dict[str, Any]:
    facets = facets_of(metadata)
    texts = [value_facet(key, code) for key, code in facets.values.items()]
    texts += [element_facet(key, each) for key, codes in facets.elements.items() for each in codes]
    numbers = {}
    for key in facets.values:
        found = comparable(metadata[key])
        number = None if found is None else number_of(found)
        if found is not None and number is not None:
            numbers[_number_name(found.kind, key)] = number
    return {"facets": texts, "numbers": numbers, "odd": facets.odd}


def _number_name(kind: Kind, key: str) -> str:
    return f"{kind}{key.encode().hex()}"
