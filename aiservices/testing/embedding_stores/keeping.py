"""What is added is there once, comes back equal, and is gone when it is removed."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from functools import partial
from typing import Any, Final
from uuid import UUID

from ...rag import EmbeddingStore, F, TextSegment
from ..stores.asking import refused
from .asking import EAST, NORTH, UP, put, scores

IDS: Final = (
    *(
        "a",
        "A",
        "a ",
        " a",
        "á",
        "a\u0301",
        "a'b",
        'a"b',
        "a%",
        "a_b",
        "a/b",
        "a\\b",
        "日本",
        "😀",
        "0",
        "00",
    ),
    *("6ba7b810-9dad-11d1-80b4-00c04fd430c8", "null", "\ue000", "x" * 512),
)
TEXTS: Final = (
    "",
    "plain",
    "é\u2028\x7f😀\\\"'{{x}}",
    "a\0b",
    "\ud800 alone",
    "line\nline\r\n",
    "x" * 100_000,
)
METADATA: Final[dict[str, Any]] = {
    "text": "é\0\ud800😀",
    "empty": "",
    "int": 2**53 + 1,
    "big": -(2**200),
    "float": 0.1,
    "whole": 2.0,
    "tiny": 5e-324,
    "true": True,
    "false": False,
    "day": date(2020, 2, 29),
    "time": datetime(2020, 2, 29, 12, 30, 1, 5),
    "moment": datetime(2020, 2, 29, tzinfo=timezone(timedelta(hours=-3, minutes=-30))),
    "id": UUID(int=7),
    "texts": ["a", ""],
    "days": [date(1, 1, 1)],
    "ids": [UUID(int=8)],
    "numbers": [1, 2.0, True],
    "nothing": [],
    "a.b": 1,
    "a b": 2,
    "日本": 3,
    "\ud800": 4,
    "quo\"te's\\": 5,
    "$a[0]": 6,
}


class KeepsSegments:
    """What is added is there once, comes back equal, and is gone when it is removed."""

    def test_metadata_of_every_type_comes_back_equal_and_of_the_same_type(
        self, store: EmbeddingStore
    ) -> None:
        segment = TextSegment("text", METADATA, 3, 7)
        store.add([EAST], [segment])
        (found,) = store.search(EAST)
        assert found.segment == segment
        types = {key: _types(value) for key, value in found.segment.metadata.items()}
        assert types == {key: _types(value) for key, value in METADATA.items()}

    def test_any_text_comes_back_equal(self, store: EmbeddingStore) -> None:
        store.add([EAST] * len(TEXTS), [TextSegment(text) for text in TEXTS])
        assert sorted(match.segment.text for match in store.search(EAST, max_results=99)) == sorted(TEXTS)

    def test_ids_are_what_was_given_or_new_ones(self, store: EmbeddingStore) -> None:
        ids = store.add([EAST] * len(IDS), [TextSegment(each) for each in IDS], ids=IDS)
        assert ids == list(IDS)
        assert set(scores(store, EAST)) == set(IDS)
        fresh = store.add([UP, UP], [TextSegment("same"), TextSegment("same")])
        assert len({*fresh, *IDS}) == len(IDS) + 2
        assert {match.id for match in store.search(UP, max_results=2)} == set(fresh)
        assert store.remove(IDS) == len(IDS)
        assert {match.id for match in store.search(UP, max_results=100)} == set(fresh)

    def test_what_is_added_again_takes_the_place_of_the_first(self, store: EmbeddingStore) -> None:
        put(store, a=EAST, b=EAST)
        store.add([NORTH], [TextSegment("new", {"k": 1})], ids=["a"])
        found = {match.id: match for match in store.search(NORTH, max_results=9)}
        assert found.keys() == {"a", "b"}
        assert found["a"].segment == TextSegment("new", {"k": 1})
        assert found["a"].score > found["b"].score
        assert [match.id for match in store.search(NORTH, filter=F("k") == 1)] == ["a"]
        store.add([UP], [TextSegment("newer")], ids=["a"])
        assert store.search(NORTH, filter=F("k") == 1) == []

    def test_of_an_id_that_is_given_twice_the_last_counts(self, store: EmbeddingStore) -> None:
        segments = [TextSegment("first"), TextSegment("b"), TextSegment("last")]
        assert store.add([EAST, UP, NORTH], segments, ids=["a", "b", "a"]) == ["a", "b", "a"]
        found = {match.id: match.segment.text for match in store.search(NORTH, max_results=9)}
        assert found == {"a": "last", "b": "b"}

    def test_different_numbers_of_vectors_segments_and_ids_are_refused(self, store: EmbeddingStore) -> None:
        a, b = TextSegment("a"), TextSegment("b")
        for vectors, segments, ids in (
            ([EAST, UP], [a], None),
            ([EAST], [a, b], None),
            ([EAST], [a], ["a", "b"]),
            ([EAST], [a], []),
        ):
            refused(ValueError, partial(store.add, vectors, segments, ids=ids))
        assert store.add([], []) == store.add([], [], ids=[]) == []
        assert store.search(EAST) == []

    def test_ids_that_not_every_database_keeps_are_refused(self, store: EmbeddingStore) -> None:
        for id in ("", " ", "a\0", "\ud800", "x" * 513):
            refused(ValueError, partial(store.add, [EAST], [TextSegment("x")], ids=[id]))
        wrong: Any = [1]
        refused(TypeError, partial(store.add, [EAST], [TextSegment("x")], ids=wrong))
        refused(TypeError, partial(store.add, [EAST], [TextSegment("x")], ids="x"))

    def test_ids_are_removed_and_counted_once(self, store: EmbeddingStore) -> None:
        put(store, a=EAST, b=EAST, c=EAST)
        assert store.remove(["a", "a", "unknown", ""]) == 1
        assert store.remove(["a"]) == 0
        assert store.remove([]) == 0
        assert set(scores(store, EAST)) == {"b", "c"}
        put(store, a=NORTH)
        assert set(scores(store, EAST)) == {"a", "b", "c"}

    def test_removing_for_want_of_ids_and_filter_is_refused(self, store: EmbeddingStore) -> None:
        put(store, a=EAST)
        refused(ValueError, store.remove)
        refused(TypeError, partial(store.remove, "a"))
        wrong: Any = [1]
        refused(TypeError, partial(store.remove, wrong))
        assert set(scores(store, EAST)) == {"a"}

    def test_what_matches_a_filter_is_removed_and_of_ids_only_those(self, store: EmbeddingStore) -> None:
        rows = [{"k": 1}, {"k": 2}, {}, {"k": 1}]
        segments = [TextSegment(str(n), row) for n, row in enumerate(rows)]
        store.add([EAST] * 4, segments, ids=list("0123"))
        assert store.remove(["0", "1"], filter=F("k") == 1) == 1
        assert set(scores(store, EAST)) == {"1", "2", "3"}
        assert store.remove([], filter=F("k") == 1) == 0
        assert store.remove(filter=F("k") != 2) == 2
        assert set(scores(store, EAST)) == {"1"}
        assert store.remove(filter=F("no") == 2) == 0

    def test_an_empty_store_finds_nothing_and_removes_nothing(self, store: EmbeddingStore) -> None:
        assert store.search(EAST) == []
        assert store.search(EAST, filter=F("k") == 1) == []
        assert store.remove(["a"]) == store.remove(filter=F("k") != 1) == 0


def _types(value: Any) -> object:
    return [type(each) for each in value] if isinstance(value, list) else type(value)
