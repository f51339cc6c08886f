"""Records, and finding them in what models say: rows 118 to 122 and 137 to 144, PAR-02 to PAR-27."""

from __future__ import annotations

import dataclasses
import typing
from dataclasses import dataclass, field
from datetime import date
from typing import Annotated, Any, ClassVar, Generic, Literal, NamedTuple, NotRequired, TypeVar

import pytest
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, RootModel, field_validator
from pydantic.alias_generators import to_camel
from typing_extensions import TypeAliasType, TypedDict

from outputparsers import OutputParsingError, Problem, output_parser

T = TypeVar("T")


@dataclass
class Person:
    name: str
    age: int


@dataclass
class Call:
    agent: str
    args: dict[str, str]


@dataclass
class Docs:
    ids: list[str]


@dataclass
class Log:
    log: str


@dataclass
class Tagged:
    tags: list[str]


@dataclass
class Tom:
    name: str
    extra: dict[str, Any]


@dataclass
class Outer:
    inner: Person


class Point(NamedTuple):
    x: int
    y: int = 0


class Movie(TypedDict):
    title: str
    year: NotRequired[int]


class Box(BaseModel, Generic[T]):
    content: T


class Aliased(BaseModel):
    from_: str = Field(alias="from")
    to: str


class Camel(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel)
    first_name: str
    born_on: date = Field(validation_alias="born", serialization_alias="bornOn")
    nick: str = Field("", validation_alias=AliasChoices("nick", "nickName"))


Names = RootModel[list[str]]
Id = TypeAliasType("Id", Annotated[str, Field(min_length=2)])

ANA = Person("Ana", 3)
JSON = '{"name":"Ana","age":3}'
HARMONY = '<|start|>assistant<|channel|>analysis<|message|>{"name":"No","age":0}<|end|>'

READ: list[tuple[Any, str, object]] = [
    (dict[str, str], '{"key":"value"}', {"key": "value"}),
    *((Person, text, ANA) for text in (JSON, f"  {JSON}\n", f"\ufeff{JSON}", f"\u00a0{JSON}")),
    *((Person, f"```{tag}\n{JSON}\n```", ANA) for tag in ("", "json", "JSON", "json5 ")),
    *(
        (Person, f"{before}~~~json\n{JSON}\n~~~{after}", ANA)
        for before in ("", "Sure.\n")
        for after in ("", " \nBye")
    ),
    (Person, f"Based on my research:\n```json\n{JSON}\n```\n\nHope this helps!", ANA),
    (Person, f"```json {JSON}```", ANA),
    (Docs, 'Based on…\n```json\n{"ids":["a9"]}\n```\n\nHope this helps!', Docs(["a9"])),
    (Outer, f'```\n{{"inner": {JSON}}}\n```', Outer(ANA)),
    (Person, f"prefix {JSON} suffix", ANA),
    (Person, f'foo {{"name":"A","age":1}} bar {JSON}', ANA),
    (Person, f"{JSON} for instance [1] and {{braces}}", ANA),
    (Person, f"I like {{curly braces and {JSON}", ANA),
    (Tagged, '{"tags":["a","b","[c]"]}', Tagged(["a", "b", "[c]"])),
    (
        Log,
        'Look: {"log":"Unexpected character \'}\' at position 42"}',
        Log("Unexpected character '}' at position 42"),
    ),
    (Tom, '{"name":"Tom","extra":{"k1":123,"k2":"v2"}}', Tom("Tom", {"k1": 123, "k2": "v2"})),
    (dict[str, int], '\n```JSON\n{"a":1}\n```  \n', {"a": 1}),
    (dict[str, int], '```\n{"a":1}\n```', {"a": 1}),
    (dict[str, int], '~~~json\n{"a":1}\n~~~', {"a": 1}),
    (dict[str, str], '{"md":"```py\\nx\\n```"}', {"md": "```py\nx\n```"}),
    (dict[str, str], '{"reason":"said “up” today"}', {"reason": "said “up” today"}),
    (
        Call,
        '<|channel|>final <|constrain|>json<|message|>{"agent":"stats","args":{"id":"69"}}',
        Call("stats", {"id": "69"}),
    ),
    (Person, f"{HARMONY}<|start|>assistant<|channel|>final<|message|>{JSON}<|return|>", ANA),
    (Person, f'<think>Maybe {{"name":"No","age":0}}?</think>\n{JSON}', ANA),
    (Person, f"Thinking about {{this}} …</think>{JSON}", ANA),
    (Log, '{"log":"a </think> b"}', Log("a </think> b")),
    (Person, f'{{"value": {JSON}}}', ANA),
    (Person, f'{{"response": {JSON}}}', ANA),
    (Person, '"{\\"name\\":\\"Ana\\",\\"age\\":3}"', ANA),
    (Person, '{"name":"Ana","age":"3","more":"ignored"}', ANA),
    (Point, '{"x":1}', Point(1)),
    (Point, '{"x":1,"y":2}', Point(1, 2)),
    (Movie, '{"title":"M"}', {"title": "M"}),
    (Movie, '{"title":"M","year":1931}', {"title": "M", "year": 1931}),
    (Box[int], '{"content":"3"}', Box[int](content=3)),
    (Box[list[Person]], f'{{"content":[{JSON}]}}', Box[list[Person]](content=[ANA])),
    (Aliased, '{"from":"x","to":"y"}', Aliased.model_validate({"from": "x", "to": "y"})),
    (
        Camel,
        '{"firstName":"Ana","born":"2024-01-02"}',
        Camel.model_validate({"firstName": "Ana", "born": date(2024, 1, 2)}),
    ),
    (Names, '["a","b"]', Names(["a", "b"])),
    (Id, "ab", "ab"),
    (Id, '{"value":"ab"}', "ab"),
    (Person | None, "null", None),
    (Person | None, '{"value": null}', None),
    (Person | None, JSON, ANA),
]

