"""What each parameter is for, and what is said of one that cannot be used."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, NewType, Protocol, TypedDict

import pytest
from typing_extensions import TypeAliasType

import aiservices
from aiservices import (
    ChatMessage,
    ChatRequestParameters,
    ImageContent,
    InvocationContext,
    InvocationParameters,
    UserMessage,
    UserName,
    UserText,
    V,
    Variables,
    user_message,
)
from aiservices.testing import ScriptedChatModel
from tests.declarations import problems_of, request_of, user_text

IMAGE = ImageContent(url="https://example.org/a.png")
Name = TypeAliasType("Name", Annotated[str, UserName])
Picture = TypeAliasType("Picture", ImageContent | None)


class Values(TypedDict):
    a: int


@pytest.mark.parametrize(
    "marked",
    [
        Annotated[str, UserName],
        Annotated[str, UserName()],
        Annotated[str, "a comment", UserName],
        Annotated[str | None, UserName],
        Annotated[str, UserName] | None,
        Annotated[Annotated[str, UserName], "a comment"],
        Name,
        Name | None,
    ],
    ids=str,
)
def test_a_marker_counts_wherever_in_the_annotation_it_stands(marked: Any) -> None:
    class Asker(Protocol):
        def ask(self, user: marked, text: str) -> str: ...

    message = request_of(Asker, "ana", "hi").messages[-1]
    assert isinstance(message, UserMessage)
    assert (message.name, message.text) == ("ana", "hi")


def test_contents_are_known_through_an_alias() -> None:
    class Asker(Protocol):
        @user_message("Look")
        def ask(self, picture: Picture, more: Sequence[ImageContent] = ()) -> str: ...

    contents = request_of(Asker, IMAGE, [IMAGE]).messages[-1].contents  # type: ignore[union-attr]
    assert contents[1:] == (IMAGE, IMAGE)


def test_settings_and_parameters_of_a_call_are_known_by_type_and_not_shown_to_the_model() -> None:
    seen: list[object] = []

    def told(context: InvocationContext) -> str:
        seen.append(context.parameters)
        return "Be brief."

    class Asker(Protocol):
        def ask(
            self,
            text: str,
            settings: ChatRequestParameters | None = None,
            given: InvocationParameters | None = None,
        ) -> str: ...

    given = InvocationParameters({"user": "secret"})
    request = request_of(
        Asker,
        "hi",
        ChatRequestParameters(temperature=0.5),
        given,
        system_message=told,
        parameters=ChatRequestParameters(temperature=1.0, seed=3),
    )
    assert (request.parameters.temperature, request.parameters.seed) == (0.5, 3)
    assert "secret" not in repr(request)
    request_of(Asker, "hi", system_message=told)
    assert seen == [given, InvocationParameters()]


def test_a_wrong_argument_for_settings_is_named_and_nothing_is_sent() -> None:
    class Asker(Protocol):
        def ask(self, text: str, settings: ChatRequestParameters) -> str: ...

    model = ScriptedChatModel()
    with pytest.raises(
        TypeError, match=r"Asker\.ask: the argument 'settings' is a dict, not ChatRequestParameters"
    ):
        aiservices.create(Asker, chat_model=model).ask("hi", {"temperature": 1})  # type: ignore[arg-type]
    assert model.requests == []


@dataclass
class Order:
    number: int
    day: date


UserId = NewType("UserId", int)


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (int, 3, "3"),
        (UserId, UserId(3), "3"),
        (Order, Order(1, date(2024, 2, 29)), '{"number":1,"day":"2024-02-29"}'),
        (list[Order], [Order(1, date(2024, 2, 29))], '[{"number":1,"day":"2024-02-29"}]'),
        (Any, "anything", "anything"),
        (object, 1.5, "1.5"),
        (list[str], [], "[]"),
        (str | int, 3, "3"),
        (str | ImageContent, "text", "text"),
    ],
    ids=str,
)
def test_an_argument_of_any_kind_can_be_the_user_message(kind: Any, value: Any, text: str) -> None:
    class Asker(Protocol):
        def ask(self, thing: kind) -> str: ...

    assert user_text(Asker, value) == text


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        (bytes, "bytes have no text form for a prompt: take a str, or a content such as ImageContent"),
        (bytes | None, "bytes have no text form"),
        (list[bytes], "bytes have no text form"),
        (Annotated[bytes, V("x")], "bytes have no text form"),
        (UserMessage, "messages cannot be passed as an argument: pass the text, or a content"),
        (list[ChatMessage], "messages cannot be passed as an argument"),
        (Sequence[UserMessage], "messages cannot be passed as an argument"),
        (list[UserMessage] | None, "messages cannot be passed as an argument"),
        (Annotated[str, UserText, UserName], "it carries several markers"),
        (Annotated[str, UserText, V("x")], "it carries several markers"),
        (Annotated[int, UserName], "the user name is text: annotate it as str"),
        (Annotated[list[str], UserText], "the user message is text: annotate it as str"),
        (Annotated[str, Variables], "only a dict[str, ...] can be marked Variables"),
        (Annotated[list[str], Variables], "only a dict[str, ...] can be marked Variables"),
    ],
    ids=str,
)
def test_a_parameter_that_cannot_be_used_is_named_with_what_to_write(kind: Any, why: str) -> None:
    """TYP-11 b"""

    class Asker(Protocol):
        @user_message("fixed")
        def ask(self, thing: kind) -> str: ...

    assert problems_of(Asker)[0].startswith(f"Asker.ask, parameter 'thing': {why}")


@pytest.mark.parametrize("kind", [dict[str, Any], Values, dict[str, int] | None, dict], ids=str)
def test_any_mapping_can_be_marked_as_variables(kind: Any) -> None:
    class Asker(Protocol):
        @user_message("{{ a }}")
        def ask(self, values: Annotated[kind, Variables]) -> str: ...

    assert user_text(Asker, {"a": 1}) == "1"


def test_parameters_without_annotation_or_of_varying_number_are_named_all_at_once() -> None:
    class Asker(Protocol):
        def ask(self, text, *more: str, other, **rest: int) -> str: ...  # type: ignore[no-untyped-def]

        def nothing(self): ...  # type: ignore[no-untyped-def]

    varying = "a prompt has no place for a varying number of arguments: name each one"
    assert [problem[: len(varying) + 40] for problem in problems_of(Asker)] == [
        text[: len(varying) + 40]
        for text in (
            "Asker.ask, parameter 'text': it has no annotation: say what it is, as in `text: str`",
            f"Asker.ask, parameter 'more': {varying}, or take a dict marked",
            "Asker.ask, parameter 'other': it has no annotation: say what it is, as in `text: str`",
            f"Asker.ask, parameter 'rest': {varying}, or take a dict marked",
            "Asker.nothing: it has no return annotation: say what it returns, as in `-> str`",
            'Asker.nothing: it has no user message: decorate it with @user_message("...")',
        )
    ]


def test_two_parameters_cannot_share_a_name_in_templates() -> None:
    class Asker(Protocol):
        @user_message("{{ x }}")
        def ask(self, x: str, y: Annotated[str, V("x")]) -> str: ...

        @user_message("{{ params }}")
        def other(self, params: InvocationParameters, x: Annotated[str, V("params")]) -> str: ...

    assert problems_of(Asker)[0] == (
        "Asker.ask: the parameters 'x' and 'y' are both called 'x' in templates: rename one"
    )
    assert all(problem.startswith("Asker.ask") for problem in problems_of(Asker))


def test_a_message_passed_all_the_same_is_refused_by_its_name() -> None:
    class Asker(Protocol):
        def ask(self, thing: object) -> str: ...

    with pytest.raises(TypeError, match=r"Asker\.ask: the argument 'thing' is bytes"):
        aiservices.create(Asker, chat_model=ScriptedChatModel()).ask(b"x")
