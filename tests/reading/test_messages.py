"""Where the user message and the system message come from."""

from typing import Annotated, Any, Protocol

import pytest
from hypothesis import given
from hypothesis import strategies as st

import aiservices
from aiservices import (
    AudioContent,
    ChatRequestParameters,
    Content,
    ImageContent,
    InvocationContext,
    InvocationParameters,
    TextContent,
    UserText,
    V,
    system_message,
    user_message,
)
from aiservices.testing import ScriptedChatModel
from tests.declarations import problems_of, request_of, system_text, user_text

IMAGE = ImageContent(url="https://example.org/a.png")
OTHER = ImageContent(url="https://example.org/b.png")
AUDIO = AudioContent(data=b"abc", media_type="audio/wav")
HOSTILE = "{{ ''.__class__.__mro__ }} {% for i in range(9) %}x{% endfor %} ${a} %(b)s {c} #{d}"


class Spoken:
    def __str__(self) -> str:
        return "test123"


class Said(Protocol):
    """Methods named for the row of LangChain4j's table that they pin."""

    def row_201(self, text: str) -> str: ...
    def row_202(self, text: Annotated[str, UserText]) -> str: ...
    def row_203(self, text: Annotated[str, UserText], params: InvocationParameters) -> str: ...

    @user_message("fixed")
    def row_206(self) -> str: ...
    @user_message("Capital of {{it}}?")
    def row_207(self, country: str) -> str: ...
    @user_message("Capital of {{country}}?")
    def row_208(self, place: Annotated[str, V("country")]) -> str: ...
    @user_message("The {{it}} of {{country}}")
    def row_209(self, what: Annotated[str, V("it")], country: Annotated[str, V("country")]) -> str: ...
    @user_message("Capital of {{country}}?")
    def row_210(self, country: str) -> str: ...
    def row_214(self, thing: Spoken) -> str: ...
    def row_217(self, text: Annotated[str, "a mark of another library"]) -> str: ...


@pytest.mark.parametrize(
    ("method", "args", "text"),
    [
        ("row_201", ["Capital of Germany?"], "Capital of Germany?"),
        ("row_202", ["Capital of Germany?"], "Capital of Germany?"),
        ("row_203", ["Capital?", InvocationParameters({"user": "secret"})], "Capital?"),
        ("row_206", [], "fixed"),
        ("row_207", ["Germany"], "Capital of Germany?"),
        ("row_208", ["Germany"], "Capital of Germany?"),
        ("row_209", ["capital", "Germany"], "The capital of Germany"),
        ("row_210", ["Germany"], "Capital of Germany?"),
        ("row_214", [Spoken()], "test123"),
        ("row_217", ["Capital?"], "Capital?"),
    ],
)
def test_the_user_message_is_the_template_or_the_only_free_argument(
    method: str, args: list[Any], text: str
) -> None:
    """Rows 201 to 217"""
    request = request_of(Said, *args, method=method)
    (message,) = request.messages
    assert message.text == text


def test_invocation_parameters_are_needed_where_they_are_declared() -> None:
    """Row 204"""
    service = aiservices.create(Said, chat_model=ScriptedChatModel())
    with pytest.raises(TypeError, match="'params' is a NoneType, not InvocationParameters"):
        service.row_203("text", None)  # type: ignore[arg-type]


def test_the_users_text_is_never_a_template() -> None:
    """Row 205 in our form, TPL-07: variables belong into the system message, the text stays."""

    class Asker(Protocol):
        @system_message("You know {{ country }}.")
        def ask(self, text: Annotated[str, UserText], country: str) -> str: ...

    request = request_of(Asker, "What is the capital of {{country}}?", "Germany")
    assert [message.text for message in request.messages] == [
        "You know Germany.",
        "What is the capital of {{country}}?",
    ]


@pytest.mark.parametrize("text", [HOSTILE, "hi {{it}} {", "{% raw %}", "say {{lang}}"])
def test_an_argument_is_sent_verbatim_whatever_it_looks_like(text: str) -> None:
    """TPL-02, TPL-05, TPL-07"""

    class Asker(Protocol):
        def ask(self, text: str) -> str: ...

        @user_message("Translate to {{lang}}: {{msg}}")
        def translate(self, msg: str, lang: str) -> str: ...

        def number(self, text: str) -> list[int]: ...

    assert user_text(Asker, text) == text
    assert user_text(Asker, text, "it", method="translate") == f"Translate to it: {text}"
    typed = request_of(Asker, text, method="number", reply="[1]").messages[-1].text
    assert typed is not None
    assert typed.startswith(text)


@given(st.text(min_size=1))
def test_any_text_is_in_the_request_verbatim(text: str) -> None:
    class Asker(Protocol):
        def ask(self, text: str) -> str: ...

        @system_message("[{{ text }}]")
        @user_message("<{{ text }}>")
        def wrapped(self, text: str) -> str: ...

    assert user_text(Asker, text) == text
    assert user_text(Asker, text, method="wrapped") == f"<{text}>"
    assert system_text(Asker, text, method="wrapped") == f"[{text}]"


