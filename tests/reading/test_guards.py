"""What a declaration says about guardrails and moderation: which ones count, and what is wrong with them."""

from __future__ import annotations

from typing import Any, Protocol

import pytest

import aiservices
from aiservices import (
    ConfigurationError,
    ai_service,
    input_guardrails,
    moderate,
    output_guardrails,
    system_message,
    user_message,
)
from aiservices.assembling import assemble, chains_of
from aiservices.invocation import Setup
from aiservices.models import ModerationModel, ModerationResult
from aiservices.pipeline import STAGES, compose
from aiservices.reading import read_service
from aiservices.service import AiServices
from aiservices.skills import SkillShelf
from aiservices.testing import ScriptedChatModel
from aiservices.tools import ToolRegistry
from guardrails import Accept, Canary, GuardrailRequest, MaxLength, OutputGuardrailsConfig, Verdict


class A:
    def validate(self, request: GuardrailRequest[Any]) -> Verdict[Any]:
        return Accept()


class B(A):
    pass


class C(A):
    pass


class Costly(A):
    made = 0

    def __init__(self) -> None:
        Costly.made += 1


class NeedsMore(A):
    def __init__(self, secret: str) -> None: ...


def a_function(request: GuardrailRequest[Any]) -> Verdict[Any]:
    return Accept()


class Harmless(ModerationModel):
    def moderate(self, texts: Any) -> ModerationResult:
        return ModerationResult(False)


def setup_of(protocol: Any, method: str = "ask", **options: Any) -> Setup:
    """What the calls of a method are set up with."""
    config = AiServices(chat_model=ScriptedChatModel(), **options)
    (spec,) = [spec for spec in read_service(protocol).methods if spec.name == method]
    guards = chains_of(spec, config, [])
    return assemble(spec, ScriptedChatModel(), ToolRegistry(), SkillShelf(()), None, guards, config)


def chains(protocol: Any, method: str = "ask", **options: Any) -> tuple[list[str], list[str]]:
    setup = setup_of(protocol, method, **options)
    return [link.name for link in setup.input_chain], [link.name for link in setup.output_chain]


@input_guardrails(A)
@output_guardrails(A, max_retries=3)
class Base(Protocol):
    def ask(self, text: str) -> str: ...

    @input_guardrails(B(), a_function)
    @output_guardrails(B)
    def own(self, text: str) -> str: ...

    @input_guardrails()
    def unguarded(self, text: str) -> str: ...


class Inheriting(Base, Protocol):
    def other(self, text: str) -> str: ...

    def own(self, text: str) -> str: ...


@output_guardrails(C, max_retries=5)
class Replacing(Base, Protocol): ...


# Which ones count


def test_an_option_beats_the_method_which_beats_the_class() -> None:
    """Rows 454 and 455."""
    assert chains(Base) == (["A"], ["A"])
    assert chains(Base, "own") == (["B", "a_function"], ["B"])
    assert chains(Base, "own", input_guardrails=[C]) == (["C"], ["B"])
    assert chains(Base, "own", output_guardrails=[C()]) == (["B", "a_function"], ["C"])


def test_an_empty_list_takes_them_away() -> None:
    assert chains(Base, "unguarded") == ([], ["A"])
    assert chains(Base, "own", input_guardrails=[], output_guardrails=()) == ([], [])


def test_they_are_inherited_and_the_nearest_class_counts() -> None:
    assert chains(Inheriting) == chains(Inheriting, "other") == (["A"], ["A"])
    assert chains(Inheriting, "own") == (["A"], ["A"])  # a method that is declared anew is declared anew
    assert chains(Replacing) == (["A"], ["C"])
    assert chains(Replacing, "own") == (["B", "a_function"], ["B"])


def test_how_often_an_answer_is_judged_follows_the_same_order() -> None:
    def retries(protocol: Any, method: str = "ask", **options: Any) -> int:
        return setup_of(protocol, method, **options).output_config.max_retries

    assert retries(Base) == 3
    assert retries(Base, "own") == 2
    assert retries(Replacing) == 5
    assert retries(Base, output_guardrails=[C]) == 3
    assert retries(Base, output_guardrails_config=OutputGuardrailsConfig(7)) == 7


def test_a_moderation_is_for_the_methods_that_declare_it() -> None:
    class Some(Protocol):
        @moderate
        def ask(self, text: str) -> str: ...

        def other(self, text: str) -> str: ...

    moderation = Harmless()
    assert setup_of(Some, moderation_model=moderation).moderation_model is moderation
    assert setup_of(Some, "other", moderation_model=moderation).moderation_model is None

    @moderate
    class All(Some, Protocol): ...

    assert setup_of(All, "other", moderation_model=moderation).moderation_model is moderation


def test_where_nothing_is_declared_nothing_is_in_the_chain() -> None:
    class Plain(Protocol):
        def ask(self, text: str) -> str: ...

    def stages(setup: Setup) -> list[str]:
        found, proceed = [], compose(STAGES, setup)
        while hasattr(proceed, "args"):
            found.append(proceed.args[0].__name__)
            proceed = proceed.args[1]
        return found

    plain = ["observe", "render", "structure", "ask_model"]
    assert stages(setup_of(Plain, moderation_model=Harmless())) == plain
    assert stages(setup_of(Base, input_guardrails=[], output_guardrails=[])) == plain
    assert stages(setup_of(Base)) == [
        *("observe", "render", "guard_input", "structure", "guard_output", "ask_model")
    ]


