"""What the interface itself promises, whatever store is behind it."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from aiservices.errors import AiServiceError, ConflictError, StoreError
from aiservices.stores import Entry, InMemoryStore, MemoryStore, Store


def test_a_store_without_any_half_of_a_method_is_refused_when_the_class_is_created() -> None:
    with pytest.raises(TypeError, match="overrides neither delete nor adelete, neither keys nor akeys"):

        class Forgetful(Store):
            def get(self, namespace: str, key: str) -> Entry | None:
                return None

            async def aput(self, namespace: str, key: str, value: Any, **options: Any) -> int:
                return 1


def test_the_halves_may_be_of_different_kinds_and_come_from_different_classes() -> None:
    class Reading(InMemoryStore):
        async def aget(self, namespace: str, key: str) -> Entry | None:
            return Entry("mine", 1)

    assert isinstance(Reading(), Store)


class Slow(Store):
    """A user's store that looks at the value only later."""

    def __init__(self) -> None:
        self.written: Any = None

    def get(self, namespace: str, key: str) -> Entry | None:
        return None

    def put(self, namespace: str, key: str, value: Any, **options: Any) -> int:
        self.written = value
        return 1

    def delete(self, namespace: str, key: str, *, expected_version: int | None = None) -> bool:
        return False

    def keys(self, namespace: str, prefix: str = "") -> list[str]:
        return []


@pytest.mark.anyio
async def test_a_blocking_store_is_given_a_snapshot_by_its_asynchronous_half() -> None:
    store, state = Slow(), {"steps": ["first"]}
    await store.aput("test", "state", state)
    state["steps"].append("second")
    assert store.written == {"steps": ["first"]}


def test_a_store_is_closed_at_the_end_of_a_with_block() -> None:
    class Closing(Slow):
        closed = 0

        def close(self) -> None:
            self.closed += 1

    with Closing() as store:
        assert not store.closed
    assert store.closed == 1


@pytest.mark.anyio
async def test_a_store_without_anything_to_close_for_a_loop_is_closed_by_its_blocking_half() -> None:
    closed = []

    class Closing(Slow):
        def close(self) -> None:
            closed.append(self)

    async with Closing() as store:
        assert not closed
    assert closed == [store]


def test_a_conflict_tells_what_was_expected_and_found() -> None:
    error = ConflictError("chat", "alice", expected=3, found=0)
    assert isinstance(error, StoreError)
    assert isinstance(error, AiServiceError)
    assert (error.namespace, error.key, error.expected, error.found) == ("chat", "alice", 3, 0)
    assert str(error) == "'alice' in 'chat' is absent, not at version 3 as expected"
    assert "is at version 4, not absent" in str(ConflictError("chat", "alice", expected=0, found=4))


def test_the_store_in_memory_has_a_short_name() -> None:
    assert MemoryStore is InMemoryStore


@pytest.mark.parametrize(
    ("missing", "use", "install"),
    [
        ("sqlalchemy", "SqlStore", "aiservices[sql]"),
        ("psycopg", "SqlStore('postgresql://host/database')", "aiservices[postgres]"),
        ("asyncmy", "SqlStore('mysql://host/database')", "aiservices[mysql]"),
        ("redis", "RedisStore", "aiservices[redis]"),
    ],
)
def test_a_store_whose_extra_is_not_installed_says_which(missing: str, use: str, install: str) -> None:
    script = f"import sys; sys.modules[{missing!r}] = None; import aiservices.stores; aiservices.stores.{use}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "MissingExtraError" in done.stderr
    assert f"pip install '{install}'" in done.stderr


def test_the_package_is_imported_without_any_driver() -> None:
    script = "import sys, aiservices.stores; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert {"sqlalchemy", "redis", "psycopg", "sqlite3"}.isdisjoint(done.stdout.split())


def test_a_name_that_stores_do_not_have_is_an_attribute_error() -> None:
    import aiservices.stores

    with pytest.raises(AttributeError, match="no attribute 'PaperStore'"):
        _ = aiservices.stores.PaperStore
