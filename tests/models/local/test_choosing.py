"""Choosing by likelihood, with a language whose probabilities are known."""

import math
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiservices.models.local.choosing import MOST_LOOKS, choice_of, probabilities
from tests.models.local.asking import fields


class Language:
    """Says which tokens follow a text, and counts how often it was asked."""

    def __init__(self, following: Mapping[str, Mapping[str, float]]) -> None:
        self.following = following
        self.looks = 0

    def __call__(self, text: str) -> list[tuple[str, float]]:
        self.looks += 1
        return [(token, math.log(share)) for token, share in self.following.get(text, {}).items()]


def test_one_look_is_enough_when_the_first_token_decides() -> None:
    language = Language({"": {"yes": 0.3, "y": 0.1, "no": 0.1, "maybe": 0.5}})
    assert probabilities(["yes", "no"], language) == pytest.approx([0.8, 0.2])
    assert language.looks == 1


def test_a_shared_beginning_is_followed() -> None:
    language = Language({"": {"re": 0.8, "blue": 0.2}, "re": {"fund": 0.75, "ply": 0.25}})
    assert probabilities(["refund", "reply", "blue"], language) == pytest.approx([0.6, 0.2, 0.2])
    assert language.looks == 2


def test_a_label_that_begins_another_is_told_from_it_by_what_ends_it() -> None:
    language = Language({"": {"1": 1.0}, "1": {"}": 0.75, "0": 0.25}})
    assert probabilities(["1}", "10}"], language) == pytest.approx([0.75, 0.25])


def test_a_token_may_go_beyond_the_end_of_a_label() -> None:
    language = Language({"": {'a"}\n': 0.5, 'b"': 0.5}})
    assert probabilities(['a"}', 'b"}'], language) == pytest.approx([0.5, 0.5])


def test_an_unlikely_shared_beginning_is_not_worth_a_look() -> None:
    language = Language({"": {"neutral": 0.6, "negative": 0.395, "ne": 0.005}})
    probabilities(["neutral", "negative"], language)
    assert language.looks == 1


def test_labels_that_are_out_of_sight_are_equally_likely() -> None:
    assert probabilities(["a", "b"], Language({"": {"zebra": 1.0}})) == pytest.approx([0.5, 0.5])


letters = st.text("ab", min_size=1, max_size=6)


@given(st.lists(letters.map(lambda text: text + "}"), min_size=2, max_size=8, unique=True), st.data())
def test_probabilities_add_up_to_one_and_the_looks_are_limited(
    labels: list[str], data: st.DataObject
) -> None:
    class Anything(dict[str, Any]):
        def get(self, text: str, default: Any = None) -> Any:
            shares = data.draw(st.lists(st.floats(0.001, 1), min_size=4, max_size=4))
            return dict(zip(("a", "b", "ab", "}"), shares, strict=True))

    language = Language(Anything())
    found = probabilities(labels, language)
    assert sum(found) == pytest.approx(1)
    assert min(found) >= 0
    assert language.looks <= MOST_LOOKS


@pytest.mark.parametrize(
    "schema",
    [
        fields(value={"type": "string"}),
        fields(answer={"type": "boolean"}),
        fields(value={"enum": ["only"]}),
        fields(value={"enum": list(range(33))}),
        fields(value={"enum": [1, "1"]}),
        fields(value={"anyOf": [{"enum": ["a"]}, {"type": "integer"}]}),
        fields(value={"type": "boolean"}, why={"type": "string"}),
        {"type": "object", "properties": {"value": {"type": "boolean"}}},
        {"enum": ["a", "b"]},
    ],
)
def test_what_is_no_closed_choice_is_written_instead(schema: dict[str, Any]) -> None:
    assert choice_of(schema) is None


def test_texts_share_their_quote_with_the_beginning() -> None:
    choice = choice_of(fields(value={"enum": ["a", "b"]}))
    assert choice is not None
    assert (choice.beginning, choice.candidates) == ('{"value": "', ('a"}', 'b"}'))
    mixed = choice_of(fields(value={"enum": ["a", 1, None]}))
    assert mixed is not None
    assert (mixed.beginning, mixed.candidates) == ('{"value": ', ('"a"}', "1}", "null}"))
    assert mixed.labels == ("a", "1", "null")
