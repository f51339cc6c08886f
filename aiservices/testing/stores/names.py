"""Any text is a name, and no other's."""

from __future__ import annotations

from functools import partial

from ...errors import StoreError
from ...stores import Store
from .asking import new_namespace, refused, value_of
from .samples import NAMES


class KeepsNames:
    """Any text is a name, and no other's."""

    def test_names_that_look_alike_are_different(self, store: Store) -> None:
        namespace = new_namespace()
        for name in NAMES:
            store.put(namespace, name, name)
            store.put(namespace + name, "in a namespace of this name", name)
        assert store.keys(namespace) == sorted([*NAMES, "in a namespace of this name"])
        for name in NAMES:
            assert value_of(store, namespace, name) == name
            assert value_of(store, namespace + name, "in a namespace of this name") == name

    def test_namespace_and_key_are_not_run_together(self, store: Store) -> None:
        left, right = new_namespace(), new_namespace()
        store.put(left, f"{right}:a", 1)
        assert store.get(f"{left}:{right}", "a") is None

    def test_long_names_are_kept_whole(self, store: Store) -> None:
        for letter in ("x", "é", "😀"):
            namespace = new_namespace().ljust(255, letter)
            for end in ("a", "b"):
                store.put(namespace, letter * 511 + end, end)
            assert store.keys(namespace) == [letter * 511 + "a", letter * 511 + "b"]
            assert value_of(store, namespace, letter * 511 + "b") == "b"

    def test_names_that_no_store_could_hold_arerefused(self, store: Store) -> None:
        for name in ("\0", "\ud800", "x" * 10_000, 1, None, b"a"):
            refused(StoreError, partial(store.put, new_namespace(), name, 1))  # type: ignore[arg-type]
            refused(StoreError, partial(store.put, name, "a", 1))  # type: ignore[arg-type]
            refused(StoreError, partial(store.get, new_namespace(), name))  # type: ignore[arg-type]

    def test_a_prefix_is_taken_by_the_letter(self, store: Store) -> None:
        namespace = new_namespace()
        for name in NAMES:
            store.put(namespace, name, 1)
            store.put(namespace, f"{name}\U0010ffff", 1)
        keys = store.keys(namespace)
        for prefix in (*NAMES, "\U0010ffff\U0010ffff", "nobody"):
            assert store.keys(namespace, prefix) == [key for key in keys if key.startswith(prefix)], prefix

    def test_many_keys_are_listed_whole_and_sorted(self, store: Store) -> None:
        namespace, names = new_namespace(), [f"{number:04}" for number in range(620)]
        for name in names:
            store.put(namespace, name, None)
        assert store.keys(namespace) == names
        assert store.keys(namespace, "06") == names[600:]
