"""What `tools=` takes, how tools are found, what they are called, and every mistake at once."""

from __future__ import annotations

import abc
import threading
from dataclasses import dataclass
from typing import Annotated, Any, Protocol, TypeVar

import pytest

import aiservices
from aiservices import (
    ChatRequestParameters,
    ConfigurationError,
    ImageContent,
    InvocationParameters,
    Result,
    UserText,
    user_message,
)
from aiservices.messages import ToolCall, ToolSpec
from aiservices.testing import ScriptedChatModel
from aiservices.tools import Tool, ToolRegistry, tool, tools_of
from tests.tools.given import called, properties, results


def good(a: int) -> int:
    return a


def bad(x: threading.Thread) -> None: ...


class Base:
    @tool
    def add(self, a: int, b: int) -> int:
        """Add two numbers."""
        return a + b


class WithoutDecorator(Base):
    def __init__(self) -> None:
        self.log: list[tuple[int, int]] = []

    def add(self, a, b):  # type: ignore[no-untyped-def,override]
        self.log.append((a, b))
        return a + b


def test_what_overrides_a_tool_is_a_tool_without_a_decorator(invoke: Any) -> None:
    """TOOL-33, and row 262 in its better form."""
    desk = WithoutDecorator()
    (result,) = results(invoke, [desk], ToolCall("c1", "add", '{"a": 1, "b": "2"}'))
    assert (result.text, desk.log) == ("3", [(1, 2)])
    assert ToolRegistry([desk])["add"].spec == Base().add.spec


def test_what_overrides_a_tool_with_a_decorator_says_all_anew() -> None:
    """Row 257."""

    class Child(Base):
        @tool(name="plus", description="Plus.")
        def add(self, a: int, b: int) -> int:
            return a + b

    assert [(spec.name, spec.description) for spec in ToolRegistry([Child()]).specs] == [("plus", "Plus.")]


def test_an_asynchronous_override_is_awaited() -> None:
    class Later(Base):
        async def add(self, a: int, b: int) -> int:  # type: ignore[override]
            return a + b

    assert called(Later(), '{"a": 1, "b": 2}') == 3


def test_an_override_that_cannot_be_called_like_the_tool_is_refused() -> None:
    class Other(Base):
        def add(self, a: int, more: int) -> int:  # type: ignore[override]
            return a + more

    with pytest.raises(
        ConfigurationError, match=r"Other\.add overrides the tool 'add' and cannot be called like it"
    ):
        ToolRegistry([Other()])


@pytest.mark.parametrize("member", [None, 3, property(lambda self: 1 / 0)])
def test_what_is_no_method_any_more_is_no_tool_and_is_not_evaluated(member: object) -> None:
    class Less(Base):
        add = member  # type: ignore[assignment]

    with pytest.raises(ConfigurationError, match="Less has no method decorated with @tool"):
        ToolRegistry([Less()])


def test_private_and_computed_members_are_left_alone() -> None:
    class Desk(Base):
        @property
        def boom(self) -> int:
            raise AssertionError("evaluated")

        def __getattr__(self, name: str) -> Any:
            raise AssertionError(f"asked for {name}")

        def _private(self, x):  # type: ignore[no-untyped-def]
            return x

    assert list(ToolRegistry([Desk()])) == ["add"]


def test_methods_of_interfaces_are_found() -> None:
    """Row 261."""

    class Greets(Protocol):
        @tool
        def greet(self) -> str:
            return "hello"

    class Person(Greets):
        pass

    assert called(Person()) == "hello"


