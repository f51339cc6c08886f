"""Templates, callables and arguments become the messages that are sent."""

from __future__ import annotations

from functools import wraps
from typing import Annotated, Any, Protocol

import pytest
from hypothesis import given
from hypothesis import strategies as st

import aiservices
from aiservices import (
    ConfigurationError,
    ImageContent,
    InvocationContext,
    SystemMessage,
    TextContent,
    UserMessage,
    UserName,
    UserText,
    Variables,
    system_message,
    user_message,
)
from aiservices.templates import TemplateError
from aiservices.testing import ScriptedChatModel
from outputparsers import output_parser
from tests.asking import asking
from tests.declarations import problems_of

CAT, DOG = ImageContent("https://example.test/cat.png"), ImageContent("https://example.test/dog.png")


class Guide(Protocol):
    @system_message("You guide people in {{ city }}.")
    @user_message("Describe {{ sight }} in {{ city }}.")
    def describe(self, sight: str, city: str) -> str: ...

    @system_message("You guide people in {{ city }}.")
    @user_message("Describe {{ sight }} in {{ city }}.")
    async def adescribe(self, sight: str, city: str) -> str: ...


def test_templates_are_rendered_once_with_the_arguments(invoke: Any) -> None:
    model = ScriptedChatModel("ok")
    invoke(aiservices.create(Guide, chat_model=model), "describe", "the {{ city }}", city="{% Bonn %}")
    assert model.request.messages == (
        SystemMessage("You guide people in {% Bonn %}."),
        UserMessage("Describe the {{ city }} in {% Bonn %}."),
    )


# Text and contents


class Viewer(Protocol):
    def in_order(self, first: ImageContent, text: Annotated[str, UserText], second: ImageContent) -> int: ...

    @user_message("Count the animals.")
    def templated(self, images: list[ImageContent]) -> int: ...

    @user_message("Count the animals.")
    def optional(self, image: ImageContent | None = None) -> int: ...

    def only(self, images: list[ImageContent]) -> int: ...

    def one(self, image: ImageContent) -> str: ...


def sent(method: str, *arguments: Any, said: str = "2") -> tuple[Any, ...]:
    model = ScriptedChatModel(said)
    getattr(aiservices.create(Viewer, chat_model=model), method)(*arguments)
    (message,) = model.request.messages
    assert isinstance(message, UserMessage)
    return message.contents


def test_the_parts_keep_the_order_of_the_parameters_and_the_text_ends_with_the_instructions() -> None:
    first, text, second = sent("in_order", CAT, "What is there?", DOG)
    assert (first, second) == (CAT, DOG)
    assert text.text.startswith("What is there?\n")
    assert "integer number" in text.text


def test_a_template_comes_before_the_contents() -> None:
    text, *images = sent("templated", [CAT, DOG])
    assert text.text.startswith("Count the animals.\n")
    assert images == [CAT, DOG]


def test_without_any_text_the_instructions_are_a_text_of_their_own_at_the_end() -> None:
    *images, text = sent("only", [CAT, DOG])
    assert images == [CAT, DOG]
    assert "integer number" in text.text


def test_a_content_alone_is_the_whole_message() -> None:
    assert sent("one", CAT) == (CAT,)


@pytest.mark.parametrize(("method", "nothing"), [("templated", []), ("optional", None), ("templated", ())])
def test_no_contents_add_nothing(method: str, nothing: Any) -> None:
    (text,) = sent(method, nothing)
    assert text.text.startswith("Count the animals.\n")


class Mixed(Protocol):
    def count(self, contents: list[TextContent | ImageContent]) -> int: ...


@given(st.lists(st.sampled_from([TextContent("a"), TextContent("b"), CAT, DOG]), min_size=1, max_size=6))
def test_instructions_end_the_last_text_and_nothing_else_moves(contents: list[Any]) -> None:
    model = ScriptedChatModel("2")
    aiservices.create(Mixed, chat_model=model).count(contents)
    instructions = output_parser(int).format_instructions()
    texts = [index for index, content in enumerate(contents) if isinstance(content, TextContent)]
    expected = list(contents)
    if texts:
        expected[texts[-1]] = TextContent(f"{contents[texts[-1]].text}\n{instructions}")
    else:
        expected.append(TextContent(instructions))
    assert model.request.messages == (UserMessage(expected),)


