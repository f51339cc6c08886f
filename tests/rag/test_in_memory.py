"""The store in memory: it grows and shrinks, can be saved, and what it finds is the exact answer."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from aiservices.errors import MissingExtraError
from aiservices.rag import F, InMemoryEmbeddingStore, TextSegment
from aiservices.rag.embedding_stores import exact_index
from aiservices.rag.segment_json import (
    body_to_json,
    metadata_from_json,
    metadata_to_json,
    segment_from_json,
    segment_to_json,
)

from .strategies import KEYS, metadata

NUMBERS = st.floats(-1, 1, width=32)


def filled(number: int, dimension: int = 8) -> tuple[InMemoryEmbeddingStore, Any]:
    vectors = np.random.default_rng(7).normal(size=(number, dimension))
    store = InMemoryEmbeddingStore()
    ids = [str(n) for n in range(number)]
    store.add(vectors, [TextSegment(id, {"n": n}) for n, id in enumerate(ids)], ids=ids)
    return store, vectors


def expected(vectors: Any, vector: Any, rows: Any, limit: int) -> list[str]:
    lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(vector)
    order = sorted(rows, key=lambda row: -(vectors[row] @ vector) / lengths[row])
    return [str(row) for row in order[:limit]]


@pytest.mark.parametrize("few", [0.0, 1.1], ids=["all multiplied", "those that match multiplied"])
def test_the_nearest_are_those_of_a_sort_of_everything(few: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact_index, "FEW", few)
    store, vectors = filled(2000)
    vector = vectors[5] * -0.5 + vectors[9]
    for filter, rows in ((None, range(2000)), (F("n") >= 1500, range(1500, 2000)), (F("n") < 3, range(3))):
        found = [match.id for match in store.search(vector, max_results=20, filter=filter)]
        assert found == expected(vectors, vector, rows, 20)


def test_equal_vectors_are_in_order_wherever_the_limit_falls() -> None:
    store = InMemoryEmbeddingStore()
    vectors = np.random.default_rng(1).normal(size=(10, 33))
    everything = np.repeat(vectors, 500, axis=0)
    ids = [f"{number:04}" for number in range(5000)]
    store.add(everything, [TextSegment(each) for each in ids], ids=ids)
    for limit in (1, 7, 499, 500):
        found = store.search(vectors[4], max_results=limit)
        assert [match.id for match in found] == ids[2000 : 2000 + limit]
        assert {match.score for match in found} == {1.0}


class Growing(RuleBasedStateMachine):
    """A store beside a dictionary, with an index that is made anew after every few changes."""

    def __init__(self) -> None:
        super().__init__()
        self.before = exact_index.SLACK
        exact_index.SLACK = 3  # type: ignore[misc]
        self.store = InMemoryEmbeddingStore()
        self.kept: dict[str, tuple[tuple[float, ...], int]] = {}

    def teardown(self) -> None:
        exact_index.SLACK = self.before  # type: ignore[misc]

    @rule(rows=st.lists(st.tuples(st.sampled_from("abcdefghij"), st.integers(0, 3)), max_size=5))
    def add(self, rows: list[tuple[str, int]]) -> None:
        vectors = [(1.0, float(n), float(ord(id))) for id, n in rows]
        self.store.add(vectors, [TextSegment(id, {"n": n}) for id, n in rows], ids=[id for id, _ in rows])
        self.kept |= {id: (vector, n) for (id, n), vector in zip(rows, vectors, strict=True)}

    @rule(ids=st.lists(st.sampled_from("abcdefghij")))
    def remove(self, ids: list[str]) -> None:
        gone = set(ids) & self.kept.keys()
        assert self.store.remove(ids) == len(gone)
        for id in gone:
            del self.kept[id]

    @rule(n=st.integers(0, 3))
    def remove_by_filter(self, n: int) -> None:
        gone = [id for id, (_, number) in self.kept.items() if number == n]
        assert self.store.remove(filter=F("n") == n) == len(gone)
        for id in gone:
            del self.kept[id]

    @invariant()
    def it_holds_what_was_kept(self) -> None:
        assert len(self.store) == len(self.kept)
        matches = self.store.search((1, 0, 0), max_results=99)
        found = {match.id: match.segment.metadata["n"] for match in matches}
        assert found == {id: n for id, (_, n) in self.kept.items()}
        some = {match.id for match in self.store.search((1, 0, 0), max_results=99, filter=F("n") <= 1)}
        assert some == {id for id, (_, n) in self.kept.items() if n <= 1}
        for id, (vector, _) in self.kept.items():
            assert self.store.search(vector, max_results=1)[0].id == id


TestGrowing = Growing.TestCase
TestGrowing.settings = settings(max_examples=30, stateful_step_count=20, deadline=None)


def test_an_emptied_store_takes_another_dimension() -> None:
    store, _ = filled(3)
    with pytest.raises(ValueError, match="'x' has 2 dimensions, those of the store 8"):
        store.add([[1, 2]], [TextSegment("x")], ids=["x"])
    with pytest.raises(ValueError, match="the vector has 2 dimensions"):
        store.search([1, 2])
    store.remove(filter=F("n") >= 0)
    store.add([[1, 2]], [TextSegment("x")], ids=["x"])
    assert [match.id for match in store.search([1, 2])] == ["x"]


def test_a_store_that_was_saved_is_loaded_equal(tmp_path: Path) -> None:
    """E9"""
    store, vectors = filled(50)
    store.remove(["7"])
    store.add([vectors[3]], [TextSegment("é\ud800", {"day": "x", "n": 2**70})], ids=["new"])
    store.save(tmp_path / "store")
    store.save(tmp_path / "store")
    loaded = InMemoryEmbeddingStore.load(tmp_path / "store")
    assert loaded.search(vectors[3], max_results=99) == store.search(vectors[3], max_results=99)
    assert [path.name for path in tmp_path.iterdir()] == ["store"]
    InMemoryEmbeddingStore().save(tmp_path / "empty")
    assert len(InMemoryEmbeddingStore.load(tmp_path / "empty")) == 0


def test_a_file_of_another_kind_is_named(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no store")
    np.savez(tmp_path / "other.npz", format=1)
    np.save(tmp_path / "array.npy", np.zeros(3))
    np.savez(tmp_path / "newer.npz", format=2, vectors=[], ids=np.zeros(0, "u1"), segments=np.zeros(0, "u1"))
    for name in ("text", "other.npz", "array.npy", "newer.npz"):
        with pytest.raises(ValueError, match=name):
            InMemoryEmbeddingStore.load(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        InMemoryEmbeddingStore.load(tmp_path / "missing")


def test_without_numpy_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(MissingExtraError, match=r"aiservices\[rag\]"):
        InMemoryEmbeddingStore()


@given(st.lists(NUMBERS, min_size=3, max_size=3), st.lists(st.lists(NUMBERS, min_size=3, max_size=3)))
def test_scores_are_never_nan_and_between_0_and_1(vector: list[float], vectors: list[list[float]]) -> None:
    store = InMemoryEmbeddingStore()
    store.add(vectors, [TextSegment("x")] * len(vectors))
    scores = [match.score for match in store.search(vector, max_results=1000)]
    assert len(scores) == len(vectors)
    assert all(0 <= score <= 1 for score in scores)
    assert scores == sorted(scores, reverse=True)


@given(st.text(), metadata(), st.none() | st.integers(0), st.none() | st.integers(0))
def test_segments_and_metadata_are_written_without_loss(
    text: str, values: dict[str, Any], start: int | None, end: int | None
) -> None:
    segment = TextSegment(text, values, start, end)
    read = segment_from_json(segment_to_json(segment))
    apart = segment_from_json(body_to_json(segment), metadata_to_json(segment.metadata))
    assert read.text == apart.text == text
    assert (read.start, read.end) == (apart.start, apart.end) == (start, end)
    alone = metadata_from_json(metadata_to_json(segment.metadata))
    for found in (read.metadata, apart.metadata, alone):
        assert metadata_to_json(found) == metadata_to_json(segment.metadata)
        assert found.keys() == segment.metadata.keys()
        assert all((F(key) == value).matches(found) for key, value in segment.metadata.items())
        assert {key: type(each) for key, each in found.items()} == {
            key: type(each) for key, each in segment.metadata.items()
        }


def test_integers_of_any_length_are_written_without_loss() -> None:
    huge = 7**9000
    assert metadata_from_json(metadata_to_json(TextSegment("", {"n": huge, "l": [-huge]}).metadata)) == {
        "n": huge,
        "l": [-huge],
    }
    assert repr(F(KEYS[0]) == huge) == f"F('a') == {huge:#x}"


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"text": 1', '{"text": "a"}', '{"text": "a", "metadata": []}']
)
def test_what_is_no_segment_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):
        segment_from_json(text)