class Shown(Protocol):
    def row_211(self, text: Annotated[str, UserText], image: ImageContent) -> str: ...
    @user_message("Describe")
    def row_212(self, images: list[ImageContent]) -> str: ...
    def row_213(self, a: ImageContent, text: Annotated[str, UserText], b: ImageContent) -> str: ...
    def row_215(self, audio: AudioContent) -> str: ...
    def row_215_list(self, contents: list[Content]) -> str: ...

    def unmarked(self, image: ImageContent, text: str) -> str: ...
    @user_message("Look")
    def optional(self, image: ImageContent | None = None) -> str: ...
    @user_message("Look")
    def optional_list(self, images: list[ImageContent] | None) -> str: ...
    @user_message("Look")
    def pair(self, pair: tuple[ImageContent, AudioContent]) -> str: ...
    @user_message("Look")
    def many(self, images: tuple[ImageContent, ...]) -> str: ...
    @user_message("Look")
    def union(self, media: ImageContent | AudioContent) -> str: ...
    @user_message("Look")
    def alias(self, media: Content) -> str: ...
    @user_message("Look")
    def commented(self, media: Annotated[Content, "a comment"]) -> str: ...


@pytest.mark.parametrize(
    ("method", "args", "contents"),
    [
        ("row_211", ["What?", IMAGE], [TextContent("What?"), IMAGE]),
        ("row_212", [[IMAGE]], [TextContent("Describe"), IMAGE]),
        ("row_213", [IMAGE, "What?", OTHER], [IMAGE, TextContent("What?"), OTHER]),
        ("row_215", [AUDIO], [AUDIO]),
        ("row_215_list", [[AUDIO, TextContent("x")]], [AUDIO, TextContent("x")]),
        ("unmarked", [IMAGE, "What?"], [IMAGE, TextContent("What?")]),
        ("optional", [], [TextContent("Look")]),
        ("optional", [IMAGE], [TextContent("Look"), IMAGE]),
        ("optional_list", [None], [TextContent("Look")]),
        ("optional_list", [[]], [TextContent("Look")]),
        ("optional_list", [[IMAGE, OTHER]], [TextContent("Look"), IMAGE, OTHER]),
        ("pair", [(IMAGE, AUDIO)], [TextContent("Look"), IMAGE, AUDIO]),
        ("many", [(IMAGE, OTHER)], [TextContent("Look"), IMAGE, OTHER]),
        ("union", [AUDIO], [TextContent("Look"), AUDIO]),
        ("alias", [AUDIO], [TextContent("Look"), AUDIO]),
        ("commented", [AUDIO], [TextContent("Look"), AUDIO]),
    ],
)
def test_contents_stand_in_the_order_of_the_parameters_after_a_template(
    method: str, args: list[Any], contents: list[Content]
) -> None:
    """Rows 211 to 215"""
    assert list(request_of(Shown, *args, method=method).messages[-1].contents) == contents  # type: ignore[union-attr]


def test_the_user_message_option_is_for_methods_that_have_none() -> None:
    """Row 216 (contents come as arguments, not in a mapping), 226, 236"""

    class Asker(Protocol):
        def ask(self) -> str: ...

        def show(self, audio: AudioContent, image: ImageContent) -> str: ...

        def own(self, text: str) -> str: ...

        @user_message("declared")
        def declared(self) -> str: ...

    options = {"user_message": "from the option", "system_message": "Be brief."}
    assert [m.text for m in request_of(Asker, **options).messages] == ["Be brief.", "from the option"]
    assert user_text(Asker, "mine", method="own", **options) == "mine"
    assert user_text(Asker, method="declared", **options) == "declared"

    class Viewer(Protocol):
        @user_message("from the method")
        def show(self, audio: AudioContent, image: ImageContent) -> str: ...

    message = request_of(Viewer, AUDIO, IMAGE, method="show").messages[-1]
    assert message.contents == (TextContent("from the method"), AUDIO, IMAGE)  # type: ignore[union-attr]


def test_the_option_may_be_a_template_with_the_methods_variables() -> None:
    class Asker(Protocol):
        def ask(self, country: str, year: int) -> str: ...

    assert user_text(Asker, "Ghana", 1957, user_message="{{ country }} in {{ year }}") == "Ghana in 1957"
    assert "uses 'nope', which no parameter supplies" in problems_of(Asker, user_message="{{ nope }}")[0]