def test_guardrails_that_an_option_replaces_are_not_even_made() -> None:
    Costly.made = 0

    @ai_service
    @input_guardrails(Costly)
    class Guarded(Protocol):
        def ask(self, text: str) -> str: ...

    aiservices.create(Guarded, chat_model=ScriptedChatModel(), input_guardrails=[])
    assert Costly.made == 0
    aiservices.create(Guarded, chat_model=ScriptedChatModel())
    assert Costly.made == 1


# What is wrong with them


def test_everything_that_is_no_guardrail_is_told_at_once_with_the_method() -> None:
    class Broken(Protocol):
        @input_guardrails(A, 42, NeedsMore, Canary)  # type: ignore[arg-type]
        def ask(self, text: str) -> str: ...

        @output_guardrails("x", int)  # type: ignore[arg-type]
        @user_message("{{ unknown }}")
        def other(self) -> str: ...

    with pytest.raises(ConfigurationError) as caught:
        aiservices.create(Broken, chat_model=ScriptedChatModel(), output_guardrails=[3])  # type: ignore[list-item]
    told = [[*problem.split(": ", 2)[:2], problem] for problem in caught.value.problems]
    starts = [(first, second) for first, second, _ in told]
    assert starts.count(("Broken.ask", "input_guardrails")) == 2
    assert starts.count(("Broken.other", "output_guardrails")) == 2
    assert any("NeedsMore needs arguments, give an instance" in whole for *_, whole in told)
    assert any("uses 'unknown'" in whole for *_, whole in told)
    assert any("int is neither" in whole for *_, whole in told)


def test_a_declaration_is_checked_where_it_stands() -> None:
    with pytest.raises(ConfigurationError, match=r"Broken\.ask: input_guardrails: a guardrail has validate"):

        @ai_service
        class Broken(Protocol):
            @input_guardrails(42)  # type: ignore[arg-type]
            def ask(self, text: str) -> str: ...


def test_one_that_cannot_be_made_is_told_with_what_else_is_wrong() -> None:
    class Failing(A):
        def __init__(self) -> None:
            raise TypeError("no luck")

    class Broken(Protocol):
        @moderate
        @input_guardrails(Failing)
        def ask(self, text: str) -> str: ...

    with pytest.raises(ConfigurationError) as caught:
        aiservices.create(Broken, chat_model=ScriptedChatModel())
    assert [problem.split(":")[0] for problem in caught.value.problems] == ["Broken.ask", "Broken.ask"]


@pytest.mark.parametrize("given", [MaxLength(3), a_function, "", 0, 42])
@pytest.mark.parametrize("option", ["input_guardrails", "output_guardrails"])
def test_an_option_takes_a_list(option: str, given: Any) -> None:
    with pytest.raises(ConfigurationError, match=f"{option} is a .*: give a list or a tuple"):
        aiservices.create(Base, chat_model=ScriptedChatModel(), **{option: given})


@pytest.mark.parametrize("given", [MaxLength(3), ["x"], [NeedsMore]])
@pytest.mark.parametrize("option", ["input_guardrails", "output_guardrails"])
def test_what_is_wrong_with_an_option_is_told_once_however_many_methods_there_are(
    option: str, given: Any
) -> None:
    class Asker(Protocol):
        def ask(self, text: str) -> str: ...

        def again(self, text: str) -> str: ...

    with pytest.raises(ConfigurationError) as caught:
        aiservices.create(Asker, chat_model=ScriptedChatModel(), **{option: given})
    assert len(caught.value.problems) == 1


@pytest.mark.parametrize("decorator", [input_guardrails, output_guardrails])
def test_brackets_are_not_forgotten(decorator: Any) -> None:
    name = decorator.__name__
    with pytest.raises(TypeError, match=rf"write @{name}\(\.\.\.\) with the guardrails in brackets"):

        @decorator
        class Bare(Protocol):
            def ask(self, text: str) -> str: ...

    class Forgetful(Protocol):
        @user_message("Say {{ text }}")
        @decorator
        def ask(self, text: str) -> str: ...

    with pytest.raises(ConfigurationError, match=rf"Forgetful\.ask: write @{name}\(\.\.\.\)"):
        aiservices.create(Forgetful, chat_model=ScriptedChatModel())


@pytest.mark.parametrize("decorator", [input_guardrails, output_guardrails])
def test_a_decorator_stands_once(decorator: Any) -> None:
    with pytest.raises(ConfigurationError, match=f"ask: it has two {decorator.__name__} decorators"):

        class Twice(Protocol):
            @decorator(A)
            @system_message("Hi")
            @decorator(B)
            def ask(self, text: str) -> str: ...

    with pytest.raises(ConfigurationError, match=f"Twice: it has two {decorator.__name__} decorators"):

        @decorator(A)
        @decorator(B)
        class Twice(Protocol):  # type: ignore[no-redef]
            def ask(self, text: str) -> str: ...


def test_a_number_of_retries_is_a_number_and_belongs_to_guardrails() -> None:
    for wrong in ("3", 1.5, True, None):
        with pytest.raises(TypeError, match=r"max_retries is .*: give a whole number"):
            output_guardrails(A, max_retries=wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="names no guardrails, and would replace others"):
        output_guardrails(max_retries=3)
