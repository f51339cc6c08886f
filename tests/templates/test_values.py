"""How values read in a prompt: the same on every Python, and never an address in memory."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from collections import OrderedDict, UserList, deque
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, Flag, IntEnum, StrEnum
from fractions import Fraction
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, TypedDict
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, SecretStr

from aiservices.templates import UnrenderableError, text_of


class Mixed(str, Enum):  # noqa: UP042 - its `str` differs between the versions of Python
    RED = "red"


class Level(IntEnum):
    LOW = 1


class Plain(Enum):
    BIG = "größe"
    NESTED = Mixed.RED
    PAIR = (1, "a")


class Way(StrEnum):
    UP = "up"


class Right(Flag):
    READ = 1
    WRITE = 2


@dataclass
class Person:
    name: str
    born: date | None = None
    tags: set[str] = field(default_factory=set)

    def __str__(self) -> str:
        return "not this"


class Model(BaseModel):
    name: str
    secret: SecretStr = SecretStr("hidden")
    born: date | None = None


class Point(NamedTuple):
    x: int
    y: float


class Movie(TypedDict):
    title: str


class Spoken:
    def __str__(self) -> str:
        return "test123"


class Shown:
    def __repr__(self) -> str:
        return "Shown()"


class Subtext(str):
    __slots__ = ()

    def __str__(self) -> str:
        return f"<{super().__str__()}>"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("text", "text"),
        (Subtext("text"), "<text>"),
        (None, ""),
        (Mixed.RED, "red"),
        (Level.LOW, "1"),
        (Plain.BIG, "größe"),
        (Plain.NESTED, "red"),
        (Plain.PAIR, '[1,"a"]'),
        (Way.UP, "up"),
        (Right.READ | Right.WRITE, "3"),
        (1e16, "1e+16"),
        (0.1 + 0.2, "0.30000000000000004"),
        (1.0, "1.0"),
        (float("nan"), "nan"),
        (10**40, "1" + "0" * 40),
        (Decimal("10.50"), "10.50"),
        (Fraction(1, 3), "1/3"),
        (True, "true"),
        (False, "false"),
        (date(2024, 2, 29), "2024-02-29"),
        (time(9, 5), "09:05:00"),
        (datetime(2024, 2, 29, 9, 5, tzinfo=UTC), "2024-02-29T09:05:00+00:00"),
        (datetime(2024, 2, 29, tzinfo=timezone(timedelta(hours=2))), "2024-02-29T00:00:00+02:00"),
        (timedelta(days=1, seconds=2), "1 day, 0:00:02"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (PurePosixPath("a/b"), "a/b"),
        (Spoken(), "test123"),
        (Shown(), "Shown()"),
        (ValueError("went wrong"), "went wrong"),
        (["a", None, True, 1.5, Mixed.RED], '["a",null,true,1.5,"red"]'),
        (("größe", date(2024, 2, 29), Decimal("1.0")), '["größe","2024-02-29","1.0"]'),
        ([float("inf"), float("nan")], '["inf","nan"]'),
        (
            {1: {"b", "a"}, Mixed.RED: [Path("x")], None: 1},
            '{"1":["a","b"],"red":["x"],"":1}',
        ),
        (OrderedDict(b=1, a=2), '{"b":1,"a":2}'),
        ({"b", "a", "c"}, '["a","b","c"]'),
        (frozenset({Level.LOW, 10, 9}), "[1,10,9]"),
        (deque([1, 2]), "[1,2]"),
        (UserList(["a"]), '["a"]'),
        ({"a": 1}.keys(), '["a"]'),
        ({"a": 1}.values(), "[1]"),
        (range(3), "[0,1,2]"),
        (Person("Ana", date(2000, 1, 2), {"z", "y"}), '{"name":"Ana","born":"2000-01-02","tags":["y","z"]}'),
        ([Person("Ana")], '[{"name":"Ana","born":null,"tags":[]}]'),
        (Model(name="Ana"), '{"name":"Ana","secret":"**********","born":null}'),
        (
            {"m": Model(name="A", born=date(2000, 1, 2))},
            '{"m":{"name":"A","secret":"**********","born":"2000-01-02"}}',
        ),
        (Point(1, 2.0), '{"x":1,"y":2.0}'),
        (Movie(title="Ran"), '{"title":"Ran"}'),
        ([], "[]"),
        ({}, "{}"),
    ],
    ids=repr,
)
def test_a_value_reads(value: object, text: str) -> None:
    """TPL-14, TPL-08"""
    assert text_of(value) == text


def _own_method() -> Any:
    return Spoken().__str__


cyclic: list[object] = []
cyclic.append(cyclic)


@pytest.mark.parametrize(
    "value",
    [
        b"x",
        bytearray(b"x"),
        memoryview(b"x"),
        object(),
        lambda: None,
        test_a_value_reads,
        _own_method(),
        (item for item in ()),
        iter([]),
        map(str, []),
        functools.partial(_own_method),
        [object()],
        [b"x"],
        {"a": {"b": [object()]}},
        {b"k": 1},
        cyclic,
        deque([object()]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_value_without_a_text_form_is_refused(value: object) -> None:
    """TPL-14: never a `<... object at 0x...>`."""
    with pytest.raises(UnrenderableError, match="pass a str"):
        text_of(value)


def test_a_class_is_no_instance_of_itself() -> None:
    assert "Person" in text_of(Person)
    assert "Model" in text_of(Model)


def test_a_number_of_another_library_reads_as_a_number() -> None:
    class Float64(float):
        def __repr__(self) -> str:
            return f"np.float64({float(self)})"

    class Int(int):
        def __repr__(self) -> str:
            return f"np.int({int(self)})"

    assert text_of(Float64(1.5)) == "1.5"
    assert text_of([Float64(1.5), Int(2)]) == "[1.5,2]"
    assert text_of(Int(2)) == "2"


scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.decimals(allow_nan=False)
    | st.dates()
    | st.datetimes()
    | st.uuids()
    | st.sampled_from([*Mixed, *Level, *Plain, *Way])
    | st.builds(Person, st.text(), st.none() | st.dates(), st.sets(st.text()))
    | st.builds(Model, name=st.text())
)
hashables = (
    st.none() | st.booleans() | st.integers() | st.text() | st.dates() | st.sampled_from([*Mixed, *Plain])
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(st.text() | st.integers() | st.sampled_from(Mixed), inner)
        | st.sets(hashables)
        | st.frozensets(hashables)
    ),
    max_leaves=12,
)


@given(values)
def test_any_supported_value_has_a_stable_text_without_an_address(value: object) -> None:
    text = text_of(value)
    assert text_of(value) == text
    assert " object at 0x" not in text


def test_the_text_of_a_set_is_the_same_in_every_process() -> None:
    program = "from aiservices.templates import text_of; print(text_of([{'a', 'b', 'c', 1, '1', 2.5, None}]))"
    texts = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
            encoding="utf-8",
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert texts == {'[[null,1,"1",2.5,"a","b","c"]]\n'}
