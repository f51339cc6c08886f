"""An entry of a store, and what may be asked of one."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Final

from ..errors import StoreError

LONGEST_NAMESPACE: Final = 255
LONGEST_KEY: Final = 512
LONGEST_LEASE: Final = 100 * 366 * 24 * 3600.0


@dataclass(frozen=True, slots=True)
class Entry:
    """What a store holds under a key: a JSON value of the reader's own, and the version it is at."""

    value: Any = field(hash=False)
    version: int


def check_namespace(namespace: str) -> None:
    """Raise `StoreError` for a namespace that one of the stores could not hold."""
    problem = _problem(namespace, longest=LONGEST_NAMESPACE)
    if problem:
        raise StoreError(f"a namespace {problem}, this is {namespace!r:.80}", namespace=str(namespace))


def check_key(namespace: str, key: str) -> None:
    """Raise `StoreError` for a namespace or key that one of the stores could not hold.

    All stores hold the same ones, so that what works with one in a test works with another in production:
    at most 255 and 512 characters of any script, compared exactly, without NUL and lone surrogates.
    """
    check_namespace(namespace)
    problem = _problem(key, longest=LONGEST_KEY)
    if problem:
        raise StoreError(
            f"a key {problem}, this is {key!r:.80} in {namespace!r}", namespace=namespace, key=str(key)
        )


def _problem(name: object, *, longest: int) -> str | None:
    if not isinstance(name, str):
        return "is a string"
    if len(name) > longest:
        return f"has at most {longest} characters, not {len(name)}"
    if "\0" in name:
        return "holds no NUL character"
    if not name.isascii() and any("\ud800" <= letter <= "\udfff" for letter in name):
        return "holds no lone surrogates"
    return None


def check_version(expected: int | None) -> None:
    """Raise `ValueError` for what can be no version: they are positive, and 0 means no entry."""
    if expected is not None and (isinstance(expected, bool) or not isinstance(expected, int) or expected < 0):
        raise ValueError(f"expected_version is a version, 0 or None, not {expected!r}")


def milliseconds(expires_in: float | None) -> int | None:
    """The time until an entry expires, rounded up. Raises `ValueError` beyond zero and a hundred years."""
    if expires_in is None:
        return None
    if not 0 < expires_in <= LONGEST_LEASE:
        raise ValueError(f"expires_in is a number of seconds above zero, not {expires_in!r}")
    return math.ceil(expires_in * 1000)
