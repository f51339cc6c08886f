"""Repairing malformed JSON with the optional package json-repair: punctuation only, never words."""

from __future__ import annotations

import json
import re
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


_WORD = re.compile(r"[\w.+-]+")
_SPELLINGS = {"None": "null", "True": "true", "False": "false"}


def repaired_json(text: str) -> str | None:
    """`text` as valid JSON, or None: when the package is missing or a repair would change a word.

    The words and numbers must be the same, in the same order, and every key and text of the result must stand
    between quotes in `text`: so nothing is dropped or invented, and a bare NaN does not become a text.
    """
    repair = _repairer()
    if repair is None:
        return None
    try:
        value = repair(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict | list) or not all(_is_quoted(word, text) for word in _texts(value)):
        return None
    repaired = json.dumps(value, ensure_ascii=False)
    return repaired if _words(repaired) == _words(text) else None


def _words(text: str) -> list[str]:
    words: list[str] = _WORD.findall(text)
    return [_SPELLINGS.get(word, word) for word in words]


def _repairer() -> Callable[[str], Any] | None:
    if find_spec("json_repair") is None:
        return None
    loads: Callable[[str], Any] = import_module("json_repair").loads
    return loads


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for key, part in value.items():
                yield key
                yield from _texts(part)
        case list():
            for part in value:
                yield from _texts(part)
        case _:
            return


def _is_quoted(word: str, text: str) -> bool:
    spellings = {word, json.dumps(word)[1:-1], json.dumps(word, ensure_ascii=False)[1:-1]}
    return any(f"{quote}{word}{quote}" in text for word in spellings for quote in "\"'")
