"""The flow of data is checked before anything runs: what is read is written, and fits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NewType, TypedDict

import pytest
from pydantic import BaseModel

from aiservices.agentic import agent, conditional, human_in_the_loop, loop, parallel, parallel_map, sequence
from aiservices.agentic.fitting import fits, read_as
from aiservices.errors import ConfigurationError

from .styles import edit, publish, write

UserId = NewType("UserId", int)


class Person(BaseModel):
    name: str


class Employee(Person):
    boss: str = ""


class Box(TypedDict):
    x: int


def writer(name: str, key: str | None = None, kind: Any = Any, **reads: Any) -> Any:
    """An agent that reads keys and writes one, of these types."""
    parameters = ", ".join(f"{each}: kinds[{each!r}]" for each in reads)
    names: dict[str, Any] = {"kinds": reads, "kind": kind}
    exec(f"def function({parameters}) -> kind: ...", names)
    return agent(name=name, output_key=key)(names["function"])


def test_what_agents_read_and_nobody_writes_is_an_input_of_the_system() -> None:
    assert sequence(write, edit, publish).inputs == ("topic", "style")
    assert parallel(write, writer("x", "b", a=int)).inputs == ("topic", "a")
    assert loop(edit).inputs == ("story", "style")
    assert parallel_map(edit, items="stories").inputs == ("stories", "style")
    assert sequence(human_in_the_loop("ask", output_key="style"), write, edit).inputs == ("topic",)


def test_agents_side_by_side_cannot_read_each_other() -> None:
    assert parallel(write, publish).inputs == ("topic", "story")


def test_a_key_that_only_some_branches_write_cannot_be_read_after_them() -> None:
    """AGT-03"""
    branch = conditional((lambda scope: True, write))
    with pytest.raises(
        ConfigurationError, match="'publish' reads 'story', which is not written on every path"
    ):
        sequence(branch, publish)
    assert sequence(conditional((lambda scope: True, write), otherwise=write), publish)
    assert sequence(branch, agent(name="x")(lambda story="none": story))
    assert sequence(publish, branch, publish, name="given before").inputs == ("story", "topic")


def test_a_loop_that_may_end_after_its_first_agent_is_sure_of_that_one_only() -> None:
    def until(scope: Any) -> bool:
        return True

    pair = [writer("a", "a"), writer("b", "b")]
    assert sequence(loop(*pair, until=until), writer("reads", a=str)).inputs == ()
    with pytest.raises(ConfigurationError, match="'reads' reads 'b', which is not written on every path"):
        sequence(loop(*pair, until=until), writer("reads", b=str))
    for made in (loop(*pair, until=until, check="round_end"), loop(*pair)):
        assert sequence(made, writer("reads", b=str)).inputs == ()


def test_an_optional_agent_is_not_sure_to_write() -> None:
    maybe = agent(name="maybe", output_key="x", optional=True)(lambda y: y)
    with pytest.raises(ConfigurationError, match="not written on every path"):
        sequence(maybe, writer("reads", x=int))
    assert sequence(maybe, writer("reads", x=int), before=lambda scope: scope.write("x", 1))


def test_what_an_item_writes_is_not_seen_outside() -> None:
    made = sequence(parallel_map(write, items="topics"), publish)
    assert made.inputs == ("topics", "story")


def test_the_types_of_a_key_agree() -> None:
    """W14"""
    with pytest.raises(ConfigurationError) as caught:
        sequence(
            writer("one", "category", str),
            writer("two", "category", list[int]),
            writer("three", None, category=Person),
        )
    assert caught.value.problems == (
        "sequence: 'category' is written by 'one' as str and read by 'three' as Person: make the types agree",
        "sequence: 'category' is written by 'two' as list[int] and read by 'three' as Person: "
        "make the types agree",
        "sequence: 'category' is written by 'one' as str and by 'two' as list[int]: make the types agree, or "
        "give one another output_key",
    )


def test_types_are_checked_across_the_whole_tree() -> None:
    inner = sequence(parallel(writer("writes", "x", str)), output=None)
    with pytest.raises(
        ConfigurationError, match="'x' is written by 'writes' as str and read by 'reads' as int"
    ):
        sequence(inner, conditional((lambda scope: True, writer("reads", None, x=int))))


def test_a_composite_writes_a_type_too() -> None:
    inner = sequence(writer("any", None, str), output_key="x")
    with pytest.raises(ConfigurationError, match="written by 'sequence' as str and read by 'reads' as int"):
        sequence(inner, writer("reads", None, x=int))
    mapped = parallel_map(writer("any", None, int, item=int), items="items", output_key="x")
    assert sequence(mapped, writer("reads", None, x=list[float]))
    with pytest.raises(ConfigurationError, match=r"as list\[int\] and read"):
        sequence(mapped, writer("reads", None, x=list[str]))


@pytest.mark.parametrize(
    ("branches", "options", "says"),
    [
        ([write, (lambda scope: True, publish)], {"first_match": True}, "branch 1 always matches"),
        ([write], {"otherwise": publish}, "otherwise is never reached"),
        ([(lambda scope: True,)], {}, "branch 1 is"),
        ([(7, write)], {}, "the predicate of branch 1 is 7"),
    ],
)
def test_branches_that_are_never_reached_are_refused(
    branches: Any, options: dict[str, Any], says: str
) -> None:
    with pytest.raises(ConfigurationError, match=says):
        conditional(*branches, **options)


def test_outputs_that_nobody_reads_are_remarked_on() -> None:
    unread = sequence(writer("a", "x"), writer("b", "y"))
    assert unread.check() == ("sequence: nobody reads 'x', which 'a' writes",)
    assert sequence(write, publish).check() == ()
    assert sequence(writer("a", "x"), writer("b"), output=lambda scope: scope.read("x")).check() == ()


@pytest.mark.parametrize(
    ("written", "read", "expected"),
    [
        (int, float, True),
        (float, int, False),
        (bool, int, True),
        (str, int, False),
        (str, Any, True),
        (object, int, True),
        (Employee, Person, True),
        (Person, Employee, False),
        (list[int], list[float], True),
        (list[int], Sequence[int], True),
        (list, list[int], True),
        (dict[str, int], dict[str, str], False),
        (tuple[int, ...], tuple[int, ...], True),
        (str | None, str, True),
        (str | int, str, False),
        (str, str | int, True),
        (int | None, float | None, True),
        (Literal["a"], str, True),
        (Literal["a"], Literal["a", "b"], True),
        (Literal["c"], Literal["a", "b"], False),
        (Literal[1], str, False),
        (str, Literal["a"], True),
        (Annotated[int, "x"], int, True),
        (UserId, int, True),
        (Box, dict, True),
        (Box, int, False),
        (type(None), str, False),
    ],
)
def test_whether_a_type_may_be_read_as_another(written: Any, read: Any, expected: bool) -> None:
    assert fits(written, read) is expected


@pytest.mark.parametrize(
    ("hint", "value", "expected"),
    [
        (int, "42", 42),
        (bool, "true", True),
        (float, 1, 1.0),
        (str, 42, "42"),
        (Person, {"name": "Ann"}, Person(name="Ann")),
        (Person, '{"name": "Ann"}', Person(name="Ann")),
        (list[int], "[1, 2]", [1, 2]),
        (int | None, "7", 7),
        (Any, "x", "x"),
    ],
)
def test_values_become_what_an_agent_wants(hint: Any, value: Any, expected: Any) -> None:
    """G1, G2"""
    found = read_as(hint, value)
    assert (found, type(found)) == (expected, type(expected))


def test_what_fits_is_passed_as_it_is() -> None:
    """G3"""
    employee = Employee(name="Ann")
    assert read_as(Person, employee) is employee


@pytest.mark.parametrize(
    ("hint", "value"), [(int, "many"), (Person, "no json"), (list[int], ["a"]), (int, 1.5)]
)
def test_what_does_not_fit_is_refused(hint: Any, value: Any) -> None:
    with pytest.raises(ValueError, match=r".+"):
        read_as(hint, value)
