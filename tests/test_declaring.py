"""The decorators note what was declared, and refuse what cannot be meant."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import pytest

import aiservices
from aiservices import ConfigurationError, ai_service, system_message, user_message
from aiservices.declaring import declared_on
from aiservices.testing import ScriptedChatModel
from tests.declarations import problems_of, system_text, user_text


def test_a_decorator_gives_back_the_very_function_and_the_very_class() -> None:
    def ask(self: object, text: str) -> str: ...

    class Asker(Protocol):
        def ask(self, text: str) -> str: ...

    assert user_message("{{ text }}")(ask) is ask
    assert system_message("Be brief.")(Asker) is Asker
    assert ai_service(Asker) is Asker


def test_a_decorator_leaves_no_member_on_a_runtime_checkable_protocol() -> None:
    @ai_service(name="asker")
    @system_message("Be brief.")
    @runtime_checkable
    class Asker(Protocol):
        def ask(self, text: str) -> str: ...

    class Plain:
        def ask(self, text: str) -> str:
            return text

    assert isinstance(Plain(), Asker)


def test_a_message_of_a_class_is_its_own_and_not_copied_to_its_children() -> None:
    @system_message("Be brief.")
    class Parent(Protocol):
        def ask(self, text: str) -> str: ...

    class Child(Parent, Protocol): ...

    assert declared_on(Parent).system_message is not None
    assert declared_on(Child).system_message is None


@pytest.mark.parametrize("decorator", [user_message, system_message])
def test_a_decorator_without_brackets_is_told_how_to_be_written(decorator: object) -> None:
    with pytest.raises(TypeError, match=r'write @\w+_message\("..."\) with the template in brackets'):

        @decorator  # type: ignore[operator]
        def ask(self: object, text: str) -> str: ...


@pytest.mark.parametrize("given", [{}, {"template": "x", "resource": "x.md"}], ids=["neither", "both"])
def test_a_message_has_a_template_or_a_resource(given: dict[str, str]) -> None:
    with pytest.raises(TypeError, match="a template or resource=, one of the two"):
        system_message(**given)


@pytest.mark.parametrize("given", [{"template": 3}, {"resource": 3}, {"template": b"x"}, {"template": ""}])
def test_a_message_is_text(given: dict[str, str]) -> None:
    with pytest.raises(TypeError, match=r"takes text, not ['3b]"):
        user_message(**given)


def test_a_user_message_belongs_on_a_method() -> None:
    with pytest.raises(TypeError, match="on a method"):

        @user_message("x")
        class Asker(Protocol): ...


@pytest.mark.parametrize("target", [staticmethod(len), property(), 3, len], ids=type)
def test_a_message_on_anything_but_a_class_or_a_function_is_refused(target: object) -> None:
    with pytest.raises(TypeError, match="on a Protocol or on one of its methods"):
        system_message("x")(target)  # type: ignore[type-var]


@pytest.mark.parametrize("decorator", [user_message, system_message])
def test_two_messages_of_one_kind_are_refused_and_none_is_lost_silently(decorator: object) -> None:
    """two user messages."""
    with pytest.raises(ConfigurationError, match=r"ask: it has two \w+_message decorators"):

        @decorator("one")  # type: ignore[operator]
        @decorator("two")  # type: ignore[operator]
        def ask(self: object, text: str) -> str: ...


def test_ai_service_names_the_service_and_keeps_options_that_create_can_override() -> None:
    @ai_service(name="the-asker", system_message="From the class.")
    class Asker(Protocol):
        def ask(self, text: str) -> str: ...

    assert repr(aiservices.create(Asker, chat_model=ScriptedChatModel())) == "<AI service the-asker>"
    assert system_text(Asker, "hi") == "From the class."
    assert system_text(Asker, "hi", system_message="From create.") == "From create."


def test_the_factory_takes_the_options_of_ai_service_as_defaults_like_create_does() -> None:
    """create is the same as AiServices(...).create."""

    @ai_service(system_message="From the class.")
    class Asker(Protocol):
        def ask(self, text: str) -> str: ...

    def sent(**options: str) -> str | None:
        model = ScriptedChatModel("ok")
        aiservices.AiServices(chat_model=model, **options).create(Asker).ask("hi")  # type: ignore[arg-type]
        return model.request.messages[0].text

    assert sent() == "From the class."
    assert sent(system_message="From the factory.") == "From the factory."


def test_ai_service_checks_where_the_class_stands_and_names_everything_wrong() -> None:
    with pytest.raises(ConfigurationError) as caught:

        @ai_service
        class Asker(Protocol):
            @user_message("{{ nope }}")
            def ask(self, text: str) -> str: ...

            def other(self, text) -> object: ...  # type: ignore[no-untyped-def]

    assert [problem.partition(":")[0] for problem in caught.value.problems] == [
        "Asker.ask",
        "Asker.ask, parameter 'text'",
        "Asker.other, parameter 'text'",
        "Asker.other",
    ]


def test_ai_service_leaves_names_that_do_not_exist_yet_to_create() -> None:
    """SCH-25"""

    @ai_service
    class Asker(Protocol):
        @user_message("{{ question }}")
        def ask(self, question: Later) -> Later: ...

    with pytest.raises(
        ConfigurationError, match=r"parameter 'question': the annotation 'Later' names 'Later'"
    ):
        aiservices.create(Asker, chat_model=ScriptedChatModel())
    Later = int  # noqa: N806
    model = ScriptedChatModel("4")
    assert aiservices.create(Asker, chat_model=model).ask(3) == 4  # type: ignore[arg-type,comparison-overlap]


def test_ai_service_still_finds_what_is_wrong_beside_a_name_that_does_not_exist_yet() -> None:
    with pytest.raises(ConfigurationError, match="template syntax error"):

        @ai_service
        class Asker(Protocol):
            @user_message("{{ question")
            def ask(self, question: Later) -> str: ...  # noqa: F821


def test_ai_service_leaves_a_missing_user_message_to_create_which_may_supply_one() -> None:
    @ai_service
    class Asker(Protocol):
        def ask(self) -> str: ...

    assert user_text(Asker, user_message="Tell me a joke.") == "Tell me a joke."
    assert "no user message" in problems_of(Asker)[0]


def test_an_unknown_option_is_refused_where_it_is_written() -> None:
    with pytest.raises(ConfigurationError, match=r"unknown option 'nope': known are .*chat_model"):
        ai_service(nope=1)  # type: ignore[call-overload]
    with pytest.raises(ConfigurationError, match=r"'parse_retry': did you mean 'parse_retries'\?"):
        ai_service(parse_retry=1)  # type: ignore[call-overload]
