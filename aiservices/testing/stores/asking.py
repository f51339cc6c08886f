"""The steps that the tests of stores are made of."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar
from uuid import uuid4

from ...driving import BLOCKING, run_in_background
from ...errors import ConflictError
from ...stores import Entry, Store

T = TypeVar("T")
Refusal = TypeVar("Refusal", bound=Exception)

LEASE_SECONDS: Final = 0.25
WRITERS: Final = 20


def new_namespace() -> str:
    """A namespace that nobody has used."""
    return f"conformance-{uuid4().hex}"


def value_of(store: Store, namespace: str, key: str = "a") -> Any:
    """The value of an entry that must be there."""
    entry = store.get(namespace, key)
    assert entry is not None, f"{key!r} is absent"
    return entry.value


def increment_once(store: Store, namespace: str) -> int:
    """Add one to the number under `a`, if nobody else does at the same time."""
    entry = store.get(namespace, "a") or Entry(0, 0)
    return store.put(namespace, "a", entry.value + 1, expected_version=entry.version)


def refused(kind: type[Refusal], work: Callable[[], object]) -> Refusal:
    """The error that some work must end with."""
    try:
        result = work()
    except kind as error:
        return error
    raise AssertionError(f"{kind.__name__} was expected, not {result!r}")


def outcome_of(write: Callable[[], T]) -> T | ConflictError:
    """What some work returns, or the conflict that it ends with."""
    try:
        return write()
    except ConflictError as error:
        return error


def wait_for_the_end_of_leases() -> None:
    """Wait until what was written for `LEASE_SECONDS` has expired."""
    BLOCKING.run(BLOCKING.sleep(LEASE_SECONDS + 0.1))


def on_a_loop(store: Store, work: Coroutine[Any, Any, T]) -> T:
    """Run some work on an event loop, and have the store let go of what it holds open for that."""

    async def and_close() -> T:
        try:
            return await work
        finally:
            await store.aclose()

    return run_in_background(and_close())
