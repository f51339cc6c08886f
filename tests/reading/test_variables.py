"""What the names in a template stand for, and which parameters must be used."""

from typing import Annotated, Any, Literal, Protocol

import pytest

import aiservices
from aiservices import (
    AudioContent,
    ImageContent,
    InvocationParameters,
    SystemMessage,
    UserName,
    UserText,
    Variables,
    system_message,
    user_message,
)
from aiservices.testing import ScriptedChatModel
from tests.declarations import problems_of, request_of, user_text

IMAGE = ImageContent(url="https://example.org/a.png")
OTHER = ImageContent(url="https://example.org/b.png")
AUDIO = AudioContent(data=b"abc", media_type="audio/wav")
HOSTILE = "{{ ''.__class__.__mro__ }} {% for i in range(9) %}x{% endfor %} ${a} %(b)s {c} #{d}"


def test_a_parameter_that_no_template_uses_is_named_also_beside_a_system_message() -> None:
    """Row 235"""

    class Asker(Protocol):
        @system_message("Be brief.")
        def ask(self, text: Annotated[str, UserText], other: str) -> str: ...

    assert problems_of(Asker)[0].startswith("Asker.ask, parameter 'other': it is used nowhere")


@pytest.mark.parametrize("value", ["Klaus", "{{ it }}"])
def test_it_is_the_only_free_argument(value: str) -> None:
    """Row 193"""

    class Asker(Protocol):
        @user_message("My name is {{it}}.")
        def ask(
            self,
            name: str,
            user: Annotated[str, UserName],
            params: InvocationParameters | None = None,
            image: ImageContent | None = None,
        ) -> str: ...

    assert user_text(Asker, value, "ana") == f"My name is {value}."
    assert request_of(Asker, value, "ana").messages[-1].name == "ana"  # type: ignore[union-attr]


def test_it_is_nothing_when_there_are_two_free_arguments() -> None:
    class Asker(Protocol):
        @user_message("{{ it }} {{ a }} {{ b }}")
        def ask(self, a: str, b: str) -> str: ...

    assert problems_of(Asker) == (
        "Asker.ask: user message: the template uses 'it', which no parameter supplies (known: a, b); "
        "to write braces literally, use {% raw %}...{% endraw %}",
    )


def test_variables_that_no_parameter_supplies_are_named_for_both_messages() -> None:
    """Row 197, TPL-04"""

    class Asker(Protocol):
        @system_message("{{ b }} {{ a }} {{ current_date }}")
        @user_message("{{ thisismyline }} {{ text }}")
        def ask(self, text: str) -> str: ...

    assert [problem.partition("which")[0] for problem in problems_of(Asker)] == [
        "Asker.ask: system message: the template uses 'a', 'b', ",
        "Asker.ask: user message: the template uses 'thisismyline', ",
    ]


def test_entries_of_a_marked_mapping_are_variables_and_parameters_win_over_them() -> None:
    class Asker(Protocol):
        @user_message("{{ a }} {{ b }} {{ current_date }}")
        def ask(self, values: Annotated[dict[str, Any], Variables], b: str) -> str: ...

    values = {"a": 1, "b": "lost", "current_date": "today"}
    assert user_text(Asker, values, "b") == "1 b today"
    assert user_text(Asker, {**values, "values": "{{ b }}"}, "{{ a }}") == "1 {{ a }} today"
    service = aiservices.create(Asker, chat_model=ScriptedChatModel())
    with pytest.raises(aiservices.ConfigurationError, match=r"Asker\.ask: .*'a' is undefined"):
        service.ask({}, "b")


def test_single_braces_that_look_like_a_placeholder_are_pointed_out() -> None:
    """TPL-13"""

    class Clinic(Protocol):
        @user_message("Summarise patient {{pid}}")
        def a(self, pid: str) -> str: ...

        @user_message("Patient {pid}\nQuestion: { q }")
        def b(self, pid: str, q: str) -> str: ...

        @user_message('Use {"pid": 1} or {pid} as form for {{pid}}')
        def c(self, pid: str) -> str: ...

    assert problems_of(Clinic) == (
        "Clinic.b, parameter 'pid': the template writes {pid} with single braces: write {{ pid }}",
        "Clinic.b, parameter 'q': the template writes {q} with single braces: write {{ q }}",
    )


def test_several_parameters_without_a_template_are_no_message() -> None:
    """TYP-11"""

    class Asker(Protocol):
        def a(self, n: int, kind: str) -> str: ...

        @user_message("fixed")
        def c(self) -> str: ...

        def d(self, t: str) -> str:
            """A docstring is no message: the only free parameter is."""
            ...

    assert problems_of(Asker, system_message=lambda context: "{{n}}") == (
        'Asker.a: it has no user message: decorate it with @user_message("..."), '
        "or mark one of 'n', 'kind' as Annotated[str, UserText]",
    )

    class Rest(Asker, Protocol):
        @user_message("{{ n }} {{ kind }}")
        def a(self, n: int, kind: str) -> str: ...

    assert user_text(Rest, method="c") == "fixed"
    assert user_text(Rest, "hi", method="d") == "hi"


def test_one_of_several_free_parameters_is_the_message_when_the_system_template_takes_the_others() -> None:
    class Asker(Protocol):
        @system_message("You speak {{ language }}.")
        def ask(self, language: Literal["de", "fr"], question: str) -> str: ...

    request = request_of(Asker, "de", "Why?")
    assert request.messages[0] == SystemMessage("You speak de.")
    assert request.messages[1].text == "Why?"


def test_parameters_named_like_functions_of_the_template_language_are_variables() -> None:
    class Asker(Protocol):
        @user_message("{{ namespace }} {{ range }} {{ dict }} {{ self_ }} {{ current_time }}")
        def ask(self, namespace: str, range: str, dict: str, self_: str, current_time: str) -> str: ...  # noqa: A002

    assert user_text(Asker, "a", "b", "c", "d", "e") == "a b c d e"
