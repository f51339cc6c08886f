"""JSON passes, JSON in words is cut out, and where there is none it is asked for."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guardrails import Accept, GuardrailRequest, JsonExtractor
from guardrails.builtin.json_extractor import ASK_FOR_JSON, extract_json
from guardrails.testing import assert_accepts, assert_reprompts, assert_rewrites

EXTRACTOR = JsonExtractor()


@pytest.mark.parametrize("text", ['{"a": 1}', "[1, 2]", ' {"a": {"b": []}}\n', '"text"', "1", "null"])
def test_json_is_accepted_as_it_is(text: str) -> None:
    assert assert_accepts(EXTRACTOR, text) == Accept()


def test_the_text_and_the_value_of_json_are_at_hand() -> None:
    found = extract_json('Here: {"name": "Ada"}.')
    assert found is not None
    assert (found.text, found.value) == ('{"name": "Ada"}', {"name": "Ada"})


@pytest.mark.parametrize(
    "text",
    [
        'Here you are: {"a": [1, "}"]} Anything else?',
        '```json\n{"a": [1, "}"]}\n```',
        'With {braces} and [brackets]: {"a": [1, "}"]}',
        '{"b"} is wrong, [1] is short, {"a": [1, "}"]} is it',
    ],
)
def test_json_is_cut_out_of_what_stands_around_it(text: str) -> None:
    assert_rewrites(EXTRACTOR, text, to='{"a": [1, "}"]}')


@pytest.mark.parametrize(
    "text", ["", "I cannot.", "{not json}", '{"a": 1', "{'a': 1}", "NaN", '{"a": NaN}', "[" * 100_000]
)
def test_without_json_it_is_asked_for(text: str) -> None:
    assert_reprompts(EXTRACTOR, text, reason="no valid JSON", prompt=ASK_FOR_JSON)


def test_the_prompt_can_be_worded() -> None:
    assert_reprompts(JsonExtractor(prompt="JSON, bitte."), "nein", prompt="JSON, bitte.")


def test_what_the_check_says_goes_back_to_the_model() -> None:
    def has_age(value: Any) -> None:
        if "age" not in value:
            raise ValueError("age is missing")

    assert_accepts(JsonExtractor(has_age), '{"age": 3}')
    reprompt = assert_reprompts(JsonExtractor(has_age), '{"name": "Ada"}', prompt="age is missing")
    assert reprompt.prompt.endswith(ASK_FOR_JSON)


def test_a_check_that_breaks_is_no_complaint_about_the_answer() -> None:
    with pytest.raises(TypeError):
        JsonExtractor(lambda value: value["age"]).validate(GuardrailRequest("[1]", "[1]"))


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(values)
def test_whatever_is_rendered_as_json_is_found(value: object) -> None:
    found = extract_json(json.dumps(value))
    assert found is not None
    assert found.value == value


@given(st.dictionaries(st.text(), values, min_size=1, max_size=3), st.text("ab {[", max_size=9))
def test_an_object_is_found_within_any_prose(value: object, before: str) -> None:
    found = extract_json(f"{before} {json.dumps(value)} and so on")
    assert found is not None
    assert found.value == value
