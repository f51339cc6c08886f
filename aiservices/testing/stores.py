"""What every store must do, as tests: give them yours.

    class TestMyStore(StoreConformance):
        @pytest.fixture
        def store(self, tmp_path):
            with MyStore(tmp_path / "file") as store:
                yield store

The store need not be empty, and pytest needs no plugin for asynchronous code. The tests take some seconds,
as they wait for leases to end.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, Final, TypeVar
from uuid import uuid4

from ..driving import ASYNCHRONOUS, BLOCKING, run_in_background, run_in_worker
from ..errors import ConflictError, StoreError
from ..stores import Entry, Store

__all__ = ["StoreConformance"]

T = TypeVar("T")

LEASE_SECONDS: Final = 0.25
WRITERS: Final = 20

# Strings that a careless store takes for one another, for a pattern or for something of its own.
NAMES: Final = (
    *(
        "a",
        "A",
        "a ",
        "a  ",
        " a",
        "\ta",
        "a\n",
        "á",
        "a\u0301",
        "ß",
        "ss",
        "i",
        "I",
        "ı",
        "İ",
        "ﬁ",
        "fi",
        "",
    ),
    *(
        "a%",
        "a_",
        "a%b",
        "a_b",
        "axb",
        "a*",
        "a?",
        "[a]",
        "a\\",
        "a\\%",
        "a'",
        'a"',
        "`a`",
        "a;--",
        "$1",
        ":a",
    ),
    *("a:b", "a/b", "a/../b", "{a}", "a}", "null", "0", "00", "日本", "\ud7ff", "\ue000", "😀", "\U0010ffff"),
)
VALUES: Final = (
    *(None, True, False, 0, 1, -1, 2**53 + 1, 2**64, -(10**300), 1.0, 0.1, -0.0, 1e308, 5e-324, 1e22),
    *("", "0", "null", "é\u2028\0\x7f😀\\\"'", [], {}, [None, [{}]], {"": "", "a.b": {"$ref": 1}}),
)
NO_VALUES: Final = (
    *(float("nan"), float("inf"), -float("inf"), "\ud800", {"\udfff": 1}, b"bytes", {1, 2}, (1, 2), object()),
    *({1: "a"}, {True: 1}, {None: 1}, [{"deep": [float("nan")]}], {"a": {"b": object}}),
)


class StoreConformance:
    """The contract of `aiservices.stores.Store`; a subclass has a fixture `store`."""

    def test_an_entry_that_was_never_written_is_absent(self, store: Store) -> None:
        assert store.get(_new(), "a") is None
        assert store.keys(_new()) == []

    def test_values_come_back_equal_and_of_the_same_type(self, store: Store) -> None:
        namespace = _new()
        for value in (*VALUES, list(VALUES)):
            version = store.put(namespace, "a", value)
            assert repr(store.get(namespace, "a")) == repr(Entry(value, version))

    def test_big_and_deep_values_come_back(self, store: Store) -> None:
        namespace, deep = _new(), []  # type: str, list[Any]
        for _ in range(150):
            deep = [deep]
        for value in ("x" * 1_000_000, [{"text": "é" * 100}] * 3_000, deep):
            store.put(namespace, "a", value)
            assert _value(store, namespace) == value

    def test_what_is_no_json_is_refused_and_leaves_the_entry(self, store: Store) -> None:
        namespace = _new()
        version = store.put(namespace, "a", "before")
        for value in NO_VALUES:
            error = _refused(StoreError, partial(store.put, namespace, "a", value))
            assert (error.namespace, error.key) == (namespace, "a")
        assert store.get(namespace, "a") == Entry("before", version)

    def test_a_value_is_copied_in_and_out(self, store: Store) -> None:
        namespace, value = _new(), {"list": [1]}
        store.put(namespace, "a", value)
        value["list"].append(2)
        read = _value(store, namespace)
        read["list"].append(3)
        assert _value(store, namespace) == {"list": [1]}

    def test_names_that_look_alike_are_different(self, store: Store) -> None:
        namespace = _new()
        for name in NAMES:
            store.put(namespace, name, name)
            store.put(namespace + name, "in a namespace of this name", name)
        assert store.keys(namespace) == sorted([*NAMES, "in a namespace of this name"])
        for name in NAMES:
            assert _value(store, namespace, name) == name
            assert _value(store, namespace + name, "in a namespace of this name") == name

    def test_namespace_and_key_are_not_run_together(self, store: Store) -> None:
        left, right = _new(), _new()
        store.put(left, f"{right}:a", 1)
        assert store.get(f"{left}:{right}", "a") is None

    def test_long_names_are_kept_whole(self, store: Store) -> None:
        for letter in ("x", "é", "😀"):
            namespace = _new().ljust(255, letter)
            for end in ("a", "b"):
                store.put(namespace, letter * 511 + end, end)
            assert store.keys(namespace) == [letter * 511 + "a", letter * 511 + "b"]
            assert _value(store, namespace, letter * 511 + "b") == "b"

    def test_names_that_no_store_could_hold_are_refused(self, store: Store) -> None:
        for name in ("\0", "\ud800", "x" * 10_000, 1, None, b"a"):
            _refused(StoreError, partial(store.put, _new(), name, 1))  # type: ignore[arg-type]
            _refused(StoreError, partial(store.put, name, "a", 1))  # type: ignore[arg-type]
            _refused(StoreError, partial(store.get, _new(), name))  # type: ignore[arg-type]

    def test_a_prefix_is_taken_by_the_letter(self, store: Store) -> None:
        namespace = _new()
        for name in NAMES:
            store.put(namespace, name, 1)
            store.put(namespace, f"{name}\U0010ffff", 1)
        keys = store.keys(namespace)
        for prefix in (*NAMES, "\U0010ffff\U0010ffff", "nobody"):
            assert store.keys(namespace, prefix) == [key for key in keys if key.startswith(prefix)], prefix

    def test_many_keys_are_listed_whole_and_sorted(self, store: Store) -> None:
        namespace, names = _new(), [f"{number:04}" for number in range(1_234)]
        for name in names:
            store.put(namespace, name, None)
        assert store.keys(namespace) == names
        assert store.keys(namespace, "12") == names[1_200:]

    def test_a_version_is_positive_and_grows_with_each_write(self, store: Store) -> None:
        namespace = _new()
        versions = [store.put(namespace, "a", number) for number in range(5)]
        assert versions[0] > 0
        assert versions == sorted(set(versions))
        assert store.get(namespace, "a") == Entry(4, versions[-1])

    def test_a_write_that_expects_another_version_conflicts_and_writes_nothing(self, store: Store) -> None:
        namespace = _new()
        old = store.put(namespace, "a", "old")
        new = store.put(namespace, "a", "new", expected_version=old)
        for expected in (0, old, new + 1):
            error = _refused(
                ConflictError, partial(store.put, namespace, "a", "lost", expected_version=expected)
            )
            assert (error.namespace, error.key) == (namespace, "a")
            assert (error.expected, error.found) == (expected, new)
        error = _refused(ConflictError, partial(store.put, namespace, "b", "lost", expected_version=new))
        assert (error.expected, error.found) == (new, 0)
        assert store.get(namespace, "a") == Entry("new", new)
        assert store.keys(namespace) == ["a"]

    def test_zero_expects_that_there_is_no_entry(self, store: Store) -> None:
        namespace = _new()
        version = store.put(namespace, "a", 1, expected_version=0)
        assert store.get(namespace, "a") == Entry(1, version)

    def test_deleting_says_whether_there_was_an_entry(self, store: Store) -> None:
        namespace = _new()
        store.put(namespace, "a", 1)
        assert store.delete(namespace, "a") is True
        assert store.delete(namespace, "a") is False
        assert store.delete(namespace, "a", expected_version=0) is False
        assert store.get(namespace, "a") is None
        assert store.keys(namespace) == []

    def test_deleting_another_version_conflicts_and_deletes_nothing(self, store: Store) -> None:
        namespace = _new()
        version = store.put(namespace, "a", 1)
        for expected in (0, version + 1):
            error = _refused(ConflictError, partial(store.delete, namespace, "a", expected_version=expected))
            assert (error.expected, error.found) == (expected, version)
        assert store.delete(namespace, "a", expected_version=version) is True
        error = _refused(ConflictError, partial(store.delete, namespace, "a", expected_version=version))
        assert (error.expected, error.found) == (version, 0)

    def test_a_version_never_comes_again_after_a_deletion(self, store: Store) -> None:
        namespace, seen = _new(), [0]
        for number in range(5):
            seen.append(store.put(namespace, "a", number, expected_version=0))
            if number % 2:
                seen.append(store.put(namespace, "a", number))
            store.delete(namespace, "a")
        assert seen == sorted(set(seen))

    def test_what_can_be_no_version_or_time_is_a_value_error(self, store: Store) -> None:
        for expected in (-1, 1.5, "1", True):
            _refused(ValueError, partial(store.put, _new(), "a", 1, expected_version=expected))  # type: ignore[arg-type]
            _refused(ValueError, partial(store.delete, _new(), "a", expected_version=expected))  # type: ignore[arg-type]
        for seconds in (0, -1, float("nan"), float("inf")):
            _refused(ValueError, partial(store.put, _new(), "a", 1, expires_in=seconds))

    def test_a_lease_ends(self, store: Store) -> None:
        namespace = _new()
        version = store.put(namespace, "a", 1, expires_in=LEASE_SECONDS)
        assert store.get(namespace, "a") == Entry(1, version)
        assert store.keys(namespace) == ["a"]
        _refused(ConflictError, partial(store.put, namespace, "a", 2, expected_version=0))
        _wait_for_the_end_of_leases()
        assert store.get(namespace, "a") is None
        assert store.keys(namespace) == store.keys(namespace, "a") == []
        assert store.delete(namespace, "a") is False
        for write in (store.delete, partial(store.put, value=2)):
            error = _refused(ConflictError, partial(write, namespace, "a", expected_version=version))
            assert error.found == 0

    def test_a_lease_that_ended_is_taken_by_another_and_not_freed_by_the_first(self, store: Store) -> None:
        namespace = _new()
        first = store.put(namespace, "a", "first", expected_version=0, expires_in=LEASE_SECONDS)
        _wait_for_the_end_of_leases()
        second = store.put(namespace, "a", "second", expected_version=0, expires_in=60)
        assert second > first
        _refused(ConflictError, partial(store.delete, namespace, "a", expected_version=first))
        assert store.get(namespace, "a") == Entry("second", second)

    def test_each_write_says_anew_whether_the_entry_expires(self, store: Store) -> None:
        namespace = _new()
        for key in ("renewed", "kept"):
            store.put(namespace, key, 1, expires_in=LEASE_SECONDS)
        store.put(namespace, "renewed", 2, expires_in=60)
        store.put(namespace, "kept", 2)
        store.put(namespace, "given up", 1)
        store.put(namespace, "given up", 2, expires_in=LEASE_SECONDS)
        _wait_for_the_end_of_leases()
        store.put(namespace, "another", 1, expires_in=60)  # stores clean up at such writes
        assert store.keys(namespace) == ["another", "kept", "renewed"]

    def test_of_many_writers_who_expect_one_version_exactly_one_succeeds(self, store: Store) -> None:
        namespace = _new()
        for expected in (0, store.put(namespace, "b", 0)):
            key = "b" if expected else "a"
            writes = [
                partial(store.put, namespace, key, number, expected_version=expected)
                for number in range(WRITERS)
            ]
            outcomes = [future.result() for future in [run_in_worker(partial(_try, each)) for each in writes]]
            (winner,) = [number for number, outcome in enumerate(outcomes) if isinstance(outcome, int)]
            assert store.get(namespace, key) == Entry(winner, outcomes[winner])

    def test_no_update_is_lost_between_threads(self, store: Store) -> None:
        namespace = _new()

        def increment() -> None:
            for _ in range(10):
                while isinstance(_try(partial(_increment, store, namespace)), ConflictError):
                    pass

        for future in [run_in_worker(increment) for _ in range(8)]:
            future.result()
        assert _value(store, namespace) == 80

    def test_the_asynchronous_half_does_the_same(self, store: Store) -> None:
        async def use() -> None:
            namespace = _new()
            version = await store.aput(namespace, "a", [1], expected_version=0)
            assert await store.aget(namespace, "a") == Entry([1], version)
            assert await store.akeys(namespace, "a") == ["a"]
            try:
                await store.aput(namespace, "a", 2, expected_version=0)
            except ConflictError as error:
                assert error.found == version
            assert await store.adelete(namespace, "a", expected_version=version) is True
            assert await store.adelete(namespace, "a") is False
            assert await store.aget(namespace, "a") is None

        _on_a_loop(store, use())
        _on_a_loop(store, use())

    def test_both_halves_see_one_store(self, store: Store) -> None:
        namespace = _new()
        version = store.put(namespace, "a", 1)
        assert _on_a_loop(store, store.aget(namespace, "a")) == Entry(1, version)
        version = _on_a_loop(store, store.aput(namespace, "a", 2, expected_version=version))
        assert store.get(namespace, "a") == Entry(2, version)
        assert _on_a_loop(store, store.akeys(namespace)) == store.keys(namespace) == ["a"]

    def test_of_many_tasks_that_expect_one_version_exactly_one_succeeds(self, store: Store) -> None:
        namespace = _new()

        async def write(number: int) -> int | None:
            try:
                return await store.aput(namespace, "a", number, expected_version=0)
            except ConflictError:
                return None

        tasks = [write(number) for number in range(WRITERS)]
        outcomes = _on_a_loop(store, ASYNCHRONOUS.gather(tasks))
        ((winner, version),) = [(number, each) for number, each in enumerate(outcomes) if each]
        assert store.get(namespace, "a") == Entry(winner, version)

    def test_a_closed_store_opens_again(self, store: Store) -> None:
        namespace = _new()
        store.put(namespace, "a", 1)
        store.close()
        store.close()
        assert _on_a_loop(store, store.aget(namespace, "a")) is not None


def _new() -> str:
    return f"conformance-{uuid4().hex}"


def _value(store: Store, namespace: str, key: str = "a") -> Any:
    entry = store.get(namespace, key)
    assert entry is not None, f"{key!r} is absent"
    return entry.value


def _increment(store: Store, namespace: str) -> int:
    entry = store.get(namespace, "a") or Entry(0, 0)
    return store.put(namespace, "a", entry.value + 1, expected_version=entry.version)


E_ = TypeVar("E_", bound=Exception)


def _refused(kind: type[E_], work: Callable[[], object]) -> E_:
    try:
        result = work()
    except kind as error:
        return error
    raise AssertionError(f"{kind.__name__} was expected, not {result!r}")


def _try(write: Callable[[], T]) -> T | ConflictError:
    try:
        return write()
    except ConflictError as error:
        return error


def _wait_for_the_end_of_leases() -> None:
    BLOCKING.run(BLOCKING.sleep(LEASE_SECONDS + 0.1))


def _on_a_loop(store: Store, work: Coroutine[Any, Any, T]) -> T:
    async def and_close() -> T:
        try:
            return await work
        finally:
            await store.aclose()

    return run_in_background(and_close())
