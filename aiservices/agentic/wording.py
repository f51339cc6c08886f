"""Values as a model reads them."""

from __future__ import annotations

from typing import Any


def worded(value: Any) -> str:
    """A text as it is, anything else as JSON; what JSON cannot hold is named as Python shows it."""
    from pydantic_core import to_json

    if isinstance(value, str):
        return value
    if value is None:
        return "nothing"
    try:
        return to_json(value, fallback=repr, inf_nan_mode="strings").decode()
    except ValueError:  # it holds itself, or no valid Unicode
        return repr(value)
