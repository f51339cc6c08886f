"""Decorators of other libraries around a stub: what they wrap calls the model."""

from __future__ import annotations

import contextlib
import functools
import inspect
import warnings
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import pytest
import tenacity
import typing_extensions

import aiservices
from aiservices import user_message
from aiservices.testing import ScriptedChatModel
from tests.declarations import problems_of

log: list[str] = []


def logged(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def wrapper(self: object, *args: object, suffix: str = "!", **named: object) -> Any:
        log.append(f"{method.__name__}{suffix}")
        return method(self, *args, **named)

    return wrapper


def logged_later(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    async def wrapper(*args: object) -> Any:
        log.append(method.__name__)
        return await method(*args)

    return wrapper


@contextlib.contextmanager
def span() -> Iterator[None]:
    log.append("span")
    yield


class Asker(Protocol):
    @logged
    def ask(self, text: str) -> str: ...

    @user_message("Above: {{ text }}")
    @logged
    def above(self, text: str) -> str: ...

    @logged
    @logged
    @user_message("Below: {{ text }}")
    def below(self, text: str) -> str: ...

    @logged_later
    async def later(self, text: str) -> str: ...

    @tenacity.retry(stop=tenacity.stop_after_attempt(2), retry=tenacity.retry_if_exception_type(OSError))
    def retried(self, text: str) -> str: ...

    @span()
    def spanned(self, text: str) -> str: ...

    @typing_extensions.deprecated("use ask")
    def old(self, text: str) -> str: ...

    @logged
    def body(self, text: str) -> str:
        return self.ask(text)


@pytest.fixture(autouse=True)
def _empty_log() -> None:
    log.clear()


@pytest.mark.parametrize(
    ("method", "text", "logs"),
    [
        ("ask", "x", ["ask!"]),
        ("above", "Above: x", ["above!"]),
        ("below", "Below: x", ["below!", "below!"]),
        ("body", "x", ["body!", "ask!"]),
        ("spanned", "x", ["span"]),
    ],
)
def test_a_decorator_runs_around_the_model(method: str, text: str, logs: list[str]) -> None:
    with ScriptedChatModel("ok") as model:
        assert getattr(aiservices.create(Asker, chat_model=model), method)("x") == "ok"
    assert model.request.messages[-1].text == text
    assert log == logs


@pytest.mark.anyio
async def test_an_asynchronous_decorator_runs_around_the_model() -> None:
    service = aiservices.create(Asker, chat_model=ScriptedChatModel("ok"))
    assert inspect.iscoroutinefunction(service.later)
    assert await service.later("x") == "ok"
    assert log == ["later"]


def test_a_decorator_that_tries_again_asks_the_model_again() -> None:
    model = ScriptedChatModel(OSError("gone"), "ok")
    assert aiservices.create(Asker, chat_model=model).retried("x") == "ok"
    assert len(model.requests) == 2


def test_a_deprecated_method_warns_and_answers() -> None:
    service = aiservices.create(Asker, chat_model=ScriptedChatModel("ok"))
    with pytest.warns(DeprecationWarning, match="use ask"):
        assert service.old("x") == "ok"


def test_services_of_one_protocol_do_not_share_their_decorated_methods() -> None:
    first = aiservices.create(Asker, chat_model=ScriptedChatModel("1"))
    second = aiservices.create(Asker, chat_model=ScriptedChatModel("2"))
    assert (second.ask("x"), first.ask("x")) == ("2", "1")
    assert Asker.ask(first, "x") is None, "the declaration itself stays a stub"


def test_a_decorator_keeps_its_own_defaults_and_the_signature_of_the_stub() -> None:
    service: Any = aiservices.create(Asker, chat_model=ScriptedChatModel("ok"))
    assert list(inspect.signature(service.ask).parameters) == ["text"]
    service.ask("x", suffix="?")
    assert log == ["ask?"]


def test_a_decorator_that_hides_the_stub_is_named() -> None:
    class Keeper:
        def __init__(self, function: Callable[..., Any]) -> None:
            self.function = function

    def kept(function: Callable[..., Any]) -> Callable[..., Any]:
        keeper = Keeper(function)

        @functools.wraps(function)
        def wrapper(*args: object) -> Any:
            return keeper.function(*args)

        return wrapper

    class Hidden(Protocol):
        @kept
        def ask(self, text: str) -> str: ...

        @logged
        @functools.cache  # noqa: B019
        def cached(self, text: str) -> str: ...

    advice = "keeps the stub out of reach: decorate a method with a body, and let that call the stub"
    (ask, cached) = problems_of(Hidden)
    assert ask.startswith("Hidden.ask: a decorator, ")
    assert "kept" in ask
    assert ask.endswith(advice)
    assert cached == f"Hidden.cached: a decorator, _lru_cache_wrapper, {advice}"


def test_nothing_of_this_warns() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        aiservices.create(Asker, chat_model=ScriptedChatModel())
