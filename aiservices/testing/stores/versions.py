"""Who expects a version writes over that version or not at all."""

from __future__ import annotations

from functools import partial

from ...errors import ConflictError
from ...stores import Entry, Store
from .asking import new_namespace, refused


class ComparesVersions:
    """Who expects a version writes over that version or not at all."""

    def test_a_version_is_positive_and_grows_with_each_write(self, store: Store) -> None:
        namespace = new_namespace()
        versions = [store.put(namespace, "a", number) for number in range(5)]
        assert versions[0] > 0
        assert versions == sorted(set(versions))
        assert store.get(namespace, "a") == Entry(4, versions[-1])

    def test_a_write_that_expects_another_version_conflicts_and_writes_nothing(self, store: Store) -> None:
        namespace = new_namespace()
        old = store.put(namespace, "a", "old")
        new = store.put(namespace, "a", "new", expected_version=old)
        for expected in (0, old, new + 1):
            error = refused(
                ConflictError, partial(store.put, namespace, "a", "lost", expected_version=expected)
            )
            assert (error.namespace, error.key) == (namespace, "a")
            assert (error.expected, error.found) == (expected, new)
        error = refused(ConflictError, partial(store.put, namespace, "b", "lost", expected_version=new))
        assert (error.expected, error.found) == (new, 0)
        assert store.get(namespace, "a") == Entry("new", new)
        assert store.keys(namespace) == ["a"]

    def test_zero_expects_that_there_is_no_entry(self, store: Store) -> None:
        namespace = new_namespace()
        version = store.put(namespace, "a", 1, expected_version=0)
        assert store.get(namespace, "a") == Entry(1, version)

    def test_deleting_says_whether_there_was_an_entry(self, store: Store) -> None:
        namespace = new_namespace()
        store.put(namespace, "a", 1)
        assert store.delete(namespace, "a") is True
        assert store.delete(namespace, "a") is False
        assert store.delete(namespace, "a", expected_version=0) is False
        assert store.get(namespace, "a") is None
        assert store.keys(namespace) == []

    def test_deleting_another_version_conflicts_and_deletes_nothing(self, store: Store) -> None:
        namespace = new_namespace()
        version = store.put(namespace, "a", 1)
        for expected in (0, version + 1):
            error = refused(ConflictError, partial(store.delete, namespace, "a", expected_version=expected))
            assert (error.expected, error.found) == (expected, version)
        assert store.delete(namespace, "a", expected_version=version) is True
        error = refused(ConflictError, partial(store.delete, namespace, "a", expected_version=version))
        assert (error.expected, error.found) == (version, 0)

    def test_a_version_never_comes_again_after_a_deletion(self, store: Store) -> None:
        namespace, seen = new_namespace(), [0]
        for number in range(5):
            seen.append(store.put(namespace, "a", number, expected_version=0))
            if number % 2:
                seen.append(store.put(namespace, "a", number))
            store.delete(namespace, "a")
        assert seen == sorted(set(seen))

    def test_what_can_be_no_version_or_time_is_a_value_error(self, store: Store) -> None:
        for expected in (-1, 1.5, "1", True):
            refused(ValueError, partial(store.put, new_namespace(), "a", 1, expected_version=expected))  # type: ignore[arg-type]
            refused(ValueError, partial(store.delete, new_namespace(), "a", expected_version=expected))  # type: ignore[arg-type]
        for seconds in (0, -1, float("nan"), float("inf")):
            refused(ValueError, partial(store.put, new_namespace(), "a", 1, expires_in=seconds))