REFUSED: list[tuple[Any, str | None]] = [
    *(
        (dict[str, str], text)
        for text in ('"key":"value"}', '{"key":"value"', "not a json", "", None, "null", "[]")
    ),
    *(
        (Person, text)
        for text in ('{"name":"An', '{"name":"Ana","age":3', f'{JSON} and then {{"name":"B"', "Ana, 3")
    ),
    *(
        (Person, text)
        for text in (f"<think>{JSON}", "<think>hm</think>", HARMONY, "[]", "3", '"x"', f"[{JSON}]")
    ),
    *((Person, text) for text in ('{"name":"Ana"}', '{"name":null,"age":3}', '{"name":"Ana","age":"three"}')),
    (Point, "[1, 2]"),
    (Point, '{"y":1}'),
    (Id, "a"),
    (Camel, '{"first_name":"Ana","bornOn":"2024-01-02"}'),
]


@pytest.mark.parametrize(("type_", "text", "value"), READ)
def test_a_record_is_found_in_what_a_model_says(type_: Any, text: str, value: object) -> None:
    assert output_parser(type_).parse(text) == value


@pytest.mark.parametrize(("type_", "text"), REFUSED)
def test_what_is_cut_off_or_incomplete_is_refused(type_: Any, text: str | None) -> None:
    with pytest.raises(OutputParsingError, match="Failed to parse"):
        output_parser(type_).parse(text)


@pytest.mark.parametrize("text", ['"key":"value"}', '{"key":"value"', "not a json"])
def test_malformed_json_is_named_as_the_cause(text: str) -> None:
    with pytest.raises(OutputParsingError) as caught:
        output_parser(dict[str, str]).parse(text)
    assert isinstance(caught.value.__cause__, ValueError)
    assert "line 1 column" in str(caught.value.__cause__)


def test_the_last_block_that_fits_wins() -> None:
    text = 'first {"name":"A","age":1}, then {"name":"B","age":2}, such as {"foo": 1}'
    assert output_parser(Person).parse(text) == Person("B", 2)


@dataclass
class Derived:
    """The special fields of SCH-30."""

    tags: frozenset[str]
    n: int = field(default_factory=lambda: 3)
    K: ClassVar[int] = 9
    raw: dataclasses.InitVar[str] = ""
    sum: int = field(init=False, default=0)

    def __post_init__(self, raw: str) -> None:
        self.sum = self.n * 2 + len(raw)


