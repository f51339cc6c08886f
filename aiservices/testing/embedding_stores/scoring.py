"""The nearest are found, with scores that mean the same in every store."""

from __future__ import annotations

from functools import partial
from typing import Any

from ...rag import EmbeddingStore, TextSegment
from ..stores.asking import refused
from .asking import EAST, INFINITE, NAN, NORTH, NOWHERE, UP, WEST, near, put, scores


class ScoresVectors:
    """The nearest are found, with scores that mean the same in every store."""

    def test_the_score_is_half_of_the_cosine_and_one(self, store: EmbeddingStore) -> None:
        put(store, same=(3.0, 0.0, 0.0), across=NORTH, opposite=WEST, halfway=(1.0, 1.0, 0.0))
        found = scores(store, (0.5, 0.0, 0.0))
        assert list(found) == ["same", "halfway", "across", "opposite"]
        for id, expected in {"same": 1, "halfway": 0.5 + 0.125**0.5, "across": 0.5, "opposite": 0}.items():
            assert near(found[id], expected), f"{id} has the score {found[id]}, not {expected}"
            assert 0 <= found[id] <= 1

    def test_a_vector_of_zeros_is_halfway_from_everything_and_no_score_is_nan(
        self, store: EmbeddingStore
    ) -> None:
        put(store, nowhere=NOWHERE, east=EAST, west=WEST)
        found = scores(store, EAST)
        assert list(found) == ["east", "nowhere", "west"]
        assert found["nowhere"] == 0.5
        assert set(scores(store, NOWHERE).values()) == {0.5}
        assert list(scores(store, EAST, min_score=0.6)) == ["east"]
        assert list(scores(store, EAST, max_results=2)) == ["east", "nowhere"]
        assert len(scores(store, NOWHERE, min_score=0.5)) == 3
        assert scores(store, NOWHERE, min_score=0.51) == {}
        assert len(scores(store, NOWHERE, max_results=2)) == 2

    def test_numbers_of_any_size_are_directions(self, store: EmbeddingStore) -> None:
        put(store, big=(1e300, 0.0, 0.0), small=(1e-300, 0.0, 0.0), both=(1e300, 1e-300, 0.0))
        assert all(near(score, 1) for score in scores(store, (1e-308, 0.0, 0.0)).values())

    def test_three_results_are_given_unless_another_number_is_asked_for(self, store: EmbeddingStore) -> None:
        put(store, **{f"id {number}": (1.0, number / 10, 0.0) for number in range(5)})
        assert [match.id for match in store.search(EAST)] == ["id 0", "id 1", "id 2"]
        assert len(store.search(EAST, max_results=1)) == 1
        assert len(store.search(EAST, max_results=10_000)) == 5

    def test_what_is_not_near_enough_is_left_out(self, store: EmbeddingStore) -> None:
        put(store, same=EAST, across=NORTH, opposite=WEST)
        assert list(scores(store, EAST, min_score=1.0)) == ["same"]
        assert list(scores(store, EAST, min_score=0.5)) == ["same", "across"]
        assert list(scores(store, EAST, min_score=0.0)) == ["same", "across", "opposite"]

    def test_equal_vectors_have_equal_scores_and_stay_in_order(self, store: EmbeddingStore) -> None:
        vector = (0.1, 0.7, -0.3)
        put(store, **{f"{number:02}": vector for number in range(30)})
        found = scores(store, (0.3, 0.2, 0.9))
        assert len(set(found.values())) == 1
        assert list(found) == sorted(found)
        assert scores(store, (0.3, 0.2, 0.9)) == found

    def test_a_query_in_words_changes_no_score(self, store: EmbeddingStore) -> None:
        put(store, east=EAST, up=UP)
        assert store.search(EAST, query="up") == store.search(EAST)

    def test_limits_out_of_range_are_refused(self, store: EmbeddingStore) -> None:
        put(store, a=EAST)
        for number in (0, -1):
            refused(ValueError, partial(store.search, EAST, max_results=number))
        for score in (-0.1, 1.1, NAN):
            refused(ValueError, partial(store.search, EAST, min_score=score))
        wrong: Any = {"a": 1}
        refused(TypeError, partial(store.search, EAST, filter=wrong))

    def test_a_vector_without_direction_is_refused_and_its_id_named(self, store: EmbeddingStore) -> None:
        put(store, a=EAST)
        bad: tuple[Any, ...] = (
            (1, NAN, 0),
            (1, INFINITE, 0),
            (1, 2),
            (1, 2, 3, 4),
            (),
            ("1", "2", "3"),
            (1, None, 0),
        )
        for vector in bad:
            segments = [TextSegment("good"), TextSegment("bad")]
            error = refused(ValueError, partial(store.add, [EAST, vector], segments, ids=["good", "the bad"]))
            assert "'the bad'" in str(error)
            refused(ValueError, partial(store.search, vector))
        assert list(scores(store, EAST)) == ["a"], "of what is refused, nothing is kept"
        error = refused(ValueError, partial(store.add, [(1.0, 2.0)], [TextSegment("x")], ids=["the short"]))
        assert "'the short'" in str(error)
