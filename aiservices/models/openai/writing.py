"""From a request to its bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic_core import PydanticSerializationError, to_json

from ...errors import InvalidRequestError
from ..failures import Failure


def encoded(body: dict[str, Any]) -> bytes:
    """A request's bytes. Raises `Failure` for what JSON cannot say."""
    try:
        return to_json(body, fallback=_plain)
    except PydanticSerializationError:
        return _with_replacements(body)


def _with_replacements(body: dict[str, Any]) -> bytes:
    """For texts with halves of surrogate pairs, as file names can have them: these become question marks."""
    try:
        return json.dumps(body, ensure_ascii=False, default=_plain).encode("utf-8", "replace")
    except (TypeError, ValueError) as error:
        raise Failure(f"it cannot be written as JSON: {error}", kind=InvalidRequestError) from error


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a {type(value).__name__} is no JSON value")