def test_an_abstract_tool_must_be_filled_and_what_fills_it_is_the_tool() -> None:
    class Desk(abc.ABC):
        @tool
        @abc.abstractmethod
        def outside(self, a: int) -> int:
            """Outside."""

        @abc.abstractmethod
        @tool
        def inside(self, a: int) -> int:
            """Inside."""

    class Filled(Desk):
        def outside(self, a: int) -> int:  # type: ignore[override]
            return a

        def inside(self, a: int) -> int:  # type: ignore[override]
            return a

    with pytest.raises(TypeError, match="abstract"):
        Desk()  # type: ignore[abstract]
    assert [spec.description for spec in ToolRegistry([Filled()]).specs] == ["Outside.", "Inside."]


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (Base, r"Base is a class: give an object of it, as in Base\(\)"),
        (object(), "object has no method decorated with @tool"),
        ([good], r"one of the tools is a list: give its items one by one, as in \*items"),
        ((good,), "one of the tools is a tuple"),
        ({"good": good}, "one of the tools is a dict"),
        ((item for item in [good]), "one of the tools is a generator"),
        ("good", "one of the tools is a str: give the function itself"),
        (3, "int has no method decorated with @tool"),
        ((ToolSpec("x"), 3), "3 cannot be called"),
    ],
    ids=lambda item: type(item).__name__,
)
def test_what_is_no_tool_is_refused_with_a_hint(item: Any, message: str) -> None:
    """Rows 237 to 239."""
    with pytest.raises(ConfigurationError, match=message):
        ToolRegistry([item])


def test_one_bad_tool_is_named_with_its_parameter_and_nothing_is_half_done() -> None:
    """SCH-17: every mistake at once."""

    def worse(y) -> None: ...  # type: ignore[no-untyped-def]

    with pytest.raises(ConfigurationError) as caught:
        ToolRegistry([good, bad, worse, good])
    assert [problem.split(":")[0] for problem in caught.value.problems] == [
        "tool 'bad', parameter 'x'",
        "tool 'worse', parameter 'y'",
        "two tools are called 'good', tests.tools.test_registry.good and tests.tools.test_registry.good",
    ]
    assert "Thread" in caught.value.problems[0]
    assert list(ToolRegistry([good])) == ["good"]


def test_two_tools_of_one_name_are_told_with_both_owners() -> None:
    """Rows 240 and 258 to 260."""

    class Child(Base):
        @tool(name="add")
        def plus(self, a: int, b: int) -> int:
            return a + b

    with pytest.raises(
        ConfigurationError, match=r"two tools are called 'add', .*Child\.add and .*Child\.plus: rename one"
    ):
        ToolRegistry([Child()])


@pytest.mark.parametrize("name", ["get it", "get.it", "größe", "x" * 65, "a/b"])
def test_a_declared_name_that_providers_refuse_is_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match="providers take names of 1 to 64 letters, digits, _ and -"):
        ToolRegistry([tool(name=name)(good)])


@pytest.mark.parametrize("name", ["get it", "server.get/it", "größe", "日本", "x" * 65, "😀" * 100, "\ud83d"])
def test_the_name_of_a_dynamic_tool_is_mapped_to_one_that_providers_take(name: str) -> None:
    """The same tool always gets the same name, whatever others there are, and is the same tool."""
    seen: list[dict[str, Any]] = []
    schema = {"type": "object", "properties": {"q": {"type": "string"}}}

    def execute(**arguments: Any) -> None:
        seen.append(arguments)

    made = Tool(ToolSpec(name, "Get.", schema, {"server": "s"}), execute)
    (spec,) = ToolRegistry([made]).specs
    assert spec.name.isascii()
    assert spec.name.replace("_", "").replace("-", "").isalnum()
    assert len(spec.name) <= 64
    assert (spec.description, spec.parameters, spec.attributes) == ("Get.", schema, {"server": "s"})
    both = ToolRegistry([Tool(ToolSpec(f"{name}!"), execute), made])
    assert both.specs[1] == spec
    assert both.specs[0].name != spec.name
    called(both[spec.name], '{"q": "x"}')
    assert seen == [{"q": "x"}]


def test_the_model_calls_a_dynamic_tool_by_its_mapped_name(invoke: Any) -> None:
    pair = (ToolSpec("server.get"), lambda **arguments: "got it")
    (name,) = ToolRegistry([pair])
    assert [result.text for result in results(invoke, [pair], ToolCall("c1", name, "{}"))] == ["got it"]