def test_special_fields_of_dataclasses() -> None:
    """What a model says about a field it was not asked for is ignored; an init-only one may be given."""
    parser = output_parser(Derived)
    parsed = parser.parse('{"tags":["a","a"],"n":4}')
    assert (parsed.tags, parsed.n, parsed.sum) == (frozenset({"a"}), 4, 8)
    assert parser.parse('{"tags":[],"sum":99,"K":1}').sum == 6
    assert parser.parse('{"tags":[],"raw":"ab"}').sum == 8


@dataclass
class Ordered:
    a: int
    b: int

    def __post_init__(self) -> None:
        if self.a > self.b:
            raise ValueError("a must be <= b")


class Asserted(BaseModel):
    a: int

    @field_validator("a")
    @classmethod
    def small(cls, value: int) -> int:
        assert value < 3, "a must be small"
        return value


class Broken(BaseModel):
    r: Literal["a", "b"]

    @field_validator("r")
    @classmethod
    def lookup(cls, value: str) -> str:
        return {"x": value}[value]


class Interrupted(BaseModel):
    r: str

    @field_validator("r")
    @classmethod
    def interrupt(cls, value: str) -> str:
        raise KeyboardInterrupt


def test_complaints_of_validators_are_problems() -> None:
    with pytest.raises(OutputParsingError) as caught:
        output_parser(Ordered).parse('{"a":5,"b":1}')
    assert caught.value.problems == (Problem("", "a must be <= b"),)
    with pytest.raises(OutputParsingError, match="a: a must be small"):
        output_parser(Asserted).parse('{"a":5}')


def test_bugs_in_validators_surface_as_they_are() -> None:
    with pytest.raises(OutputParsingError, match="r: Input should be 'a' or 'b', got \"c\""):
        output_parser(Broken).parse('{"r":"c"}')
    with pytest.raises(KeyError):
        output_parser(Broken).parse('{"r":"a"}')
    with pytest.raises(KeyboardInterrupt):
        output_parser(Interrupted).parse('{"r":"a"}')


SPOKEN = [
    ("plain", "plain"),
    ("  two\nlines ", "  two\nlines "),
    ("", ""),
    ("<think>hm</think>\n\nHello", "Hello"),
    ("<thinking>hm</thinking>Hello", "Hello"),
    ("<think>never closed", "<think>never closed"),
    ("I <think>so</think> too", "I <think>so</think> too"),
    ("<|channel|>final<|message|>Hello", "Hello"),
    (f"{HARMONY}<|start|>assistant<|channel|>final<|message|>Hello<|return|>", "Hello"),
    ("use <|channel|> tokens", "use <|channel|> tokens"),
    ('{"value": "x"}', '{"value": "x"}'),
]


@pytest.mark.parametrize(("text", "spoken"), SPOKEN)
def test_plain_text_loses_only_thoughts_and_markers(text: str, spoken: str) -> None:
    assert output_parser(str).parse(text) == spoken


def test_no_text_is_an_error_even_where_any_text_will_do() -> None:
    with pytest.raises(OutputParsingError, match="no answer"):
        output_parser(str).parse(None)


class OldMovie(typing.TypedDict):
    title: str
    year: typing.NotRequired[int]
    person: Person


class Partly(OldMovie, total=False):
    more: list[OldMovie]


def test_the_typed_dictionaries_of_typing_are_read_too() -> None:
    """Before Python 3.12 pydantic takes only those of typing_extensions."""
    answer = f'{{"title":"M","person":{JSON}}}'
    movie = {"title": "M", "person": ANA}
    assert output_parser(OldMovie).parse(answer) == movie
    assert output_parser(list[OldMovie]).parse(f"[{answer}]") == [movie]
    assert output_parser(OldMovie | None).parse("null") is None
    assert output_parser(Partly).parse(f'{{"title":"M","person":{JSON},"more":[{answer}]}}') == {
        **movie,
        "more": [movie],
    }
    schema = output_parser(Partly).json_schema()
    assert schema is not None
    assert schema["required"] == ["title", "person"]
