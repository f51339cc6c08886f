"""Lists that are fused by rank: rows X1 to X15 of the facts, and what holds for all lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiservices.rag import Query, ReciprocalRankFusion, ScoredSegment, TextSegment
from aiservices.rag.rank_fusion import FUSED_SCORE

from .looking_up import found, texts_of

FUSION = ReciprocalRankFusion()
lists_of_words = st.lists(st.lists(st.sampled_from("abcdef"), max_size=6), max_size=5)


def fused(*lists: Sequence[Any]) -> str:
    return "".join(texts_of(FUSION.fuse([found(*each) for each in lists])))


@pytest.mark.parametrize(
    ("lists", "expected"),
    [
        (("", ""), ""),
        (("", "A"), "A"),
        (("A", "B"), "AB"),
        (("A", "BA"), "AB"),
        (("AB", "B"), "BA"),
        (("AB", "BA"), "AB"),
        (("AB", "AC"), "ABC"),
        (("AB", "BC"), "BAC"),
        (("AB", "CD"), "ACBD"),
        (("ABC", "CBA"), "ACB"),
        (("ABC", "BCD", "CDE"), "CBDAE"),
    ],
)
def test_what_stands_high_in_several_lists_comes_first(lists: tuple[str, ...], expected: str) -> None:
    """Rows X1 to X9, X11, X12"""
    assert fused(*lists) == expected


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        ([["12", "34"], ["56", "78"]], "15372648"),
        ([["12", "34"], ["56", "18"]], "1532648"),
        ([["cdh", "cp"], ["do", "c"]], "cdpoh"),
    ],
)
def test_first_the_lists_of_a_query_are_fused_then_the_queries(
    results: list[list[str]], expected: str
) -> None:
    """Rows X13, X14, X15"""
    given = [(Query(str(i)), [found(*each) for each in lists]) for i, lists in enumerate(results)]
    assert "".join(texts_of(FUSION.aggregate(given))) == expected


def test_a_k_below_1_is_refused() -> None:
    """Row X10"""
    with pytest.raises(ValueError, match="k is 0: give 1 or more"):
        ReciprocalRankFusion(k=0)


def test_a_segment_of_two_retrievers_comes_once_and_first_with_its_best_score() -> None:
    """RAG-13"""

    def scored(text: str, score: float, id: str) -> ScoredSegment:
        return ScoredSegment(TextSegment(text), score, id, {"from": id})

    first = [scored("x", 0.9, "r1-x"), scored("y", 0.5, "r1-y")]
    second = [scored("x", 0.3, "r2-x"), scored("z", 0.4, "r2-z"), scored("z", 0.4, "again")]
    for lists in ([first, second], [second, first]):
        best, *others = FUSION.fuse(lists)
        assert (best.text, best.score, best.id, best.attributes["from"]) == ("x", 0.9, "r1-x", "r1-x")
        assert best.attributes[FUSED_SCORE] == pytest.approx(2 / 61)
        assert sorted((each.text, each.score, each.id) for each in others) == [
            ("y", 0.5, "r1-y"),
            ("z", 0.4, "r2-z"),
        ]
        assert {each.attributes[FUSED_SCORE] for each in others} == {1 / 62}


def test_equal_texts_with_other_metadata_are_kept_apart() -> None:
    """RAG-13"""
    one, other = TextSegment("x", {"source": "a"}), TextSegment("x", {"source": "b"})
    assert [each.segment for each in FUSION.fuse([[ScoredSegment(one)], [ScoredSegment(other)]])] == [
        one,
        other,
    ]


def test_offsets_are_no_part_of_the_identity() -> None:
    one, other = TextSegment("x", start=0, end=1), TextSegment("x", start=7, end=8)
    assert [each.segment for each in FUSION.fuse([[ScoredSegment(one)], [ScoredSegment(other)]])] == [one]


def test_a_single_list_stays_as_it_is_but_for_duplicates() -> None:
    assert FUSION.fuse([[], found("b", "a", "b")]) == found("b", "a")


@given(lists_of_words)
def test_each_segment_comes_once(lists: list[list[str]]) -> None:
    assert sorted(fused(*lists)) == sorted({word for words in lists for word in words})


@given(lists_of_words)
def test_duplicates_in_a_list_add_nothing(lists: list[list[str]]) -> None:
    assert fused(*lists) == fused(*(list(dict.fromkeys(words)) for words in lists))


@given(st.lists(st.sampled_from("abcdef"), unique=True), st.integers(1, 4))
def test_lists_that_agree_keep_their_order(words: list[str], count: int) -> None:
    assert fused(*[words] * count) == "".join(words)
