"""A filter leaves the same rows as its reference, whatever the rows are."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any, Final
from uuid import UUID

from ...rag import EmbeddingStore, F, TextSegment
from .asking import EAST, INFINITE, NAN, NORTH, put_rows, rows_found

VALUES: Final[tuple[Any, ...]] = (
    *(2, 2.0, 2.5, "2", True, False, 1, 0, -0.0, 2**53 + 1, float(2**53), 10**23, 1e23, -1.5, -1, 5e-324),
    *("", "a", "A", "ab", "a%b", "日本", "a'b", "a\0b", "\ud800", "n", "true", UUID(int=7), str(UUID(int=7))),
    *(date(2020, 1, 1), datetime(2020, 1, 1), datetime(2020, 1, 1, tzinfo=UTC), "2020-01-01"),
    *([], ["a"], ["a", "b"], [2, 2.0], [True], [date(2020, 1, 1)]),
)
KEYS: Final = ("k", "a.b", "a b", 'k"', "k'", "日本", "$k[0]", "k\\", "\ud800")


class Filters:
    """A filter leaves the same rows as its reference, whatever the rows are."""

    def test_a_tenant_sees_only_what_is_his(self, store: EmbeddingStore) -> None:
        put_rows(store, [{"tenant": "a", "id": "1"}, {"tenant": "b", "id": "2"}, {"tenant": "b"}])
        assert rows_found(store, (F("tenant") == "a") & F("id").notin(["9"])) == [0]
        assert rows_found(store, F("id").notin(["9"]) & (F("tenant") == "a")) == [0]
        assert rows_found(store, F("id").notin(["9"])) == [0, 1, 2]

    def test_each_value_is_compared_with_each_as_the_reference_says(self, store: EmbeddingStore) -> None:
        rows: list[dict[str, Any]] = [{"k": value} for value in VALUES] + [{}, {"other": 2}]
        put_rows(store, rows)
        f = F("k")
        for value in VALUES:
            for filter in (f == value, f != value, f < value, f <= value, f > value, f >= value):
                expected = [n for n, row in enumerate(rows) if filter.matches(TextSegment("", row).metadata)]
                assert rows_found(store, filter) == expected, filter

    def test_choices_parts_and_combinations_are_as_the_reference_says(self, store: EmbeddingStore) -> None:
        rows: list[dict[str, Any]] = [{"k": v, "n": n} for n, v in enumerate(VALUES)] + [{}, {"n": 1}]
        put_rows(store, rows)
        k, n = F("k"), F("n")
        parts = [
            k.contains(part) for part in ("", "a", "%", "\0", "\ud800", 2, 1, True, date(2020, 1, 1), "本")
        ]
        some = [k.isin([2, "a"]), k.notin([2, "a", True, "\ud800"]), k.isin([["a"], 2.5]), n.between(2, 5.5)]
        both = [a & ~b for a, b in zip(parts, some * 3, strict=False)]
        either = [~a | (b & (n > 3)) for a, b in zip(parts, some * 3, strict=False)]
        for filter in (*parts, *some, *both, *either, n < INFINITE, n > NAN, n != NAN):
            expected = [r for r, row in enumerate(rows) if filter.matches(TextSegment("", row).metadata)]
            assert rows_found(store, filter) == expected, filter

    def test_any_key_can_be_asked_for(self, store: EmbeddingStore) -> None:
        put_rows(store, [{key: 1} for key in KEYS])
        for number, key in enumerate(KEYS):
            assert rows_found(store, F(key) == 1) == [number]
            assert rows_found(store, F(key) > 0) == [number]

    def test_the_nearest_of_those_that_match_are_found_however_many_others_are_nearer(
        self, store: EmbeddingStore
    ) -> None:
        rows: list[dict[str, Any]] = [{"k": "crowd", "odd": "\ud800"} for _ in range(300)]
        put_rows(store, rows)
        few = [TextSegment(f"few {n}", {"k": "few", "t": "zz"}) for n in range(4)]
        store.add([NORTH] * 4, few, ids=[each.text for each in few])
        for filter in (F("k") == "few", F("t") > "zy", F("k").contains("ew"), F("odd") != "\ud800"):
            found = [match.id for match in store.search(EAST, max_results=4, filter=filter)]
            assert sorted(found) == [each.text for each in few]
            assert len(store.search(EAST, max_results=2, filter=filter)) == 2