class Declared(Protocol):
    def chat(self) -> str: ...  # 218

    def marked(self, country: Annotated[str, V("country")]) -> str: ...  # 219

    def beside(self, text: Annotated[str, UserText], country: str) -> str: ...  # 220

    @user_message(" \n")
    def empty(self) -> str: ...  # 221

    @user_message("Hello")
    def both(self, text: Annotated[str, UserText]) -> str: ...  # 222

    def twice(self, text: str, a: InvocationParameters, b: InvocationParameters) -> str: ...  # 223

    def settings(
        self, text: str, a: ChatRequestParameters, b: ChatRequestParameters | None
    ) -> str: ...  # 223


def test_a_user_message_that_is_missing_doubled_or_empty_is_named_with_what_to_write() -> None:
    """Rows 218 to 223, all at once"""
    marks = "as Annotated[str, UserText]"
    assert problems_of(Declared) == (
        'Declared.chat: it has no user message: decorate it with @user_message("...")',
        'Declared.marked: it has no user message: decorate it with @user_message("..."), '
        f"or mark one of 'country' {marks}",
        "Declared.beside, parameter 'country': it is used nowhere: use it in a template as {{ country }}, "
        "or take it as InvocationParameters if the model is not to see it",
        "Declared.empty: user message: the text is empty",
        "Declared.both: it has two user messages: the template and the parameter 'text' marked UserText; "
        "keep one of them",
        "Declared.twice: the parameters 'a' and 'b' are each the invocation parameters: keep one of them",
        "Declared.settings: the parameters 'a' and 'b' are each the request parameters: keep one of them",
    )


class Instructed(Protocol):
    @system_message("fixed")
    def row_224(self, text: str) -> str: ...
    @system_message("Answer {{ how }}.")
    def row_225(self, text: Annotated[str, UserText], how: Annotated[str, V("how")]) -> str: ...
    def row_226(self, text: str) -> str: ...


def test_a_system_message_of_a_method_is_sent_first() -> None:
    """Rows 224 to 226, 230"""
    assert [m.text for m in request_of(Instructed, "hi", method="row_224").messages] == ["fixed", "hi"]
    assert system_text(Instructed, "hi", "briefly", method="row_225") == "Answer briefly."
    assert system_text(Instructed, "hi", method="row_226") is None
    assert system_text(Instructed, "hi", method="row_226", system_message="constant") == "constant"
    assert system_text(Instructed, "hi", method="row_224", system_message=lambda context: "never") == "fixed"


def test_a_callable_gets_the_context_and_its_text_is_sent_as_it_is() -> None:
    """Rows 227 to 229 as the public rules have them: one kind of callable, whose text is never a template."""

    def told(context: InvocationContext) -> str:
        return f"{context.service}.{context.method} {context.arguments['text']} {{{{ text }}}}"

    assert (
        system_text(Instructed, "hi", method="row_226", system_message=told)
        == "Instructed.row_226 hi {{ text }}"
    )

    class Asker(Protocol):
        def ask(self, text: str, more: str) -> str: ...

    assert user_text(Asker, "hi", "x", user_message=told) == "Asker.ask hi {{ text }}"


def test_the_message_of_a_method_replaces_that_of_its_class() -> None:
    """Rows 231 and 232"""

    @system_message("of the class")
    class Asker(Protocol):
        @system_message("of the method")
        def ask(self, text: str) -> str: ...

        def other(self, text: str) -> str: ...

    assert system_text(Asker, "hi") == "of the method"
    assert system_text(Asker, "hi", method="other") == "of the class"
    assert system_text(Asker, "hi", method="other", system_message="of the option") == "of the class"

    class Child(Asker, Protocol):
        def ask(self, text: str) -> str: ...

    @system_message("of the child")
    class Sister(Asker, Protocol): ...

    assert system_text(Child, "hi") == "of the class"
    assert system_text(Sister, "hi", method="other") == "of the child"
    assert system_text(Sister, "hi") == "of the method"


def test_a_transformer_sees_the_system_text_and_may_take_it_away() -> None:
    """Rows 233 and 234"""
    seen: list[str | None] = []

    def gone(text: str | None, context: InvocationContext) -> None:
        seen.append(text)

    for method in ("row_224", "row_226"):
        assert system_text(Instructed, "hi", method=method, system_message_transformer=gone) is None
    assert seen == ["fixed", None]


@pytest.mark.parametrize("option", ["system_message", "user_message"])
def test_an_option_that_is_neither_text_nor_a_callable_is_refused(option: str) -> None:
    class Asker(Protocol):
        @system_message("Be brief.")
        @user_message("Hello")
        def declared(self) -> str: ...

        def ask(self, image: Annotated[str, V("x")]) -> str: ...

    what = option.replace("_", " ")
    complaint = f"Asker.ask: {what}: a int is neither text nor a callable of the context"
    assert complaint in problems_of(Asker, **{option: 3})


@pytest.mark.parametrize("text", ["", " \n"])
def test_an_empty_option_is_refused(text: str) -> None:
    """Row 221"""

    class Asker(Protocol):
        def ask(self, text: str) -> str: ...

    assert problems_of(Asker, system_message=text) == ("Asker.ask: system message: the text is empty",)
