"""Whatever is done in whatever order, a store does what a dictionary with version numbers would."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from aiservices.driving import run_in_background
from aiservices.errors import ConflictError
from aiservices.stores import Entry, InMemoryStore, SqlStore, Store

namespaces = st.sampled_from(["chat", "Chat", "chat "])
keys = st.sampled_from(["a", "A", "a%", "ab", "é", ""])
values = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5), st.lists, max_leaves=4)
guesses = st.sampled_from(["none", "right", "absent", "older"])


class Comparison(RuleBasedStateMachine):
    """A store and a dictionary, asked the same."""

    store: Store

    def __init__(self) -> None:
        super().__init__()
        self.model: dict[tuple[str, str], Entry] = {}
        self.highest = 0

    def expected(self, place: tuple[str, str], guess: str) -> int | None:
        found = self.model[place].version if place in self.model else 0
        return {"none": None, "right": found, "absent": 0, "older": max(found - 1, 0)}[guess]

    def conflicts(self, place: tuple[str, str], expected: int | None) -> bool:
        found = self.model[place].version if place in self.model else 0
        return expected is not None and expected != found

    @rule(namespace=namespaces, key=keys, value=values, guess=guesses, asynchronous=st.booleans())
    def put(self, namespace: str, key: str, value: Any, guess: str, asynchronous: bool) -> None:
        place, expected = (namespace, key), self.expected((namespace, key), guess)
        try:
            if asynchronous:
                version = run_in_background(self.store.aput(*place, value, expected_version=expected))
            else:
                version = self.store.put(*place, value, expected_version=expected)
        except ConflictError:
            assert self.conflicts(place, expected)
        else:
            assert not self.conflicts(place, expected)
            assert version > self.highest
            self.highest = version
            self.model[place] = Entry(value, version)

    @rule(namespace=namespaces, key=keys, guess=guesses)
    def delete(self, namespace: str, key: str, guess: str) -> None:
        place, expected = (namespace, key), self.expected((namespace, key), guess)
        try:
            deleted = self.store.delete(*place, expected_version=expected)
        except ConflictError:
            assert self.conflicts(place, expected)
        else:
            assert not self.conflicts(place, expected)
            assert deleted == (self.model.pop(place, None) is not None)

    @rule(namespace=namespaces, key=keys)
    def get(self, namespace: str, key: str) -> None:
        assert self.store.get(namespace, key) == self.model.get((namespace, key))

    @rule(namespace=namespaces, prefix=keys)
    def list_keys(self, namespace: str, prefix: str) -> None:
        listed = self.store.keys(namespace, prefix)
        assert listed == sorted(
            key for home, key in self.model if home == namespace and key.startswith(prefix)
        )

    @invariant()
    def everything_is_there(self) -> None:
        for (namespace, key), entry in self.model.items():
            assert self.store.get(namespace, key) == entry


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_a_store_does_what_a_dictionary_would(kind: str) -> None:
    class Compared(Comparison):
        def __init__(self) -> None:
            super().__init__()
            self.folder = TemporaryDirectory()
            file = Path(self.folder.name, "store.db")
            self.store = InMemoryStore() if kind == "memory" else SqlStore(file)

        def teardown(self) -> None:
            self.store.close()
            self.folder.cleanup()

    Compared.TestCase.settings = settings(max_examples=15, stateful_step_count=25, deadline=None)
    Compared.TestCase().runTest()
