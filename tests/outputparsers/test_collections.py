"""Answers for lists, sets, tuples and maps: rows 84 to 117 and 123 to 136, PAR-01, PAR-24, SCH-11, SCH-23."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from outputparsers import OutputParsingError, output_parser


class Animal(Enum):
    CAT = "CAT"
    DOG = "DOG"
    BIRD = "BIRD"


@dataclass
class Named:
    """A record whose only field may be missing."""

    name: str | None = None


@dataclass
class Person:
    """A record with two fields."""

    name: str
    age: int


CAT, DOG, BIRD = Animal.CAT, Animal.DOG, Animal.BIRD
ESCAPED = '[{"name":"Alice\\"Bob"},{"name":"Line\\nBreak"},{"name":"Back\\\\slash"}]'

READ: list[tuple[Any, str, object]] = [
    *(
        (list[Animal], text, [CAT, DOG])
        for text in ("CAT\nDOG", " CAT \n DOG ", "cat\n\ndog\n", "[CAT]\n[DOG]")
    ),
    *(
        (list[Animal], text, [CAT, DOG])
        for text in ('{"values":["CAT", "DOG"]}', '["CAT", "DOG"]', ' ["cat","Dog"] ')
    ),
    *((list[Animal], text, []) for text in ("", " ", '{"values":[]}', "[]")),
    *((list[Animal], text, [CAT]) for text in ("[CAT]", "CAT", '"CAT"', '["CAT"] and more')),
    (list[str], "CAT\nDOG", ["CAT", "DOG"]),
    (list[str], "one\n\ntwo\n\n\nthree\n", ["one", "two", "three"]),
    (list[str], "hello world\ntest  value\n  leading space", ["hello world", "test  value", "leading space"]),
    (list[str], '{"values":["CAT","DOG"]}', ["CAT", "DOG"]),
    (list[str], '["apple","banana"]', ["apple", "banana"]),
    (list[str], '[\n  "CAT",\n  "DOG"\n]', ["CAT", "DOG"]),
    *((list[str], text, []) for text in ("", "  ", "[]", '{"values":[]}')),
    (list[str], "[CAT]\n[DOG]", ["[CAT]", "[DOG]"]),
    (list[str], "[1] CAT\n[2] DOG", ["[1] CAT", "[2] DOG"]),
    (list[str], '["CAT"] and more', ['["CAT"] and more']),
    (list[str], "[CAT", ["[CAT"]),
    (list[str], '{"values":["He said \\"hello\\""]}', ['He said "hello"']),
    (list[str], 'Here you are:\n["a", "b"]\nEnjoy!', ["a", "b"]),
    (list[str], 'Here you are: ["a", "b"]', ["a", "b"]),
    (list[str], '```json\n["a", "b"]\n```', ["a", "b"]),
    (list[str], "```\na\nb\n```", ["a", "b"]),
    (set[str], "CAT\nDOG\nBIRD\nCAT", {"CAT", "DOG", "BIRD"}),
    (set[str], '{"values":["CAT","DOG","CAT"]}', {"CAT", "DOG"}),
    (frozenset[str], '["CAT","DOG","CAT"]', frozenset({"CAT", "DOG"})),
    (set[Animal], '["CAT","CAT"]', {CAT}),
    (set[Animal], "CAT\nDOG\nBIRD", {CAT, DOG, BIRD}),
    (set[int], "[1,1,2]", {1, 2}),
    (list[int], "1\n2\n3", [1, 2, 3]),
    (list[int], "5", [5]),
    (list[float], "1.5\n2", [1.5, 2.0]),
    (list[Literal["yes", "no"]], "Yes\nno", ["yes", "no"]),
    (tuple[int, ...], "1\n2", (1, 2)),
    (tuple[int, str], '[1, "a"]', (1, "a")),
    (tuple[int, str], '{"values": [1, "a"]}', (1, "a")),
    (list[list[str]], '[["a"], ["b", "c"]]', [["a"], ["b", "c"]]),
    (list[list[str]], 'x [["a"],["b"]] y', [["a"], ["b"]]),
    (list[Named], '{"values":[{"name":"Klaus"}, {"name":"Franny"}]}', [Named("Klaus"), Named("Franny")]),
    *((list[Named], text, [Named("Klaus")]) for text in ('[{"name":"Klaus"}]', '  [{"name":"Klaus"}]\n')),
    *((list[Named], text, []) for text in ("", " ", "[]", '{"values":[]}')),
    *((list[Named], text, [Named(None)]) for text in ('{"values":[{"name":null}]}', '{"values":[{}]}')),
    (list[Named], '{\t"values"\n:\n[  {\t"name" :   "A" }\n]\n}', [Named("A")]),
    (list[Named], ESCAPED, [Named('Alice"Bob'), Named("Line\nBreak"), Named("Back\\slash")]),
    (list[Named], '[{"name":"Alice"}] and more', [Named("Alice")]),
    (list[Person], '[{"name":"Ana","age":3}]', [Person("Ana", 3)]),
    (list[Person], '{"values":"[{\\"name\\":\\"A\\",\\"age\\":1}]"}', [Person("A", 1)]),
    (list[Person], '"[{\\"name\\":\\"A\\",\\"age\\":1}]"', [Person("A", 1)]),
    (dict[str, int], '{"a":1}', {"a": 1}),
    (dict[str, int], '{"value":{"a":1}}', {"a": 1}),
    (dict[str, int], '{"value":1}', {"value": 1}),
    (dict[str, Any], '{"value":{"a":1}}', {"value": {"a": 1}}),
    (dict[str, Person], '{"x":{"name":"A","age":1}}', {"x": Person("A", 1)}),
    (dict[int, str], '{"1":"a"}', {1: "a"}),
    (dict[Animal, int], '{"dog":2}', {DOG: 2}),
    (Sequence[int], "[1]", [1]),
    (Mapping[str, int], '{"a":1}', {"a": 1}),
    (deque[int], "[1]", deque([1])),
    (dict, '{"a":[1]}', {"a": [1]}),
    (list, "[1, null]", [1, None]),
]

REFUSED: list[tuple[Any, str | None]] = [
    *((list[Animal], text) for text in (None, "{}", '{"values": null}', "BANANA", '{"values":["BANANA"]}')),
    *((list[Animal], text) for text in ('["BANANA"]', '{"values":"CAT"}', '{"banana":["CAT"]}', '["CAT"')),
    *((list[str], text) for text in (None, "{}", '{"values": null}', '{"banana": []}', '{"values": ""}')),
    *(
        (list[str], text)
        for text in ('{"values": false}', '{"values":"banana"}', '{"values":{"name":"Klaus"}}')
    ),
    *((list[str], text) for text in ('{"values": [oops', "{oops}", "{", '["CAT"', '["CAT", "DO')),
    *((list[Named], text) for text in ("banana", '{"values":"banana"}', '{"values":["banana"]}')),
    *(
        (list[Named], text)
        for text in ('{"values":{"name":"Klaus"}}', '{"banana":[{"name":"Klaus"}]}', '["Alice"]')
    ),
    *(
        (list[Named], text)
        for text in ('{"values":[{"name":["array"]}]}', '{"values":[{"name":{"object":"x"}}]}')
    ),
    *((list[Named], text) for text in (None, "{}", '{"values": null}')),
    (tuple[int, str], "[1]"),
    (dict[str, int], '{"a":"x"}'),
    (dict[Animal, int], '{"banana":2}'),
    (dict[str, int], "[1]"),
    (list[int], "1\ntwo"),
    (list[list[int]], "1\n2"),
    *(
        (kind, text)
        for kind in (list[str], set[str], tuple[str, ...], list[int])
        for text in ("<think>hm</think>", "<think>hm")
    ),
]


@pytest.mark.parametrize(("type_", "text", "value"), READ)
def test_a_collection_is_read_wrapped_bare_or_line_by_line(type_: Any, text: str, value: object) -> None:
    """Row 109: words after an array on its line make literal lines, in a list of texts. For other items,
    and for an array that ends its line, the array is the answer, as prose around JSON is (row 133)."""
    parsed = output_parser(type_).parse(text)
    assert parsed == value
    assert type(parsed) is type(value)


@pytest.mark.parametrize(("type_", "text"), REFUSED)
def test_what_is_no_collection_is_refused(type_: Any, text: str | None) -> None:
    with pytest.raises(OutputParsingError, match="Failed to parse"):
        output_parser(type_).parse(text)


def test_members_of_sets_come_in_the_order_first_seen() -> None:
    """Python sets keep no order (rows 99, 112); a duplicate never counts twice; dictionaries keep theirs."""
    assert output_parser(set[str]).parse("CAT\nDOG\nBIRD\nCAT") == {"CAT", "DOG", "BIRD"}
    assert list(output_parser(dict[str, int]).parse('{"b":1,"a":2}')) == ["b", "a"]


class Codes(BaseModel):
    """Fields that models like to send as texts."""

    codes: list[str]
    meta: dict[str, Any]
    note: str
    tags: list[str] | None = None
    either: str | list[str] = ""


def test_json_inside_a_text_is_decoded_only_where_no_text_is_allowed() -> None:
    answer = (
        '{"codes": "[\\"I10\\"]", "meta": "{\\"a\\":1}", "note": "{\\"b\\":2}", '
        '"tags": "null", "either": "[1]"}'
    )
    expected = Codes(codes=["I10"], meta={"a": 1}, note='{"b":2}', tags=None, either="[1]")
    assert output_parser(Codes).parse(answer) == expected


def test_a_text_is_never_taken_apart_into_characters() -> None:
    with pytest.raises(OutputParsingError, match=r'codes: .*got "I10"'):
        output_parser(Codes).parse('{"codes": "I10", "meta": {}, "note": ""}')


def test_duplicate_keys_are_accepted_and_the_last_wins() -> None:
    assert output_parser(list[Named]).parse('[{"name":"A","name":"B"}]') == [Named("B")]