def test_a_registry_is_a_mapping_in_the_order_of_the_tools() -> None:
    registry = ToolRegistry([good, Base()])
    assert (list(registry), len(registry), "good" in registry) == (["good", "add"], 2, True)
    assert repr(registry) == "ToolRegistry(good, add)"
    more = registry.including(tools_of(tool(name="third")(good)))
    assert list(more) == ["good", "add", "third"]
    assert list(registry) == ["good", "add"]
    assert registry.including([]) is registry


class Clerk(Protocol):
    def answer(self, text: Annotated[str, UserText]) -> str:
        """Answer a question."""

    @user_message("Rate {{ text }}")
    def rate(self, text: str, parameters: InvocationParameters) -> Result[int]: ...

    @user_message("Rate {{ text }}")
    async def rate_later(self, text: str) -> Result[int]: ...

    @user_message("Say {{ text }}")
    def say(self, text: str, settings: ChatRequestParameters | None = None) -> str: ...


def test_a_service_is_a_tool_for_each_of_its_methods(invoke: Any) -> None:
    clerk = aiservices.create(Clerk, chat_model=ScriptedChatModel("42", "7", "8", "said"))
    specs = ToolRegistry([clerk]).specs
    assert [spec.name for spec in specs] == ["answer", "rate", "rate_later", "say"]
    assert specs[0].description == "Answer a question."
    assert [set(spec.parameters["properties"]) for spec in specs] == [{"text"}] * 4
    calls = [ToolCall(name, name, '{"text": "x"}') for name in ("answer", "rate", "rate_later", "say")]
    assert [result.text for result in results(invoke, [clerk], *calls, parallel_tools=False)] == [
        "42",
        "7",
        "8",
        "said",
    ]


def test_a_method_of_a_service_is_a_tool_under_another_name() -> None:
    clerk = aiservices.create(Clerk, chat_model=ScriptedChatModel("42"))
    assert called(tool(name="ask_clerk")(clerk.answer), '{"text": "x"}') == "42"


def test_two_services_with_the_same_methods_collide_by_name() -> None:
    first, second = (aiservices.create(Clerk, chat_model=ScriptedChatModel()) for _ in range(2))
    with pytest.raises(
        ConfigurationError, match=r"two tools are called 'answer', .*Clerk\.answer and .*Clerk\.answer"
    ):
        ToolRegistry([first, second])


class Looker(Protocol):
    def look(self, text: str, image: ImageContent) -> str: ...


class Tuner(Protocol):
    @user_message("{{ text }}")
    def tune(self, text: str, settings: ChatRequestParameters) -> str: ...


@pytest.mark.parametrize(
    ("service", "message"),
    [
        (
            Looker,
            "tool 'look', parameter 'image': no model can send ImageContent: take a text, or wrap the tool",
        ),
        (Tuner, "tool 'tune', parameter 'settings': no model can send ChatRequestParameters"),
    ],
)
def test_a_service_that_wants_what_no_model_can_send_is_refused(service: Any, message: str) -> None:
    made = aiservices.create(service, chat_model=ScriptedChatModel())
    with pytest.raises(ConfigurationError, match=message):
        ToolRegistry([made])


T_contra = TypeVar("T_contra", contravariant=True)


class Reads(Protocol[T_contra]):
    @user_message("{{ it }}")
    def read(self, it: T_contra) -> str: ...


def test_types_that_only_the_services_creator_could_resolve_are_known_to_its_tools() -> None:
    @dataclass
    class Local:
        number: int

    class Reader(Reads["Local"], Protocol):
        pass

    reader = aiservices.create(Reader, chat_model=ScriptedChatModel("read"))
    assert properties(reader)["it"]["properties"] == {"number": {"type": "integer"}}
    assert called(reader, '{"it": {"number": 1}}') == "read"