def test_what_is_no_content_is_refused_where_contents_are_due() -> None:
    with pytest.raises(TypeError, match=r"Viewer.one: the argument 'image' holds a str"):
        sent("one", "https://example.test/cat.png")
    with pytest.raises(TypeError, match=r"Viewer.templated: the argument 'images' holds a str"):
        sent("templated", [CAT, "dog.png"])


def test_a_message_of_nothing_is_not_sent() -> None:
    model = ScriptedChatModel()
    with pytest.raises(ValueError, match=r"Viewer.only: the user message would be empty"):
        aiservices.create(Viewer, chat_model=model).only([])
    assert not model.requests


def test_an_argument_without_a_text_form_is_named() -> None:
    class Any_(Protocol):
        def verbatim(self, thing: object) -> str: ...

        @user_message("See {{ thing }}")
        def rendered(self, thing: object) -> str: ...

    service = aiservices.create(Any_, chat_model=ScriptedChatModel())
    with pytest.raises(TypeError, match=r"Any_.verbatim: the argument 'thing' is object"):
        service.verbatim(object())
    with pytest.raises(ConfigurationError, match=r"Any_.rendered: variable 'thing' is object"):
        service.rendered(object())


# Callables


def from_context(context: InvocationContext) -> str:
    return f"{context.method} {context.arguments['text']} {{{{ it }}}}"


async def from_context_later(context: InvocationContext) -> str:
    return from_context(context)


@pytest.mark.parametrize("source", [from_context, from_context_later])
def test_a_callables_text_is_used_as_it_is(invoke: Any, source: Any) -> None:
    class Asker(Protocol):
        def ask(self, text: str, style: str) -> str: ...

        async def aask(self, text: str, style: str) -> str: ...

    model = ScriptedChatModel("ok")
    service = aiservices.create(Asker, chat_model=model, system_message=source, user_message=source)
    invoke(service, "ask", "hi", "short")
    system, user = model.request.messages
    assert system.text == user.text  # type: ignore[union-attr]
    assert system.text in ("ask hi {{ it }}", "aask hi {{ it }}")  # type: ignore[union-attr]


@pytest.mark.parametrize("nothing", [None, "", " \n"])
def test_a_system_callable_may_give_none(invoke: Any, nothing: str | None) -> None:
    model = ScriptedChatModel("ok")
    service = aiservices.create(asking(str), chat_model=model, system_message=lambda context: nothing)
    invoke(service, "ask", "hi")
    assert model.request.messages == (UserMessage("hi"),)


def test_a_user_callable_may_give_none_beside_contents_only() -> None:
    class Seer(Protocol):
        def see(self, image: ImageContent | None, how: str, where: str) -> str: ...

    model = ScriptedChatModel("ok")
    service = aiservices.create(Seer, chat_model=model, user_message=lambda context: None)
    service.see(CAT, "a", "b")
    assert model.request.messages == (UserMessage(CAT),)
    with pytest.raises(ValueError, match=r"Seer.see: the user message would be empty"):
        service.see(None, "a", "b")


@pytest.mark.parametrize("option", ["system_message", "user_message"])
def test_a_callable_that_gives_no_text_is_named(invoke: Any, option: str) -> None:
    class Asker(Protocol):
        def ask(self, text: str, style: str) -> str: ...

        async def aask(self, text: str, style: str) -> str: ...

    options: dict[str, Any] = {"user_message": from_context, option: lambda context: 7}
    service = aiservices.create(Asker, chat_model=ScriptedChatModel(), **options)
    with pytest.raises(TypeError, match=rf"ask: the {option} callable gave a int: it must be a str or None"):
        invoke(service, "ask", "a", "b")


def test_an_error_of_a_callable_reaches_the_caller_unchanged(invoke: Any) -> None:
    def fail(context: InvocationContext) -> str:
        raise error

    error = TemplateError("mine, not the framework's")
    service = aiservices.create(asking(str), chat_model=ScriptedChatModel(), system_message=fail)
    with pytest.raises(TemplateError) as caught:
        invoke(service, "ask", "hi")
    assert caught.value is error


def test_an_error_of_the_model_is_not_taken_for_one_of_the_template() -> None:
    error = TemplateError("the model's own")
    with pytest.raises(TemplateError) as caught:
        aiservices.create(asking(str), chat_model=ScriptedChatModel(error)).ask("hi")
    assert caught.value is error


# The system message's transformer


async def shout_later(text: str | None, context: InvocationContext) -> str | None:
    return text and text.upper()


