"""JSON as stores keep it: what is read is equal to what was written, or the write is refused.

The two functions of `pydantic_core` are several times faster than those of the standard library, keep
integers of any length and floats exactly, and have one limit of nesting for writing and reading.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic_core import from_json, to_json

from ..errors import StoreError
from .entry import Entry

DEEPEST = 200
_SCALARS = (str, int, float, bool, type(None))


def encode(namespace: str, key: str, value: Any) -> bytes:
    """The JSON of a value, as a snapshot: what happens to the value later does not matter.

    Raises `StoreError` for what would not come back equal: other types than JSON's, tuples, keys that are
    no strings, NaN and infinities, lone surrogates, more than 200 levels of nesting, integers of more
    digits than Python reads (4,300, unless told otherwise).
    """
    try:
        text = to_json(value, inf_nan_mode="constants")
        lossless = from_json(text, allow_inf_nan=False) == value
    except (ValueError, RecursionError) as error:
        raise _refusal(namespace, key, value) from error
    if not lossless:
        raise _refusal(namespace, key, value)
    return text


def copied(namespace: str, key: str, value: Any) -> Any:
    """A copy of a value that can be stored. Raises `StoreError` like `encode`."""
    return from_json(encode(namespace, key, value))


def decode(namespace: str, key: str, text: object, version: object) -> Entry:
    """The entry of what is stored. Raises `StoreError` where that is no JSON text and positive version."""
    if not isinstance(text, str | bytes):
        raise _corrupt(namespace, key, f"its value is a {type(text).__name__}, not a text")
    if not isinstance(version, int) or version < 1:
        raise _corrupt(namespace, key, f"its version is {version!r:.40}, not a positive integer")
    try:
        value = from_json(text, allow_inf_nan=False)
    except (ValueError, RecursionError) as error:
        raise _corrupt(namespace, key, f"its value is no JSON: {error}") from error
    return Entry(value, version)


def _corrupt(namespace: str, key: str, problem: str) -> StoreError:
    return StoreError(
        f"the entry {key!r} in {namespace!r} is damaged: {problem}. "
        "It was left as it is: mend it, or put or delete it without an expected version",
        namespace=namespace,
        key=key,
    )


def _refusal(namespace: str, key: str, value: Any) -> StoreError:
    problem = next(_problems(value, "value", DEEPEST), "the value is no JSON that could be read again")
    return StoreError(f"cannot store {key!r} in {namespace!r}: {problem}", namespace=namespace, key=key)


def _problems(value: Any, path: str, levels: int) -> Iterator[str]:
    """What is wrong, outermost first. Slow, and only asked when something is."""
    if levels < 0:
        yield f"the value contains itself or is nested more than {DEEPEST} levels deep"
    elif isinstance(value, dict):
        yield from _problems_of_keys(value, path)
        for key, item in value.items():
            yield from _problems(item, f"{path}[{key!r}]", levels - 1)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _problems(item, f"{path}[{index}]", levels - 1)
    elif not isinstance(value, _SCALARS):
        yield f"{path} is a {type(value).__name__}, which is no JSON"
    elif isinstance(value, str) and not _encodable(value):
        yield f"{path} holds a lone surrogate, which no encoding has"
    elif value not in (None, "") and not _comes_back(value):
        yield f"{path} is {_shown(value)}, which JSON cannot keep"


def _problems_of_keys(value: Mapping[Any, Any], path: str) -> Iterator[str]:
    for key in value:
        if not isinstance(key, str):
            yield f"{path} has the key {key!r}, which is no string"
        elif not _encodable(key):
            yield f"{path} has the key {key!r}, which holds a lone surrogate"


def _encodable(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text)


def _comes_back(value: object) -> bool:
    try:
        return bool(from_json(to_json(value, inf_nan_mode="constants"), allow_inf_nan=False) == value)
    except ValueError:
        return False


def _shown(value: object) -> str:
    return "an integer of too many digits" if isinstance(value, int) else repr(value)
