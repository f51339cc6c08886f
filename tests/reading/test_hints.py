"""Annotations mean what Python means by them, whenever and wherever their names are defined."""

from __future__ import annotations

import sys
import typing
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, Generic, Protocol, TypedDict, TypeVar

import pytest
import typing_extensions
from pydantic import BaseModel

import aiservices
from aiservices import ConfigurationError, Result, UserText, user_message
from aiservices.testing import ScriptedChatModel
from tests.declarations import problems_of
from tests.reading import parents

if TYPE_CHECKING:
    from decimal import Decimal as Money

T = TypeVar("T")
U = TypeVar("U")


def asked(service: Any, reply: str, method: str = "ask") -> Any:
    with ScriptedChatModel(reply) as model:
        return getattr(aiservices.create(service, chat_model=model), method)("x")


class Postponed(Protocol):
    """SCH-05, SCH-25: annotations are strings here, and `Later` comes below."""

    @user_message("{{ text }} {{ later }}")
    def ask(self, text: str, later: Later | None = None) -> Later: ...

    @user_message("{{ text }}")
    def quoted(self, text: str) -> list[Later]: ...


class Later(BaseModel):
    n: int


def test_a_type_may_be_defined_below_its_use() -> None:
    """SCH-25"""
    assert asked(Postponed, '{"n":1}') == Later(n=1)
    assert asked(Postponed, '[{"n":1}]', "quoted") == [Later(n=1)]


def test_a_class_made_in_a_function_uses_the_names_of_that_function() -> None:
    class Answer(BaseModel):
        n: int

    class Asker(Protocol):
        def ask(self, text: str) -> list[Answer]: ...

    with ScriptedChatModel('[{"n":1}]') as model:
        assert aiservices.create(Asker, chat_model=model).ask("x") == [Answer(n=1)]


def test_a_variable_of_the_caller_does_not_stand_for_a_type_of_the_module() -> None:
    class Asker(Protocol):
        def ask(self, text: str) -> date: ...

    date, str = "2024-02-29", 3  # noqa: A001, F841
    with ScriptedChatModel("2024-02-29") as model:
        answer = aiservices.create(Asker, chat_model=model).ask("x")
    assert answer.isoformat() == date


class Shadowed(Protocol):
    """Its members are named like types of the module."""

    def date(self, text: str) -> date: ...

    @property
    def Decimal(self) -> Decimal:  # noqa: N802
        return Decimal(1)

    def ask(self, text: str) -> Decimal: ...


def test_a_member_named_like_a_type_does_not_stand_for_it() -> None:
    assert asked(Shadowed, "2024-02-29", "date") == date(2024, 2, 29)
    assert asked(Shadowed, "1.5") == Decimal("1.5")


class Nesting(Protocol):
    class Inner(BaseModel):
        n: int

    def ask(self, text: str) -> Inner: ...


def test_a_class_nested_in_the_protocol_is_found() -> None:
    assert asked(Nesting, '{"n":1}') == Nesting.Inner(n=1)


def test_a_name_that_only_type_checkers_import_is_named_with_the_reason() -> None:
    """SCH-07"""

    class Shop(Protocol):
        @user_message("{{ amount }}")
        def pay(self, amount: Money) -> str: ...

        def price(self, text: str) -> Money: ...

    missing = (
        "the annotation 'Money' names 'Money', which cannot be found in the module, the class or where "
        "create was called: define or import it before (an import under TYPE_CHECKING does not run)"
    )
    assert problems_of(Shop) == (f"Shop.pay, parameter 'amount': {missing}", f"Shop.price: {missing}")


class Base(Protocol[T]):
    def ask(self, text: str) -> T: ...

    def several(self, text: str) -> list[T]: ...

    @user_message("{{ it }}")
    def of(self, text: T) -> str: ...


class Middle(Base[list[T]], Protocol[T]):
    def one(self, text: str) -> T: ...


class Whole(Middle[int], Protocol): ...


class Other(Protocol[T]):
    def other(self, text: str) -> T: ...


class Both(Base[int], Other[str], Protocol): ...


class Two(Protocol[T, U]):
    def ask(self, text: str) -> dict[str, T]: ...

    def other(self, text: str) -> U: ...


class Swapped(Two[U, T], Protocol[T, U]): ...


class Ahead(Base["Defined"], Protocol): ...


class Elsewhere(parents.Answering["Defined"], Protocol): ...


class Defined(BaseModel):
    n: int


def test_a_type_variable_stands_for_what_the_subclass_gave() -> None:
    class Numbers(Base[int], Protocol): ...

    assert asked(Numbers, "3") == 3
    assert asked(Numbers, "[3]", "several") == [3]
    assert asked(Base[int], "3") == 3
    assert asked(Ahead, '{"n":1}') == Defined(n=1)
    assert asked(Elsewhere, '[{"n":1}]') == [Defined(n=1)]
    assert asked(Base["Defined"], '{"n":1}') == Defined(n=1)


