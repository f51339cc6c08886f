"""Messages of errors say what was probably meant."""

from __future__ import annotations

import pytest

from aiservices.guessing import kind_of, listing, nearest


@pytest.mark.parametrize(
    ("given", "name"),
    [("stroy", "story"), ("storys", "story"), ("Topic", "topic"), ("price", None), (3, None)],
)
def test_the_nearest_name_is_found_and_no_far_one(given: object, name: str | None) -> None:
    assert nearest(given, ["story", "topic"]) == name


def test_all_names_are_listed_where_none_is_near() -> None:
    assert listing("x", ["story", "topic"]) == "known are story, topic"
    assert listing("topik", ["story", "topic"]) == "did you mean 'topic'?"


@pytest.mark.parametrize(
    ("given", "words"),
    [("x", "a str"), (None, "None"), (str, "the class str"), (print, "a builtin_function_or_method")],
)
def test_a_value_is_described_by_its_kind(given: object, words: str) -> None:
    assert kind_of(given) == words
