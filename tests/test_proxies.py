"""A service behaves like an object of a class that a careful person has written."""

from __future__ import annotations

import asyncio
import copy
import inspect
import pickle
from dataclasses import dataclass, replace
from typing import Any, Protocol, get_type_hints
from unittest import mock

import pytest

import aiservices
from aiservices import Result, user_message
from aiservices.testing import ScriptedChatModel
from tests.declarations import user_text


class S(Protocol):
    """A service to look at."""

    limit = 3

    def ask(self, t: str) -> str:
        """Ask something."""
        ...

    async def aask(self, t: str) -> str: ...

    @user_message("{{a}}-{{b}}-{{c}}")
    def f(self, a: str, /, b: int = 2, *, c: str = "z") -> str: ...

    def twice(self, t: str) -> str:
        return self.ask(t) + self.ask(t)


@pytest.fixture
def model() -> ScriptedChatModel:
    """Has no replies: any request fails the test."""
    return ScriptedChatModel()


@pytest.fixture
def service(model: ScriptedChatModel) -> S:
    return aiservices.create(S, chat_model=model)


def test_a_service_is_equal_to_itself_only_and_never_asks_for_it(service: S) -> None:
    """TYP-01"""
    other = aiservices.create(S, chat_model=ScriptedChatModel())
    assert service == service  # noqa: PLR0124
    assert service != other
    assert service in [service]
    assert {service: 1}[service] == 1
    assert len({service, other, service}) == 2
    assert bool(service)
    assert repr(service) == str(service) == f"{service}" == "<AI service S>"


def test_a_method_with_a_body_uses_the_service() -> None:
    """TYP-01"""
    with ScriptedChatModel("a", "b") as model:
        assert aiservices.create(S, chat_model=model).twice("x") == "ab"


def test_a_copy_of_a_service_is_the_service_and_pickling_is_refused(service: S) -> None:
    """TYP-02"""

    @dataclass
    class App:
        service: S

    assert copy.copy(service) is service
    assert copy.deepcopy({"s": service})["s"] is service
    assert copy.deepcopy(App(service)).service is service
    assert replace(App(service)).service is service
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError, match="the AI service S cannot be pickled: create it where it is used"):
            pickle.dumps(service, protocol)
    with pytest.raises(AttributeError):
        _ = type(service).__new__(type(service)).foo  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "name",
    [
        "_ipython_canary_method_should_not_exist_",
        "_repr_html_",
        "_repr_mimebundle_",
        "trait_names",
        "__len__",
        "__iter__",
        "__wrapped__",
        "nope",
    ],
)
def test_a_service_has_what_its_protocol_has_and_nothing_more(service: S, name: str) -> None:
    """TYP-03"""
    assert not hasattr(service, name)
    assert getattr(service, name, None) is None
    assert {"ask", "aask", "f", "twice", "limit"} <= set(dir(service))
    with pytest.raises(AttributeError, match=name):
        getattr(service, name)


def test_looking_at_a_service_asks_nothing(service: S, model: ScriptedChatModel) -> None:
    """TYP-03"""
    for _, member in inspect.getmembers(service):
        repr(member)
    inspect.getdoc(service)
    assert isinstance(service.ask, type(test_looking_at_a_service_asks_nothing.__get__(1)))
    assert model.requests == []


def test_a_service_is_an_instance_of_its_protocol(service: S) -> None:
    cls: Any = type(service)
    assert S in cls.__mro__
    assert (cls.__name__, cls.__qualname__, cls.__module__) == ("S", "S", __name__)
    assert inspect.getdoc(service) == "A service to look at."
    assert service.limit == 3


def test_a_method_has_the_signature_the_names_and_the_docstring_of_its_declaration(service: S) -> None:
    for name in ("ask", "aask", "f"):
        made, declared = getattr(service, name), getattr(S, name)
        assert (made.__name__, made.__qualname__, made.__module__) == (name, f"S.{name}", __name__)
        assert made.__doc__ == declared.__doc__
        assert (
            list(inspect.signature(made).parameters.values())
            == (list(inspect.signature(declared).parameters.values())[1:])
        )
        assert get_type_hints(made) == get_type_hints(declared)
        assert inspect.iscoroutinefunction(made) == inspect.iscoroutinefunction(declared)
    assert str(inspect.signature(service.f)) == "(a: 'str', /, b: 'int' = 2, *, c: 'str' = 'z') -> 'str'"


@pytest.mark.parametrize(
    ("args", "named", "text"),
    [
        (["x"], {}, "x-2-z"),
        (["x", 3], {"c": "y"}, "x-3-y"),
        (["x"], {"b": 4}, "x-4-z"),
        (["x"], {"c": "", "b": 0}, "x-0-"),
    ],
)
def test_arguments_are_bound_like_those_of_any_function(
    args: list[Any], named: dict[str, Any], text: str
) -> None:
    """TYP-12"""
    with ScriptedChatModel("ok") as model:
        aiservices.create(S, chat_model=model).f(*args, **named)
    assert model.request.messages[-1].text == text


