"""What expires is gone, and whoever had it knows."""

from __future__ import annotations

from functools import partial

from ...errors import ConflictError
from ...stores import Entry, Store
from .asking import LEASE_SECONDS, new_namespace, refused, wait_for_the_end_of_leases


class EndsLeases:
    """What expires is gone, and whoever had it knows."""

    def test_a_lease_ends(self, store: Store) -> None:
        namespace = new_namespace()
        version = store.put(namespace, "a", 1, expires_in=LEASE_SECONDS)
        assert store.get(namespace, "a") == Entry(1, version)
        assert store.keys(namespace) == ["a"]
        refused(ConflictError, partial(store.put, namespace, "a", 2, expected_version=0))
        wait_for_the_end_of_leases()
        assert store.get(namespace, "a") is None
        assert store.keys(namespace) == store.keys(namespace, "a") == []
        for write in (store.delete, partial(store.put, value=2)):
            error = refused(ConflictError, partial(write, namespace, "a", expected_version=version))
            assert error.found == 0
        assert store.delete(namespace, "a") is False

    def test_a_lease_that_ended_is_taken_by_another_and_not_freed_by_the_first(self, store: Store) -> None:
        namespace = new_namespace()
        first = store.put(namespace, "a", "first", expected_version=0, expires_in=LEASE_SECONDS)
        wait_for_the_end_of_leases()
        second = store.put(namespace, "a", "second", expected_version=0, expires_in=60)
        assert second > first
        refused(ConflictError, partial(store.delete, namespace, "a", expected_version=first))
        assert store.get(namespace, "a") == Entry("second", second)

    def test_each_write_says_anew_whether_the_entry_expires(self, store: Store) -> None:
        namespace = new_namespace()
        for key in ("renewed", "kept"):
            store.put(namespace, key, 1, expires_in=LEASE_SECONDS)
        store.put(namespace, "renewed", 2, expires_in=60)
        store.put(namespace, "kept", 2)
        store.put(namespace, "given up", 1)
        store.put(namespace, "given up", 2, expires_in=LEASE_SECONDS)
        wait_for_the_end_of_leases()
        store.put(namespace, "another", 1, expires_in=60)  # stores clean up at such writes
        assert store.keys(namespace) == ["another", "kept", "renewed"]