async def shout_alone(text: str | None) -> str | None:
    return text and text.upper()


@pytest.mark.parametrize(
    "transform",
    [
        lambda text, context: text and text.upper(),
        shout_later,
        lambda text: text and text.upper(),
        shout_alone,
    ],
)
@pytest.mark.parametrize("system", ["Be brief.", None])
def test_a_transformer_gets_the_text_or_none(invoke: Any, transform: Any, system: str | None) -> None:
    model = ScriptedChatModel("ok")
    service = aiservices.create(
        asking(str), chat_model=model, system_message=system, system_message_transformer=transform
    )
    invoke(service, "ask", "hi")
    assert model.request.messages[:-1] == ((SystemMessage("BE BRIEF."),) if system else ())


def test_a_transformer_can_add_a_system_message_or_take_it_away() -> None:
    model = ScriptedChatModel("ok", "ok")
    config = aiservices.AiServices(chat_model=model, system_message="Be brief.")
    for transform in (lambda text, context: "Be kind.", lambda text, context: None):
        config.replace(system_message_transformer=transform).create(asking(str)).ask("hi")
    added, taken = model.requests
    assert added.messages[0] == SystemMessage("Be kind.")
    assert taken.messages == (UserMessage("hi"),)


def decorated(*more: str) -> Any:
    """A decorator that takes whatever comes, and may hand over more."""

    def decorate(function: Any) -> Any:
        return wraps(function)(lambda *arguments: function(*arguments, *more))

    return decorate


@pytest.mark.parametrize(
    "transform",
    [
        decorated()(lambda text: text.upper()),
        decorated()(lambda text, context: text.upper()),
        decorated("!")(lambda text, context, more: text.upper()),
    ],
)
def test_a_transformer_may_be_decorated(transform: Any) -> None:
    model = ScriptedChatModel("ok")
    service = aiservices.create(
        asking(str), chat_model=model, system_message="Be brief.", system_message_transformer=transform
    )
    service.ask("hi")
    assert model.request.messages[0] == SystemMessage("BE BRIEF.")


def test_a_transformer_that_gives_no_text_is_refused() -> None:
    service = aiservices.create(
        asking(str), chat_model=ScriptedChatModel(), system_message_transformer=lambda text, context: 7
    )
    with pytest.raises(TypeError, match=r"Asker.ask: system_message_transformer gave a int"):
        service.ask("hi")


def test_a_transformer_that_cannot_be_called_is_told_when_the_service_is_created() -> None:
    problems = problems_of(
        asking(str), system_message_transformer=lambda: "?", chat_request_transformer=lambda a, b, c: a
    )
    advice = "cannot be called with what is to be transformed, nor with that and the context"
    assert problems == (
        f"system_message_transformer {advice}",
        f"chat_request_transformer {advice}",
    )


# Names and variables


class Named(Protocol):
    def chat(self, who: Annotated[str | None, UserName], text: Annotated[str, UserText]) -> str: ...


@pytest.mark.parametrize(("given", "name"), [("ana", "ana"), (None, None), ("", None)])
def test_a_user_may_have_a_name(given: str | None, name: str | None) -> None:
    model = ScriptedChatModel("ok")
    aiservices.create(Named, chat_model=model).chat(given, "hi")
    assert model.request.messages == (UserMessage("hi", name),)


def test_a_name_that_is_no_text_is_refused() -> None:
    with pytest.raises(TypeError, match=r"Named.chat: the argument 'who' is a int"):
        aiservices.create(Named, chat_model=ScriptedChatModel()).chat(7, "hi")  # type: ignore[arg-type]


class Filled(Protocol):
    @user_message("{{ a }} {{ b }}")
    def fill(self, a: str, rest: Annotated[dict[str, Any] | None, Variables]) -> str: ...


def test_the_entries_of_a_marked_dict_are_variables_and_parameters_win() -> None:
    model = ScriptedChatModel("ok")
    aiservices.create(Filled, chat_model=model).fill("1", {"a": "x", "b": "2"})
    assert model.request.messages == (UserMessage("1 2"),)


@pytest.mark.parametrize("rest", [{}, None])
def test_a_variable_missing_from_the_dict_is_named(rest: dict[str, Any] | None) -> None:
    with pytest.raises(ConfigurationError, match=r"Filled.fill: .*'b'"):
        aiservices.create(Filled, chat_model=ScriptedChatModel()).fill("1", rest)
