"""Which methods call the model, and which run as they are written."""

import functools
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Protocol, TypeVar, final

import pytest
import typing_extensions

import aiservices
from aiservices.testing import ScriptedChatModel
from tests.declarations import calling_the_model

F = TypeVar("F", bound=Callable[..., Any])


class Stubs(Protocol):
    def dots(self, t: str) -> str: ...

    def passing(self, t: str) -> str:  # type: ignore[empty-body]
        pass

    def documented(self, t: str) -> str:  # type: ignore[empty-body]
        """Only a docstring."""

    def documented_dots(self, t: str) -> str:
        """A docstring
        of two lines."""
        ...

    def raising(self, t: str) -> str:
        raise NotImplementedError

    def raising_call(self, t: str) -> str:
        raise NotImplementedError()

    def raising_text(self, t: str) -> str:
        """A docstring."""
        raise NotImplementedError("the model answers")

    async def later(self, t: str) -> str: ...

    async def later_raising(self, t: str) -> str:
        raise NotImplementedError("the model answers")

    @abstractmethod
    def abstract(self, t: str) -> str: ...

    @final
    def last(self, t: str) -> str: ...

    @typing_extensions.override
    def __call__(self, t: str) -> str: ...  # type: ignore[misc]

    def _private(self, t: str) -> str: ...

    def __hidden(self, t: str) -> str: ...

    another_name = dots


def test_a_method_without_a_body_calls_the_model() -> None:
    names = [name for name in vars(Stubs) if name not in dir(Protocol) and not name.startswith("__")]
    assert calling_the_model(Stubs) == [
        *names[: names.index("last") + 1],
        "__call__",
        "_private",
        "_Stubs__hidden",
        "another_name",
    ]


def test_every_name_of_a_method_calls_the_model() -> None:
    with ScriptedChatModel("1", "2", "3", "4") as model:
        service: Any = aiservices.create(Stubs, chat_model=model)
        assert service("x") == "1"
        assert service.another_name("x") == "2"
        assert service._private("x") == "3"
        assert service._Stubs__hidden("x") == "4"


class MyNotImplementedError(Exception): ...


class Bodies(Protocol):
    limit: ClassVar[int] = 3
    seen: list[str] = []  # noqa: RUF012

    def ask(self, t: str) -> str: ...

    def twice(self, t: str) -> str:
        return self.ask(t) + self.ask(t)

    async def later(self, t: str) -> str:
        return self.ask(t)

    @property
    def shout(self) -> str:
        return self.ask("shout")

    @staticmethod
    def fixed(t: str) -> str:
        return t.upper()

    @classmethod
    def named(cls) -> str:
        return cls.__name__

    def constant(self) -> int:
        return 0

    def items(self) -> Any:
        yield from "ab"

    async def aitems(self) -> Any:
        yield "a"

    def other_error(self) -> str:
        raise MyNotImplementedError

    def no_error(self) -> Any:
        return NotImplementedError

    def told_why(self, t: str) -> str:
        raise NotImplementedError(f"not for {t}")

    @functools.cached_property
    def cached(self) -> str:
        return self.ask("cached")

    by_lambda = lambda self, t: self.ask(t)  # noqa: E731


@pytest.mark.anyio
async def test_anything_with_a_body_runs_as_it_is_written() -> None:
    """TYP-01"""
    assert calling_the_model(Bodies) == ["ask"]
    with ScriptedChatModel("a", "b", "c", "d", "e", "f") as model:
        service: Any = aiservices.create(Bodies, chat_model=model)
        assert service.twice("x") == "ab"
        assert await service.later("x") == "c"
        assert service.shout == "d"
        assert service.by_lambda("x") == "e"
        assert (service.cached, service.cached) == ("f", "f")
    assert (service.fixed("x"), service.named(), service.constant()) == ("X", "Bodies", 0)
    assert list(service.items()) == ["a", "b"]
    assert (service.limit, service.seen) == (3, [])
    with pytest.raises(MyNotImplementedError):
        service.other_error()
    with pytest.raises(NotImplementedError, match="not for x"):
        service.told_why("x")


def test_a_constant_false_body_returns_its_value() -> None:
    class Asker(Protocol):
        def ask(self, t: str) -> str: ...

        def nothing_found(self) -> str:
            return ""

        def never(self) -> bool:
            return False

    service = aiservices.create(Asker, chat_model=ScriptedChatModel())
    assert (service.nothing_found(), service.never()) == ("", False)
