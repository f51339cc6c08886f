"""Which skills go, and which stay."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiservices.skills import Unload

IDS = st.lists(st.sampled_from("abcdef"), unique=True)


def test_nothing_goes() -> None:
    """LG-118"""
    ids = ["a", "b"]
    assert Unload.none().apply(ids) is ids
    assert Unload.ids("x", "y").apply(ids) is ids
    empty: tuple[str, ...] = ()
    assert Unload.all().apply(empty) is empty


def test_everything_goes() -> None:
    """LG-119"""
    ids = ["a", "b"]
    assert Unload.all().apply(ids) == []
    assert ids == ["a", "b"]


def test_some_ids_go_and_the_others_keep_their_order() -> None:
    """LG-116, LG-117"""
    assert Unload.ids("a", None, "a", "c", None).apply(("d", "c", "b", "a")) == ("d", "b")


def test_a_function_may_say_what_goes() -> None:
    """LG-120"""
    assert Unload.matching(lambda id: id.startswith("tool-")).apply(["tool-a", "b"]) == ["b"]


@pytest.mark.parametrize("wrong", [None, "a", 3])
def test_what_cannot_be_asked_is_refused(wrong: Any) -> None:
    """LG-121"""
    with pytest.raises(TypeError, match="give a function"):
        Unload.matching(wrong)


def test_ids_come_one_by_one() -> None:
    with pytest.raises(TypeError, match=r"Unload.ids\(\['a'\]\): give each id by itself"):
        Unload.ids("b", ["a"])  # type: ignore[arg-type]


@given(IDS, IDS)
def test_what_is_left_is_what_was_there_without_what_goes(active: list[str], gone: list[str]) -> None:
    left = Unload.ids(*gone).apply(active)
    assert left == [id for id in active if id not in gone]
    assert (left is active) == (not set(active) & set(gone))
    assert Unload.ids(*gone).apply(left) is left