def test_a_type_variable_is_another_one_in_each_class() -> None:
    assert asked(Whole, "[1]") == [1]
    assert asked(Whole, "1", "one") == 1
    assert asked(Whole, "[[1]]", "several") == [[1]]
    assert asked(Middle[str], '["a"]') == ["a"]
    assert asked(Both, "1") == 1
    assert asked(Both, "1", "other") == "1"
    assert asked(Swapped[int, str], '{"a":"b"}') == {"a": "b"}
    assert asked(Swapped[int, str], "1", "other") == 1


class Page(BaseModel, Generic[T]):
    items: list[T]


@dataclass
class Pair(Generic[T]):
    first: T


class Pages(Protocol[U]):
    def ask(self, text: str) -> Page[U]: ...

    def pair(self, text: str) -> Pair[U] | None: ...

    def result(self, text: str) -> Result[Annotated[U, "a comment"]]: ...


class SameName(Protocol[T]):
    def ask(self, text: str) -> Page[T]: ...


def test_a_type_variable_is_replaced_within_generic_types() -> None:
    assert asked(Pages[int], '{"items":[1]}') == Page[int](items=[1])
    assert asked(Pages[int], '{"first":1}', "pair") == Pair(1)
    assert asked(Pages[int], "1", "result").content == 1
    assert asked(SameName[int], '{"items":[1]}') == Page[int](items=[1])


def test_a_type_variable_that_nobody_gave_is_named_with_what_to_write() -> None:
    class Unbound(Base, Protocol): ...  # type: ignore[type-arg]

    for service in (Base, Unbound):
        name = service.__name__
        assert problems_of(service)[:2] == tuple(
            f"{name}.{method}: the type variable ~T is not bound: subclass with a type, "
            "as in `class P(Base[str], Protocol)`"
            for method in ("ask", "several")
        )

    class Generic_(Protocol):
        def ask(self, kind: T, text: Annotated[str, UserText]) -> T: ...

    assert all("the type variable ~T is not bound" in problem for problem in problems_of(Generic_))


def test_a_protocol_of_typing_extensions_is_one_too() -> None:
    class Asker(typing_extensions.Protocol[T]):
        def ask(self, text: str) -> T: ...

    class Numbers(Asker[int], typing_extensions.Protocol): ...

    assert asked(Numbers, "3") == 3
    assert asked(Asker[int], "3") == 3


def test_a_parent_from_another_module_is_read_with_that_modules_names() -> None:
    """SCH-25: also a typed dictionary whose parent is in a module with postponed annotations."""

    class Child(parents.Parent, Protocol):
        def mine(self, text: str) -> Movie: ...

    class Movie(parents.Titled):
        year: int

    with ScriptedChatModel('{"title":"Ran","year":1985}', "1.5") as model:
        service = aiservices.create(Child, chat_model=model)
        assert service.mine("x") == {"title": "Ran", "year": 1985}
        assert service.price("x") == parents.Price("1.5")


def test_annotations_are_not_evaluated_when_the_class_is_defined() -> None:
    """SCH-25"""

    class Asker(Protocol):
        def ask(self, text: str) -> print("evaluated"): ...  # type: ignore

    assert typing.cast("Any", Asker.ask).__annotations__["return"] == "print('evaluated')"


PEP_695 = """
type Names = list[str]
type Wrapped[X] = dict[str, X]

class Base[T](Protocol):
    def ask(self, text: str) -> T: ...
    def names(self, text: str) -> Names: ...
    def wrapped(self, text: str) -> Wrapped[T]: ...

class Numbers(Base[int], Protocol):
    pass

class Free(Protocol):
    def ask[X](self, text: str) -> X: ...
"""


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the syntax is new in 3.12")
@pytest.mark.parametrize("first", ["", "from __future__ import annotations"], ids=["evaluated", "postponed"])
def test_the_new_syntax_for_generics_works(first: str) -> None:
    namespace: dict[str, Any] = {"__name__": __name__}
    exec(f"{first}\nfrom typing import Protocol\n{PEP_695}", namespace)
    assert asked(namespace["Numbers"], "3") == 3
    assert asked(namespace["Numbers"], '["a"]', "names") == ["a"]
    assert asked(namespace["Numbers"], '{"a":1}', "wrapped") == {"a": 1}
    assert asked(namespace["Base"][str], "3") == "3"
    assert problems_of(namespace["Free"])[0].startswith("Free.ask: the type variable X is not bound")


class Untold(TypedDict):
    later: Later


def test_everything_missing_is_named_in_one_error() -> None:
    class Asker(Protocol):
        def a(self, text: Missing) -> AlsoMissing: ...  # type: ignore[name-defined]  # noqa: F821

        def b(self, text: str) -> Untold: ...

    with pytest.raises(ConfigurationError) as caught:
        aiservices.create(Asker, chat_model=ScriptedChatModel())
    assert [problem.partition(", which")[0] for problem in caught.value.problems] == [
        "Asker.a, parameter 'text': the annotation 'Missing' names 'Missing'",
        "Asker.a: the annotation 'AlsoMissing' names 'AlsoMissing'",
    ]
