"""Malformed JSON, with and without the optional package json-repair: PAR-09, PAR-16, PAR-21."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import pytest

from outputparsers import OutputParsingError, output_parser

installed = pytest.mark.skipif(find_spec("json_repair") is None, reason="json-repair is not installed")


@dataclass
class Score:
    v: float
    n: str


@dataclass
class Report:
    codes: list[str]
    meta: dict[str, Any]


REPAIRABLE: list[tuple[Any, str, object]] = [
    (Score, '{"v": 1.0, "n": "a,]}",}', Score(1.0, "a,]}")),
    (Score, "{'v': 1.0, 'n': \"it's\"}", Score(1.0, "it's")),
    (Score, 'So: {"v": 1.0 "n": "x"} there', Score(1.0, "x")),
    (Report, "{'codes': ['a'], 'meta': {'id': None, 'ok': True}}", Report(["a"], {"id": None, "ok": True})),
    (list[str], '["a", "b",]', ["a", "b"]),
]

BEYOND_REPAIR: list[tuple[Any, str]] = [
    (Score, '{"v": NaN, "n": "a"}'),
    (Score, '{"v": 1.0, "n": "abc'),
    (Score, '{"v": 1.0, "n": "abc",'),
    (Score, '{"v": 1,234, "n": "abc"}'),
    (Score, '{v: 1.0, n: "abc"}'),
    (Score, '{"v": 1.0, "n": None}'),
    (dict[str, str], '{"reason": "price will rise”}'),
    (dict[str, str], '{"a": None}'),
    (dict[str, Any], '{"a": NaN, "b": 1}'),
    (dict[str, Any], '{"a": some words}'),
]


@installed
@pytest.mark.parametrize(("type_", "text", "value"), REPAIRABLE)
def test_punctuation_is_repaired(type_: Any, text: str, value: object) -> None:
    assert output_parser(type_).parse(text) == value


@pytest.mark.parametrize(("type_", "text"), BEYOND_REPAIR)
def test_words_are_never_invented_dropped_or_changed(type_: Any, text: str) -> None:
    with pytest.raises(OutputParsingError):
        output_parser(type_).parse(text)


@pytest.mark.parametrize(("type_", "text", "value"), REPAIRABLE)
def test_without_the_package_malformed_json_is_a_failure(
    type_: Any, text: str, value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "json_repair", None)
    with pytest.raises(OutputParsingError):
        output_parser(type_).parse(text)
