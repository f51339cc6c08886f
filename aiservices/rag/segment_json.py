"""Segments as JSON text, without loss: what is read is equal to what was written, types included."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any
from uuid import UUID

from ..segments import Metadata, MetadataValue, TextSegment
from .filters import MOST_BITS


def segment_to_json(segment: TextSegment) -> str:
    """A segment as an object of JSON. Its text can be in any encoding: what UTF-8 lacks is escaped."""
    return _written(_body(segment) | {"metadata": _tagged_metadata(segment.metadata)})


def body_to_json(segment: TextSegment) -> str:
    """A segment without its metadata."""
    return _written(_body(segment))


def metadata_to_json(metadata: Mapping[str, MetadataValue]) -> str:
    """Metadata alone."""
    return _written(_tagged_metadata(metadata))


def _body(segment: TextSegment) -> dict[str, Any]:
    places = {name: at for name in ("start", "end") if (at := getattr(segment, name)) is not None}
    return {"text": segment.text, **places}


def _written(content: dict[str, Any]) -> str:
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        return json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text


def segment_from_json(text: str, metadata: str | None = None) -> TextSegment:
    """The segment that was written, in one text or in two. Raises `ValueError` where it was none."""
    try:
        content = json.loads(text)
        values = _untagged_metadata(content["metadata"] if metadata is None else json.loads(metadata))
        return TextSegment(content["text"], values, content.get("start"), content.get("end"))
    except (AttributeError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"this is no segment: {error}") from error


def metadata_from_json(text: str) -> Mapping[str, MetadataValue]:
    """The metadata that was written. Raises `ValueError` where it was none."""
    try:
        return Metadata(_untagged_metadata(json.loads(text)))
    except (AttributeError, TypeError, RecursionError) as error:
        raise ValueError(f"this is no metadata: {error}") from error


def _tagged_metadata(metadata: Mapping[str, MetadataValue]) -> dict[str, Any]:
    return {key: _tagged(value) for key, value in metadata.items()}


def _untagged_metadata(content: Any) -> dict[str, Any]:
    return {key: _untagged(value) for key, value in content.items()}


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
