"""Which members of a Protocol call the model, which run as they are written, and which can do neither."""

import functools
from collections.abc import Callable, Sized
from contextlib import AbstractContextManager
from typing import Annotated, Any, Protocol, TypeVar, overload, runtime_checkable

import pytest

import aiservices
from aiservices import (
    ConfigurationError,
    InMemoryStore,
    MemoryId,
    MessageWindowChatMemory,
    ReturnBehavior,
    moderate,
    tool,
    user_message,
)
from aiservices.rag import RetrievalAugmentor
from aiservices.testing import ScriptedChatModel
from tests.declarations import calling_the_model, problems_of

F = TypeVar("F", bound=Callable[..., Any])


class Parent(Protocol):
    def ask(self, t: str) -> str: ...

    def greet(self) -> str:
        return "parent"

    def repeat(self, t: str) -> str:
        return self.ask(t)


def test_a_child_may_give_a_stub_a_body_and_call_its_parents() -> None:
    class Child(Parent, Protocol):
        def ask(self, t: str) -> str:
            return f"own {t}"

        def greet(self) -> str:
            return f"child of {super().greet()}"

        def other(self, t: str) -> str: ...

    with ScriptedChatModel("model") as model:
        service = aiservices.create(Child, chat_model=model)
        assert (service.ask("x"), service.repeat("y"), service.greet()) == (
            "own x",
            "own y",
            "child of parent",
        )
        assert service.other("x") == "model"


def test_a_child_may_make_a_stub_of_a_method_with_a_body() -> None:
    class Child(Parent, Protocol):
        def repeat(self, t: str) -> str: ...

        @user_message("Say hello")
        def greet(self) -> str: ...

    assert calling_the_model(Child) == ["ask", "greet", "repeat"]
    with ScriptedChatModel("a", "b") as model:
        service = aiservices.create(Child, chat_model=model)
        assert (service.repeat("x"), service.greet()) == ("a", "b")
    assert [request.messages[-1].text for request in model.requests] == ["x", "Say hello"]


def test_what_a_child_puts_right_is_no_mistake_of_its_parent() -> None:
    class Wrong(Protocol):
        name: str

        @property
        def language(self) -> str: ...

        @staticmethod
        def helper(t: str) -> str: ...

        def untyped(self, t): ...  # type: ignore[no-untyped-def]

        @overload
        def many(self, t: str) -> str: ...
        @overload
        def many(self, t: int) -> int: ...

    class Right(Wrong, Protocol):
        name = "right"

        @property
        def language(self) -> str:
            return "de"

        @staticmethod
        def helper(t: str) -> str:
            return t

        def untyped(self, t: str) -> str: ...

        def many(self, t: Any) -> str: ...  # type: ignore[override]

    assert len(problems_of(Wrong)) >= 5
    assert calling_the_model(Right) == ["untyped", "many"]


def test_the_nearest_of_several_parents_decides() -> None:
    class Loud(Parent, Protocol):
        def greet(self) -> str:
            return "loud"

    class Quiet(Parent, Protocol):
        def greet(self) -> str:
            return "quiet"

    class Both(Loud, Quiet, Protocol): ...

    assert aiservices.create(Both, chat_model=ScriptedChatModel()).greet() == "loud"


