"""Types users add."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from outputparsers import OutputParser, OutputParsingError, Problem, output_parser, register_parser, registry


@pytest.fixture(autouse=True)
def forgetting() -> Iterator[None]:
    """Leaves the registry as it was."""
    classes, predicates = dict(registry._classes), list(registry._predicates)
    yield
    registry._classes.clear()
    registry._classes.update(classes)
    registry._predicates[:] = predicates


class Money:
    """A class pydantic knows nothing about."""

    def __init__(self, cents: int) -> None:
        self.cents = cents


class Euros(Money):
    pass


@dataclass(frozen=True)
class MoneyParser:
    """Answers like `12.50 EUR`."""

    type: Any
    schema_name: str = "money"
    strict: bool = False
    labels: None = None

    def json_schema(self) -> None:
        return None

    def format_instructions(self) -> str:
        return "Answer with an amount such as 12.50 EUR."

    def parse(self, text: str | None) -> Any:
        try:
            return self.type(round(float((text or "").removesuffix(" EUR")) * 100))
        except ValueError as error:
            raise OutputParsingError(text, "Money", [Problem("", str(error))]) from error

    def parse_partial(self, text: str) -> None:
        return None

    def label_of(self, value: object) -> None:
        return None

    def render(self, value: Any) -> str:
        return f"{value.cents / 100:.2f} EUR"


def test_a_registered_class_is_parsed_its_own_way() -> None:
    register_parser(Money, MoneyParser)
    parser = output_parser(Money)
    assert parser.parse("12.50 EUR").cents == 1250
    assert parser.render(Money(5)) == "0.05 EUR"


def test_subclasses_are_parsed_like_their_nearest_registered_class() -> None:
    register_parser(Money, MoneyParser)
    assert type(output_parser(Euros).parse("1 EUR")) is Euros
    register_parser(Euros, lambda type_: MoneyParser(type_, schema_name="euros"))
    assert output_parser(Euros).schema_name == "euros"
    assert output_parser(Money).schema_name == "money"


def test_a_predicate_is_asked_when_no_class_matches() -> None:
    register_parser(lambda type_: type_ == list[Money], lambda _: MoneyParser(Money, schema_name="many"))
    assert output_parser(list[Money]).schema_name == "many"
    assert output_parser(list[int]).schema_name == "List_of_integer"


def test_the_newest_predicate_is_asked_first() -> None:
    register_parser(lambda type_: type_ is Money, lambda _: MoneyParser(Money, schema_name="old"))
    register_parser(lambda type_: type_ is Money, lambda _: MoneyParser(Money, schema_name="new"))
    assert output_parser(Money).schema_name == "new"


def test_a_built_in_type_can_be_replaced() -> None:
    register_parser(int, lambda type_: MoneyParser(type_, schema_name="cents"))
    assert output_parser(int).schema_name == "cents"


def test_registering_does_not_keep_a_class_alive() -> None:
    def register() -> weakref.ref[type]:
        local = type("Local", (Money,), {})
        register_parser(local, MoneyParser)
        return weakref.ref(local)

    gone = register()
    gc.collect()
    assert gone() is None


def test_a_parser_can_be_told_from_other_objects() -> None:
    assert isinstance(output_parser(int), OutputParser)
    assert not isinstance(int, OutputParser)
