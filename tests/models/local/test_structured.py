"""Answers of a given shape, and the probabilities of labels."""

import json
from typing import Any

import jsonschema
import pytest

from aiservices.errors import ServerError
from aiservices.messages import ChatRequestParameters, FinishReason, PartialText, ResponseDone
from aiservices.models.local import LocalChatModel
from tests.models.local.asking import fields, fill

SENTIMENTS = ["positive", "neutral", "negative"]


@pytest.mark.parametrize(
    "schema",
    [
        fields(name={"type": "string"}, age={"type": "integer"}),
        fields(tags={"type": "array", "items": {"type": "string", "maxLength": 8}, "maxItems": 3}),
        fields(price={"type": "number", "minimum": 0}, paid={"type": "boolean"}),
        fields(day={"type": "string", "format": "date"}, code={"type": "string", "pattern": "^[A-Z]{3}$"}),
        fields(
            pet={"anyOf": [fields(kind={"const": "cat"}), fields(kind={"const": "dog"}), {"type": "null"}]}
        ),
        {**fields(home={"$ref": "#/$defs/Town"}), "$defs": {"Town": fields(town={"type": "string"})}},
        {"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 1, "maxItems": 3},
    ],
    ids=lambda schema: next(iter(schema.get("properties", {"array": 0}))),
)
def test_an_answer_fits_its_schema(model: LocalChatModel, schema: dict[str, Any]) -> None:
    response = model.chat(fill("Anna Schmidt, 36, of Berlin has a cat.", schema))
    assert response.finish_reason is FinishReason.STOP
    jsonschema.validate(json.loads(response.text or ""), schema)


def test_answers_of_a_shape_are_the_same_every_time(model: LocalChatModel) -> None:
    request = fill("Invent a person.", fields(name={"type": "string", "maxLength": 20}))
    assert model.chat(request).text == model.chat(request).text


def test_an_answer_that_has_no_end_is_cut_off_and_says_so(model: LocalChatModel) -> None:
    numbers = {"type": "array", "items": {"type": "integer"}, "minItems": 5000}
    short = ChatRequestParameters(max_output_tokens=20)
    response = model.chat(fill("Count.", fields(numbers=numbers), parameters=short))
    assert response.finish_reason is FinishReason.LENGTH


def test_a_schema_that_the_decoder_drops_is_an_error_and_not_free_text(model: LocalChatModel) -> None:
    with pytest.raises(ServerError, match="did not keep to the schema"):
        model.chat(fill("Say hello.", fields(x={"type": "string", "pattern": "([unclosed"})))


def test_an_enum_is_answered_by_its_likeliest_label(model: LocalChatModel) -> None:
    request = fill("Analyze the sentiment of: I love it!", fields(value={"enum": SENTIMENTS}))
    response = model.chat(request)
    likely = response.label_probabilities
    assert likely is not None
    assert list(likely) == SENTIMENTS
    assert sum(likely.values()) == pytest.approx(1)
    assert json.loads(response.text or "") == {"value": "positive"}
    assert likely["positive"] == max(likely.values()) > 0.5
    assert response.usage.output <= 3


@pytest.mark.parametrize(
    ("schema", "labels"),
    [
        ({"type": "boolean"}, {"true": True, "false": False}),
        ({"enum": [1, 2, 10], "type": "integer"}, {"1": 1, "2": 2, "10": 10}),
        (
            {"anyOf": [{"const": "yes"}, {"const": "no"}, {"type": "null"}]},
            {"yes": "yes", "no": "no", "null": None},
        ),
        ({"$ref": "#/$defs/C"}, {"red": "red", "reddish": "reddish"}),
    ],
    ids=["bool", "int", "literal", "reference"],
)
def test_every_closed_choice_has_probabilities(
    model: LocalChatModel, schema: dict[str, Any], labels: dict[str, Any]
) -> None:
    shape = {**fields(value=schema), "$defs": {"C": {"enum": ["red", "reddish"]}}}
    response = model.chat(fill("Is water wet?", shape))
    likely = dict(response.label_probabilities or {})
    assert likely.keys() == labels.keys()
    assert sum(likely.values()) == pytest.approx(1)
    best = max(likely, key=lambda label: likely[label])
    assert json.loads(response.text or "") == {"value": labels[best]}


def test_a_choice_streams_as_one_piece(model: LocalChatModel) -> None:
    piece, done = model.stream(fill("Is water wet?", fields(value={"type": "boolean"})))
    assert isinstance(piece, PartialText)
    assert isinstance(done, ResponseDone)
    assert piece.text == done.response.text


def test_json_streams_while_it_is_written(model: LocalChatModel) -> None:
    *pieces, done = model.stream(fill("Invent a cat.", fields(name={"type": "string", "maxLength": 12})))
    assert isinstance(done, ResponseDone)
    assert len(pieces) > 2
    assert "".join(piece.text for piece in pieces if isinstance(piece, PartialText)) == done.response.text