def test_a_member_that_can_neither_run_nor_call_the_model_is_named() -> None:  # noqa: C901 - a long class
    class Asker(Protocol):
        name: str
        other: int

        @property
        def language(self) -> str: ...

        @staticmethod
        def helper(t: str) -> str: ...

        @classmethod
        def made(cls, t: str) -> str: ...

        @functools.cached_property
        def cached(self) -> str: ...

        @functools.lru_cache  # noqa: B019
        def remembered(self, t: str) -> str: ...

        def __len__(self) -> int: ...

        def __enter__(self) -> str: ...

        @overload
        def many(self, t: str) -> str: ...
        @overload
        def many(self, t: int) -> int: ...

        @overload
        def filled(self, t: str) -> str: ...
        @overload
        def filled(self, t: int) -> int: ...
        def filled(self, t: Any) -> Any: ...

        def selfless() -> str: ...  # type: ignore[misc]

        def keyword(*, t: str) -> str: ...  # type: ignore[misc]

        def varying(*t: str) -> str: ...

        def forgotten(t: str) -> str: ...  # type: ignore[misc]  # noqa: N805

        def renamed(this, t: str) -> str: ...  # noqa: N805

    assert problems_of(Asker) == (
        "Asker.name: it is no method: a service has methods, and constants with a value",
        "Asker.other: it is no method: a service has methods, and constants with a value",
        "Asker.language: a property cannot call the model: write a method with self",
        "Asker.helper: a staticmethod cannot call the model: write a method with self",
        "Asker.made: a classmethod cannot call the model: write a method with self",
        "Asker.cached: a cached_property cannot call the model: write a method with self",
        "Asker.remembered: a _lru_cache_wrapper cannot call the model: write a method with self",
        "Asker.__len__: a special method cannot call the model: give it a body, or another name",
        "Asker.__enter__: a special method cannot call the model: give it a body, or another name",
        "Asker.many: an @overload has no single return type: declare a method for each",
        "Asker.filled: an @overload has no single return type: declare a method for each",
        "Asker.selfless: it has no self: write `def name(self, ...)`",
        "Asker.keyword: it has no self: write `def name(self, ...)`",
        "Asker.varying: it has no self: write `def name(self, ...)`",
        "Asker.forgotten: it has no self: write `def name(self, ...)`",
    )


def test_overloads_of_a_method_with_a_body_are_its_own_affair() -> None:
    class Asker(Protocol):
        def ask(self, t: str) -> str: ...

        @overload
        def many(self, t: str) -> str: ...
        @overload
        def many(self, t: int) -> int: ...
        def many(self, t: Any) -> Any:
            return t

    assert aiservices.create(Asker, chat_model=ScriptedChatModel()).many(3) == 3


def test_overloads_that_a_notebook_had_before_are_forgotten() -> None:
    cell = """
from typing import Protocol, overload
class Asker(Protocol):
    {}
    def ask(self, t: str) -> str: ...
"""
    overloads = """@overload
    def ask(self, t: str) -> str: ...
    @overload
    def ask(self, t: int) -> str: ...
"""
    namespace: dict[str, Any] = {"__name__": __name__}
    exec(compile(cell.format(overloads), "<cell 1>", "exec"), namespace)
    assert "an @overload has no single return type" in problems_of(namespace["Asker"])[0]
    exec(compile(cell.format(""), "<cell 2>", "exec"), namespace)
    assert calling_the_model(namespace["Asker"]) == ["ask"]


class NoProtocol:
    def ask(self, t: str) -> str: ...  # type: ignore[empty-body]


class Implementation(Parent):
    """Implements a Protocol and is none."""


@pytest.mark.parametrize(
    ("service", "problem"),
    [
        (NoProtocol, "NoProtocol: it is not a typing.Protocol: write `class NoProtocol(Protocol):`"),
        (
            Implementation,
            "Implementation: it is not a typing.Protocol: write `class Implementation(Protocol):`",
        ),
        (int, "int: it is not a typing.Protocol: write `class int(Protocol):`"),
        (3, "3: it is not a typing.Protocol: give the Protocol class"),
        ("Parent", "'Parent': it is not a typing.Protocol: give the Protocol class"),
        (None, "None: it is not a typing.Protocol: give the Protocol class"),
        (list[int], "list: it is not a typing.Protocol: write `class list(Protocol):`"),
        (
            Protocol,
            "Protocol: it has no method for a model to answer: declare one, "
            "as in `def ask(self, text: str) -> str: ...`",
        ),
    ],
    ids=str,
)
def test_what_is_no_protocol_is_refused(service: Any, problem: str) -> None:
    assert problems_of(service) == (problem,)


def test_a_protocol_without_a_stub_is_refused() -> None:
    class Asker(Protocol):
        def greet(self) -> str:
            return "hello"

    assert "it has no method for a model to answer" in problems_of(Asker)[0]


