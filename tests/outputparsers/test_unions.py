"""Answers for unions: rows 145 to 156, SCH-13, SCH-19, SCH-32, PAR-28."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Discriminator, Field, Tag

from outputparsers import AmbiguousUnionWarning, OutputParsingError, UnsupportedTypeError, output_parser


class Dog(BaseModel):
    type: Literal["Dog"]
    name: str
    breed: str = ""


class Cat(BaseModel):
    type: Literal["Cat"]
    name: str
    indoor: bool = True


class Ping(BaseModel):
    type: Literal["Ping"]


Pet = Annotated[Dog | Cat | Ping, Field(discriminator="type")]


class Circle(BaseModel):
    kind: Literal["circle"]
    radius: float


class Square(BaseModel):
    kind: Literal["square"]
    side: float


class Car(BaseModel):
    type: Literal["Car"]


class Train(BaseModel):
    type: Literal["Train"]
    cars: int


class Boat(BaseModel):
    type: Literal["Boat"]


Land = Annotated[Car | Train, Field(discriminator="type")]
Vehicle = Annotated[Land | Boat, Field(discriminator="type")]


class Owner(BaseModel):
    name: str
    pet: Pet


def _animal_tag(value: Any) -> str:
    tag = value.get("type") if isinstance(value, dict) else value.type
    return tag if tag in ("Dog", "Cat") else "Dog"


class AnyDog(BaseModel):
    type: str = "Dog"
    name: str


Defaulting = Annotated[
    Annotated[AnyDog, Tag("Dog")] | Annotated[Cat, Tag("Cat")],
    Discriminator(_animal_tag),
]

REX = Dog(type="Dog", name="Rex", breed="Labrador")
TOM = Cat(type="Cat", name="Tom")
REX_JSON = '{"type":"Dog","name":"Rex","breed":"Labrador"}'
TOM_JSON = '{"type":"Cat","name":"Tom","indoor":true}'


@pytest.mark.parametrize(
    ("type_", "text", "value"),
    [
        (Pet, f'{{"value":{REX_JSON}}}', REX),
        (Pet, TOM_JSON, TOM),
        (Pet, f"Here: {TOM_JSON}.", TOM),
        (Pet, f"```json\n{TOM_JSON}\n```", TOM),
        (list[Pet], f'{{"values":[{REX_JSON},{TOM_JSON}]}}', [REX, TOM]),
        (list[Pet], f"[{REX_JSON},{TOM_JSON}]", [REX, TOM]),
        (
            Annotated[Circle | Square, Field(discriminator="kind")],
            '{"value":{"kind":"circle","radius":2.5}}',
            Circle(kind="circle", radius=2.5),
        ),
        (Circle | Square, '{"kind":"square","side":1}', Square(kind="square", side=1)),
        (Pet, '{"value":{"type":"Ping"}}', Ping(type="Ping")),
        (Vehicle, '{"value":{"type":"Train","cars":12}}', Train(type="Train", cars=12)),
        (Owner, f'{{"name":"Alice","pet":{REX_JSON}}}', Owner(name="Alice", pet=REX)),
        (Defaulting, '{"type":"Hamster","name":"H"}', AnyDog(type="Hamster", name="H")),
        (Defaulting, '{"name":"H"}', AnyDog(name="H")),
    ],
)
def test_the_discriminator_chooses_the_arm_wrapped_or_not(type_: Any, text: str, value: object) -> None:
    assert output_parser(type_).parse(text) == value


@pytest.mark.parametrize(
    "text", ['{"type":"Hamster","name":"H"}', '{"name":"H"}', '{"value":{"type":"Hamster"}}']
)
def test_an_unknown_or_missing_discriminator_is_refused(text: str) -> None:
    with pytest.raises(OutputParsingError, match="Failed to parse"):
        output_parser(Pet).parse(text)


def test_an_unknown_tag_is_answered_with_the_known_ones() -> None:
    with pytest.raises(OutputParsingError, match="'Dog', 'Cat', 'Ping'"):
        output_parser(Owner).parse('{"name":"A","pet":{"type":"cow"}}')


def test_paths_do_not_mention_the_tag_of_an_arm() -> None:
    with pytest.raises(OutputParsingError, match=r": pet\.name: Field required"):
        output_parser(Owner).parse('{"name":"A","pet":{"type":"Dog"}}')


class Abstract(ABC):
    """A class without fields."""

    @abstractmethod
    def go(self) -> None:
        """Go."""


class AbstractModel(BaseModel, ABC):
    """A model that cannot be made."""

    @abstractmethod
    def go(self) -> None:
        """Go."""


@pytest.mark.parametrize("type_", [Abstract, AbstractModel, list[AbstractModel]])
def test_an_abstract_class_is_refused_with_the_remedy(type_: Any) -> None:
    with pytest.raises(UnsupportedTypeError, match=r"Abstract.*union of its subclasses"):
        output_parser(type_)


class Channel(BaseModel):
    id: str = Field(pattern="^C")


class User(BaseModel):
    id: str = Field(pattern="^U")


def test_similar_arms_keep_the_values_as_they_are() -> None:
    assert output_parser(list[str] | list[int]).parse("[1,2]") == [1, 2]
    answer = '[{"id":"C7"},{"id":"U9"}]'
    assert output_parser(list[User | Channel]).parse(answer) == [Channel(id="C7"), User(id="U9")]


@pytest.mark.parametrize(
    ("type_", "text", "value"),
    [
        (int | str, "42", 42),
        (int | str, '"42"', "42"),
        (int | str, "forty-two", "forty-two"),
        (str | int, '{"value": 42}', 42),
        (int | float, "1.5", 1.5),
        (int | float, "1", 1),
        (float | int, "1", 1),
        (bool | int, "true", True),
        (bool | int, "1", 1),
        (str | None, "null", None),
        (str | None, "some text", "some text"),
        (list[int] | int, "[1]", [1]),
        (Dog | str, "no dog here", "no dog here"),
        (Dog | str, f"Found it: {REX_JSON}", REX),
    ],
)
def test_scalar_arms_are_chosen_by_the_json_type(type_: Any, text: str, value: object) -> None:
    parsed = output_parser(type_).parse(text)
    assert parsed == value
    assert type(parsed) is type(value)


def test_a_cut_off_answer_is_no_text_either() -> None:
    with pytest.raises(OutputParsingError, match="cut off"):
        output_parser(str | int).parse('{"value": "hel')


class Base(BaseModel):
    message: str


class Calendar(Base):
    slots: list[datetime] = []
    action: Literal["book", "move"] | None = None


@pytest.mark.parametrize("type_", [Base | Calendar, Calendar | Base])
def test_a_base_class_never_swallows_the_fields_of_a_derived_one(type_: Any) -> None:
    parser = output_parser(type_)
    full = parser.parse('{"message":"m","slots":["2025-02-27T14:00:00Z"],"action":"book"}')
    assert full == Calendar(message="m", slots=[datetime(2025, 2, 27, 14, tzinfo=UTC)], action="book")


def test_an_answer_that_fits_both_arms_is_the_first_of_them() -> None:
    assert type(output_parser(Base | Calendar).parse('{"message":"m"}')) is Base
    assert type(output_parser(Calendar | Base).parse('{"message":"m"}')) is Calendar


class Feedback(BaseModel):
    approved: bool
    notes: list[str]
    score: float


class Failed(BaseModel):
    pass


@dataclass
class Nothing:
    pass


@pytest.mark.parametrize(
    "type_", [Feedback | Failed, Failed | Feedback, Feedback | Nothing, Nothing | Feedback]
)
def test_an_arm_without_fields_never_swallows_an_incomplete_answer(type_: Any) -> None:
    parser = output_parser(type_)
    with pytest.raises(OutputParsingError, match=r": (value.)?score: Field required") as caught:
        parser.parse('{"approved": true, "notes": []}')
    assert len(caught.value.problems) == 1
    with pytest.raises(OutputParsingError, match="notes: Field required; score: Field required"):
        parser.parse('{"approved": true}')
    with pytest.raises(OutputParsingError, match="score: Field required"):
        parser.parse('{"value": {"approved": true, "notes": []}}')
    complete = parser.parse('{"approved": true, "notes": [], "score": 0.9}')
    assert complete == Feedback(approved=True, notes=[], score=0.9)
    assert parser.parse("{}") in (Failed(), Nothing())
    assert parser.parse('{"value": {}}') in (Failed(), Nothing())
    with pytest.raises(OutputParsingError, match="foo: "):
        parser.parse('{"foo": 1}')


def test_arms_are_closed_inside_fields_and_collections_too() -> None:
    class Report(BaseModel):
        outcome: Feedback | Failed
        history: list[Feedback | Failed] = []

    parser = output_parser(Report)
    with pytest.raises(OutputParsingError, match=r"outcome.score: Field required"):
        parser.parse('{"outcome": {"approved": true, "notes": []}}')
    with pytest.raises(OutputParsingError, match=r"history\[1\].score: Field required"):
        parser.parse('{"outcome": {}, "history": [{}, {"approved": true, "notes": []}]}')
    assert parser.parse('{"outcome": {}, "more": 1}') == Report(outcome=Failed())


class Tree(BaseModel):
    children: list[Tree | Leaf]


class Leaf(BaseModel):
    text: str = ""


def test_recursive_arms_are_closed_once_and_for_all() -> None:
    parser = output_parser(Tree | Leaf)
    tree = parser.parse('{"children":[{"children":[]},{"text":"a"},{}]}')
    assert tree == Tree(children=[Tree(children=[]), Leaf(text="a"), Leaf()])
    with pytest.raises(OutputParsingError):
        parser.parse('{"children":[{"childen":[]}]}')


def test_the_schema_tells_the_arms_apart() -> None:
    schema = output_parser(Feedback | Failed).json_schema()
    assert schema is not None
    arms = schema["properties"]["value"]["anyOf"]
    assert [arm["additionalProperties"] for arm in arms] == [False, False]
    assert [sorted(arm["properties"]) for arm in arms] == [["approved", "notes", "score"], []]


class Twin(BaseModel):
    """Has the same fields as Base."""

    message: str


def test_two_arms_nobody_can_tell_apart_are_warned_about() -> None:
    with pytest.warns(AmbiguousUnionWarning, match="Base from Twin"):
        output_parser(Base | Twin)
    with pytest.warns(AmbiguousUnionWarning, match="Base from Twin"):
        output_parser(list[Base | Twin])


def test_every_missing_kind_is_named_when_no_arm_is_near() -> None:
    with pytest.raises(OutputParsingError, match=r"valid integer.*valid boolean"):
        output_parser(int | bool).parse('{"value": [1]}')