@pytest.mark.parametrize(
    ("args", "named"),
    [([], {"a": "x"}), (["x", 1, "y"], {}), ([], {}), (["x"], {"nope": 1}), (["x", 1], {"b": 2})],
)
def test_a_wrong_call_is_a_type_error_that_names_the_method(
    service: S, model: ScriptedChatModel, args: list[Any], named: dict[str, Any]
) -> None:
    """TYP-12"""
    with pytest.raises(TypeError) as caught:
        service.f(*args, **named)
    with pytest.raises(TypeError) as plain:
        S.f(service, *args, **named)
    assert str(caught.value) == str(plain.value)
    assert "S.f()" in str(caught.value)
    assert model.requests == []


def test_a_wrong_call_of_an_asynchronous_method_fails_at_the_call(service: S) -> None:
    with pytest.raises(TypeError, match=r"S\.aask\(\) missing 1 required positional argument: 't'"):
        service.aask()  # type: ignore[call-arg]


def test_parameters_may_have_any_name() -> None:
    class Names(Protocol):
        @user_message("{{ _invoke }}{{ invoke }}{{ method }}{{ ask }}{{ _default_ask }}{{ größe }}{{ type }}")
        def ask(
            this,  # noqa: N805
            _invoke: str,
            invoke: str,
            method: str,
            ask: str = "d",
            _default_ask: str = "e",
            größe: str = "f",  # noqa: PLC2401
            *,
            type: str = "g",  # noqa: A002
        ) -> str: ...

    assert user_text(Names, "a", "b", "c") == "abcdefg"


def test_a_default_is_the_very_object_and_stays_as_it_is() -> None:
    """TYP-12: a mutable default is not shared between calls in a way that shows."""
    default: list[str] = []

    class Lists(Protocol):
        @user_message("{{ xs }}{{ t }}")
        def ask(self, t: str, xs: list[str] = default) -> str: ...

    assert [user_text(Lists, "x"), user_text(Lists, "y", ["a"]), user_text(Lists, "z")] == [
        "[]x",
        '["a"]y',
        "[]z",
    ]
    assert default == []


def test_a_protocol_with_its_own_constructor_and_slots_is_created_without_arguments() -> None:
    class Asker(Protocol):
        __slots__ = ()

        def __new__(cls, needed: int) -> Any:
            raise AssertionError("a service is not made by its Protocol's constructor")

        def __init__(self, needed: int) -> None:
            raise AssertionError("a service is not made by its Protocol's constructor")

        def ask(self, t: str) -> str: ...

    assert aiservices.create(Asker, chat_model=ScriptedChatModel("ok")).ask("x") == "ok"


def test_special_methods_that_a_protocol_writes_are_kept() -> None:
    class Asker(Protocol):
        def ask(self, t: str) -> str: ...

        def __repr__(self) -> str:
            return "mine"

        def __copy__(self) -> str:
            return "a copy"

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 1

        def __contains__(self, item: str) -> bool:
            return item == "x"

    service: Any = aiservices.create(Asker, chat_model=ScriptedChatModel())
    assert (repr(service), copy.copy(service), service == 3, hash(service)) == ("mine", "a copy", True, 1)
    assert "x" in service


def test_a_callable_service_is_called() -> None:
    class Asker(Protocol):
        def __call__(self, t: str) -> Result[int]: ...

    service = aiservices.create(Asker, chat_model=ScriptedChatModel("3"))
    assert callable(service)
    assert service("x").content == 3


def test_an_autospec_of_the_protocol_or_of_a_service_works_and_asks_nothing(
    service: S, model: ScriptedChatModel
) -> None:
    """TYP-05"""
    for double in (mock.create_autospec(S, instance=True), mock.create_autospec(service)):
        double.ask.return_value = "m"
        double.aask.return_value = "later"
        assert double.ask("x") == "m"
        with pytest.raises(TypeError):
            double.ask()
        assert asyncio.run(double.aask("x")) == "later"
    assert model.requests == []


def test_a_method_of_a_service_can_be_patched_and_comes_back(service: S, model: ScriptedChatModel) -> None:
    """TYP-05"""
    with mock.patch.object(service, "ask", return_value="m") as patched:
        assert service.ask("x") == "m"
        assert service.twice("x") == "mm"
        assert patched.call_count == 3
    assert "ask" not in vars(service)
    assert model.requests == []
    with mock.patch.object(service, "ask", autospec=True, return_value="m"), pytest.raises(TypeError):
        service.ask()  # type: ignore[call-arg]


def test_the_declaration_is_not_touched_by_its_services(service: S) -> None:
    assert S.ask(service, "x") is None, "still the stub that was written"
    assert type(service).__mro__[1] is S
    assert "__copy__" not in vars(S)
