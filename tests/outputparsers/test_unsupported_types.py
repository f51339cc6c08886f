"""Types no parser can be built for, and what the error says: SCH-07, SCH-14, SCH-17, SCH-25, PAR-28."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

import pytest
from pydantic import AliasChoices, AliasPath, BaseModel, ConfigDict, Field

from outputparsers import UnsupportedTypeError, output_parser

if TYPE_CHECKING:
    from decimal import Decimal as Money

T = TypeVar("T")


class A(BaseModel):
    a: int


class B(BaseModel):
    b: int


class Empty(Enum):
    pass


class Box(BaseModel, Generic[T]):
    content: T


class Holder(Generic[T]):
    pass


class WithBytes(BaseModel):
    data: bytes


class WithLock(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    lock: threading.Event


class WithPath(BaseModel):
    name: str = Field(validation_alias=AliasPath("names", 0))


class WithChoices(BaseModel):
    name: str = Field(validation_alias=AliasChoices(AliasPath("names", 0), "name"))


@dataclass
class Paying:
    amount: Money


class Kinds(BaseModel):
    kinds: list[(A, B)]  # type: ignore[misc, type-arg, unused-ignore]


def function() -> int:
    """Return nothing."""
    return 0


CASES: list[tuple[Any, str]] = [
    (Any, "Any says nothing"),
    (object, "object says nothing"),
    (None, "None alone"),
    (type(None), "None alone"),
    (function, "function.*write the type it returns"),
    (lambda: 0, "function"),
    (len, "function"),
    (math, "math is a module"),
    (Callable[[int], str], "function"),
    (Iterator[int], r"list\[...\]"),
    (type[A], "Enum or a Literal"),
    (bytes, "bytes.*write str"),
    (list[bytes], "bytes.*write str"),
    (WithBytes, "bytes.*write str"),
    (WithLock, "Event"),
    (threading.Event, "Event.*dataclass"),
    (threading.Lock, "Lock|lock"),
    (list[T], r"list\[.?T\]"),  # type: ignore[valid-type]
    (Box, "Box leaves .*T open.*Box.int"),
    (Holder, "Holder"),
    (list[(A, B)], r"list takes 1 argument.*\(A, B\).*list\[A \| B\]"),  # type: ignore[misc, type-arg, unused-ignore]
    (dict[str, list[(A, B)]], r"list\[A \| B\]"),  # type: ignore[misc, type-arg, unused-ignore]
    (set[(int, str)], r"set\[int \| str\]"),  # type: ignore[misc]
    (Kinds, r"list\[A \| B\]"),
    (Empty, "Empty has no members"),
    (A | Empty, "Empty has no members"),
    (list[Empty], "Empty has no members"),
    (Literal[()], "Literal without members"),
    (A | Literal[()], "Literal without members"),
    (Literal[b"x"], "Literal of bytes.*write its members as texts"),
    (list[Literal["x", b"x"]], "Literal of bytes"),
    (WithPath, "AliasPath.*write a plain alias"),
    (Paying, "Paying.*Money.*TYPE_CHECKING"),
    ("Nowhere", "Nowhere"),
]


@pytest.mark.parametrize(("type_", "message"), CASES)
def test_a_type_without_possible_answers_is_refused_with_a_remedy(type_: Any, message: str) -> None:
    with pytest.raises(UnsupportedTypeError, match=message):
        output_parser(type_)


def test_refusals_are_type_errors() -> None:
    assert issubclass(UnsupportedTypeError, TypeError)


def test_the_first_plain_alias_of_several_is_used() -> None:
    parser = output_parser(WithChoices)
    assert parser.json_schema()["properties"].keys() == {"name"}  # type: ignore[index]
    assert parser.parse('{"name": "x"}') == WithChoices.model_validate({"name": "x"})


def test_names_local_to_the_caller_are_found() -> None:
    @dataclass
    class Inner:
        x: int

    @dataclass
    class Outer:
        inner: Inner

    assert output_parser(Outer).parse('{"inner":{"x":1}}') == Outer(Inner(1))


def test_names_can_be_given_when_nobody_else_knows_them() -> None:
    from decimal import Decimal

    parser = output_parser(Paying, namespace={"Money": Decimal})
    assert parser.parse('{"amount":"9.90"}').amount == Decimal("9.90")


def test_a_name_defined_later_is_found_when_the_parser_is_built() -> None:
    @dataclass
    class Asking:
        answer: Later

    @dataclass
    class Later:
        n: int

    assert output_parser(Asking).parse('{"answer":{"n":1}}') == Asking(Later(1))
