"""The types whose schemas are looked at, and how their parts are found."""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, NotRequired
from uuid import UUID

from pydantic import AliasChoices, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from typing_extensions import TypeAliasType, TypedDict

from outputparsers import output_parser

Json = dict[str, Any]


def never() -> int:
    """A default factory nobody may call."""
    raise AssertionError("the factory ran")


class Animal(Enum):
    CAT = "CAT"
    DOG = "DOG"


class Currency(str, Enum):  # noqa: UP042 - how people wrote it before StrEnum
    EUR = "EUR"
    USD = "USD"


@dataclass
class Person:
    name: str
    age: int | None = None


@dataclass
class Node:
    value: int
    children: list[Node]


class Twice(BaseModel):
    first: Person
    second: Person


class Invoice(BaseModel):
    total: Decimal
    cur: Currency = Currency.EUR
    note: str | None = None


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]
    bark: int


class Owner(BaseModel):
    pet: Annotated[Cat | Dog, Field(discriminator="kind")]
    tags: set[str] = set()


class Movie(TypedDict):
    title: str
    year: NotRequired[int]


class Point(NamedTuple):
    x: int
    y: int = 0


class Member(BaseModel):
    """A person who joined."""

    model_config = ConfigDict(title="Should not show")
    title: str = Field(description="how to address them", examples=["Dr"])
    default: int = 1
    home: Place = Field(description="where they live")
    work: Place | None = None
    names: Annotated[list[str], Field(description="all names", min_length=1)]


class Place(BaseModel):
    """A town."""

    town: str


class Camel(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel)
    first_name: str
    born_on: date = Field(validation_alias="born", serialization_alias="bornOn")
    nick: str = Field("", validation_alias=AliasChoices("nick", "nickName"))
    from_: str = Field("", alias="from")


class Limited(BaseModel):
    code: str = Field(pattern="^[a-z]+$", min_length=2, max_length=5)
    looking: str = Field(json_schema_extra={"pattern": "(?=x)x"})
    link: Annotated[str, Field(json_schema_extra={"format": "uri"})]
    n: int = Field(ge=1, lt=10)


Id = TypeAliasType("Id", Annotated[str, Field(max_length=8)])
Key = TypeAliasType("Key", Id)


class Keyed(BaseModel):
    k: Key = Field(description="d")


@dataclass
class Derived:
    tags: frozenset[str]
    n: int = field(default_factory=never)
    K: ClassVar[int] = 9
    raw: InitVar[str] = ""
    sum: int = field(init=False, default=0)


class Deep(BaseModel):
    left: Deep | None = None
    other: Ring | None = None


class Ring(BaseModel):
    back: Deep


EVERY: list[Any] = [
    bool,
    int,
    float,
    Decimal,
    date,
    UUID,
    Animal,
    Literal["a", 1],
    list[str],
    set[int],
    tuple[int, str],
    Person,
    Node,
    dict[str, int],
    dict[Animal, Person],
    Twice,
    Invoice,
    Owner,
    Movie,
    Point,
    Member,
    Camel,
    Limited,
    Keyed,
    Derived,
    Deep,
    list[Node],
    Node | Person,
    Person | None,
    dict[str, Any],
    list[dict[str, Any]],
    tuple[int, ...],
    dict,
]


def schema_of(type_: Any) -> Json:
    schema = output_parser(type_).json_schema()
    assert schema is not None
    return dict(schema)


def parts_of(schema: Any) -> list[Json]:
    """Every subschema, properties named like keywords included."""
    if isinstance(schema, list):
        return [part for item in schema for part in parts_of(item)]
    if not isinstance(schema, dict):
        return []
    named = [part for key in ("properties", "$defs") for part in schema.get(key, {}).values()]
    keys = ("items", "anyOf", "prefixItems", "additionalProperties", "propertyNames")
    return [
        schema,
        *(deep for part in [*named, *(schema.get(key) for key in keys)] for deep in parts_of(part)),
    ]
