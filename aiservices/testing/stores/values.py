"""What is put in comes out, and nothing else goes in."""

from __future__ import annotations

from functools import partial
from typing import Any

from ...errors import StoreError
from ...stores import Entry, Store
from .asking import new_namespace, refused, value_of
from .samples import NO_VALUES, VALUES


class KeepsValues:
    """What is put in comes out, and nothing else goes in."""

    def test_an_entry_that_was_never_written_is_absent(self, store: Store) -> None:
        assert store.get(new_namespace(), "a") is None
        assert store.keys(new_namespace()) == []

    def test_values_come_back_equal_and_of_the_same_type(self, store: Store) -> None:
        namespace = new_namespace()
        for value in (*VALUES, list(VALUES)):
            version = store.put(namespace, "a", value)
            assert repr(store.get(namespace, "a")) == repr(Entry(value, version))

    def test_big_and_deep_values_come_back(self, store: Store) -> None:
        namespace = new_namespace()
        deep: list[Any] = []
        for _ in range(150):
            deep = [deep]
        for value in ("x" * 1_000_000, [{"text": "é" * 100}] * 3_000, deep):
            store.put(namespace, "a", value)
            assert value_of(store, namespace) == value

    def test_what_is_no_json_is_refused_and_leaves_the_entry(self, store: Store) -> None:
        namespace = new_namespace()
        version = store.put(namespace, "a", "before")
        for value in NO_VALUES:
            error = refused(StoreError, partial(store.put, namespace, "a", value))
            assert (error.namespace, error.key) == (namespace, "a")
        assert store.get(namespace, "a") == Entry("before", version)

    def test_a_value_is_copied_in_and_out(self, store: Store) -> None:
        namespace, value = new_namespace(), {"list": [1]}
        store.put(namespace, "a", value)
        value["list"].append(2)
        read = value_of(store, namespace)
        read["list"].append(3)
        assert value_of(store, namespace) == {"list": [1]}
