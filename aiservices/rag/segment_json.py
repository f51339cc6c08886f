"""Segments as JSON text, without loss: what is read is equal to what was written, types included."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any, Final
from uuid import UUID

from ..segments import MetadataValue, TextSegment

# Python reads and writes no longer ones in decimals, unless told to; that is 4,300 digits.
MOST_BITS: Final = 14_000


def segment_to_json(segment: TextSegment) -> str:
    """A segment as an object of JSON. Its text can be in any encoding: what UTF-8 lacks is escaped."""
    content: dict[str, Any] = {"text": segment.text}
    if segment.metadata:
        content["metadata"] = {key: _tagged(value) for key, value in segment.metadata.items()}
    content |= {name: at for name in ("start", "end") if (at := getattr(segment, name)) is not None}
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        return json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text


def segment_from_json(text: str | bytes) -> TextSegment:
    """The segment that was written. Raises `ValueError` where it was none."""
    try:
        content = json.loads(text)
        metadata = {key: _untagged(value) for key, value in content.get("metadata", {}).items()}
        return TextSegment(content["text"], metadata, content.get("start"), content.get("end"))
    except (AttributeError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"this is no segment: {error}") from error


def metadata_from_json(text: str | bytes) -> Mapping[str, MetadataValue]:
    """The metadata of the segment that was written."""
    return segment_from_json(text).metadata


def _tagged(value: Any) -> Any:
    """The value as JSON. What JSON has no type for is an object of one key, which names the type."""
    match value:
        case list():
            return [_tagged(each) for each in value]
        case datetime():
            return {"datetime": value.isoformat()}
        case date():
            return {"date": value.isoformat()}
        case UUID():
            return {"uuid": str(value)}
        case int() if value.bit_length() > MOST_BITS:
            return {"int": hex(value)}
        case _:
            return value


def _untagged(value: Any) -> Any:
    match value:
        case list():
            return [_untagged(each) for each in value]
        case {"datetime": text}:
            return datetime.fromisoformat(text)
        case {"date": text}:
            return date.fromisoformat(text)
        case {"uuid": text}:
            return UUID(text)
        case {"int": text}:
            return int(text, 16)
        case _:
            return value