def test_everything_wrong_with_declaration_and_options_comes_in_one_error() -> None:
    """every problem in one error, each naming class, method and parameter."""

    class Asker(Protocol):
        @user_message("{{ nope }}")
        def a(self, t: bytes) -> object: ...

        @user_message("{{ open")
        def b(self, t) -> str: ...  # type: ignore[no-untyped-def]

        @user_message(
            "{{ t }}",
        )
        def c(self, t: str) -> Callable[[], str]: ...

        @user_message(resource="missing.md")
        def d(self) -> str: ...

    with pytest.raises(ConfigurationError) as caught:
        aiservices.create(Asker, parse_retries=-1)
    expected = (
        "no chat_model",
        "parse_retries is -1",
        "Asker.a, parameter 't': bytes",
        "Asker.a: the return type says nothing",
        "Asker.b, parameter 't': it has no annotation",
        "Asker.b: user message: template syntax error",
        "Asker.c: the return type cannot be read",
        "Asker.d: user message: resource 'missing.md' cannot be read",
    )
    assert len(caught.value.problems) == len(expected)
    for problem, beginning in zip(caught.value.problems, expected, strict=True):
        assert problem.startswith(beginning)
    assert str(caught.value).splitlines() == list(caught.value.problems)


def test_one_tool_in_place_of_a_list_is_one_problem_among_others() -> None:
    @tool
    def look(city: str) -> str:
        return city

    class Asker(Protocol):
        def ask(self, text: str) -> str: ...

    with pytest.raises(ConfigurationError) as caught:
        aiservices.create(Asker, chat_model=ScriptedChatModel(), tools=look, parse_retries="3")  # type: ignore[arg-type]
    assert caught.value.problems == (
        "parse_retries is '3': give a whole number, 0 or more",
        "tools is a Tool: give a list or a tuple",
    )


def test_what_does_not_fit_the_options_comes_in_the_same_error_as_what_cannot_be_read() -> None:
    """`MemoryId` with no memory and `@moderate` with no model, beside other mistakes."""

    @tool(returns=ReturnBehavior.IMMEDIATE)
    def count() -> int:
        return 1

    class Asker(Protocol):
        @moderate
        @user_message("{{ nope }}")
        def a(self, user: Annotated[str, MemoryId]) -> str: ...

        def b(self, t: str) -> str: ...

    expected = (
        "both content_retriever and retrieval_augmentor are given",
        "Asker.a: user message: the template uses 'nope'",
        "Asker.a: @moderate needs the option moderation_model",
        "Asker.a: the parameter 'user' is a MemoryId",
        "Asker.b: the immediate tool 'count' returns",
    )
    found = problems_of(
        Asker,
        tools=[count],
        content_retriever=lambda query: (),
        retrieval_augmentor=RetrievalAugmentor(retrievers=[lambda query: ()]),
    )
    assert [problem.startswith(start) for problem, start in zip(found, expected, strict=True)] == [True] * 5


def test_a_parameter_that_cannot_be_read_may_be_the_memory_id() -> None:
    class Asker(Protocol):
        def chat(self, user: "Annotated[str, MemoryIdd]", message: str) -> str: ...  # type: ignore[name-defined]  # noqa: F821

    problems = problems_of(Asker, chat_memory_provider=lambda name: MessageWindowChatMemory(5))
    assert len(problems) == 1
    assert "'MemoryIdd'" in problems[0]


def test_a_tool_that_does_not_fit_is_told_once_and_not_for_each_method() -> None:
    @tool
    def book() -> str:
        return "booked"

    @book.compensation
    def cancel(result: str) -> None: ...

    class Asker(Protocol):
        def a(self, t: str) -> str: ...

        def b(self, t: str) -> str: ...

    assert len(problems_of(Asker, tools=[book], compensation_log=InMemoryStore())) == 1


def test_an_abstract_class_of_the_library_may_be_a_parent() -> None:
    class Measured(Sized, Protocol):
        def ask(self, t: str) -> str: ...

        def __len__(self) -> int:
            return 7

    class Managed(AbstractContextManager[Any], Protocol):  # type: ignore[misc]
        def ask(self, t: str) -> str: ...

    assert len(aiservices.create(Measured, chat_model=ScriptedChatModel())) == 7
    assert problems_of(Managed) == (
        "Managed.__exit__: a special method cannot call the model: give it a body, or another name",
    )


def test_a_runtime_checkable_protocol_knows_its_service() -> None:
    @runtime_checkable
    class Asker(Protocol):
        limit = 3

        def ask(self, t: str) -> str: ...

    service = aiservices.create(Asker, chat_model=ScriptedChatModel())
    assert isinstance(service, Asker)
    assert Asker in type(service).__mro__
