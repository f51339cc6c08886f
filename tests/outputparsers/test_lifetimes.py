"""Parsers cost little to build and keep nothing alive: SCH-33."""

from __future__ import annotations

import gc
import subprocess
import sys
import time
import weakref
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, TypeAdapter

from outputparsers import output_parser


class Ordinary(BaseModel):
    name: str
    age: int
    tags: list[str]
    score: float
    email: str | None = None


def handler(extra: bool) -> tuple[object, list[str], weakref.ref[type]]:
    """Defines its answer class anew each time, twice under one name."""

    annotations = {"b": str} if extra else {"a": int}
    R: Any = type("R", (BaseModel,), {"__annotations__": annotations, "__module__": __name__})  # noqa: N806
    parser = output_parser(R)
    schema = parser.json_schema()
    assert schema is not None
    answer = parser.parse('{"b":"x"}' if extra else '{"a":1}')
    assert type(answer) is R
    parser.parse_partial('{"a"')
    return answer.model_dump(), list(schema["properties"]), weakref.ref(R)


def test_short_lived_classes_go_and_each_has_its_own_schema() -> None:
    seen = [handler(extra=bool(number % 2)) for number in range(100)]
    assert [names for _, names, _ in seen] == [["a"], ["b"]] * 50
    assert [answer for answer, _, _ in seen] == [{"a": 1}, {"b": "x"}] * 50
    gc.collect()
    assert sum(alive() is not None for _, _, alive in seen) <= 2


def best_of(rounds: int, work: Callable[[], object]) -> float:
    """Seconds of the processor the fastest round took."""
    times = []
    for _ in range(rounds):
        start = time.process_time_ns()
        work()
        times.append(time.process_time_ns() - start)
    return min(times) / 1e9


def test_building_a_parser_costs_a_few_times_what_pydantic_takes_for_the_schema_alone() -> None:
    """About 0.6 ms for five fields on an idle machine; a ratio, because tests run on busy ones."""
    schema_alone = best_of(30, lambda: TypeAdapter(Ordinary).json_schema())
    assert best_of(30, lambda: output_parser(Ordinary)) < 5 * schema_alone


def test_a_right_answer_costs_about_as_much_as_validating_it() -> None:
    text = '{"name":"Ana","age":3,"tags":["a","b"],"score":0.5,"email":null}'
    parser, validate = output_parser(Ordinary), TypeAdapter(Ordinary).validator.validate_json

    def repeat(work: Callable[[str], object]) -> float:
        return best_of(20, lambda: [work(text) for _ in range(500)]) / 500

    assert repeat(parser.parse) - repeat(validate) < 3e-6


def test_the_package_needs_nothing_of_ours_and_nothing_heavy() -> None:
    unwanted = {"aiservices", "guardrails", "jsonschema", "json_repair"}
    use = "import sys, outputparsers; outputparsers.output_parser(int).parse('3')"
    code = f"{use}; sys.exit(bool({unwanted} & {{*sys.modules}}))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
