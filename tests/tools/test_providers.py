"""Tool providers: more tools for each call, from whoever knows which."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

import pytest

import aiservices
from aiservices import ConfigurationError, InvocationParameters, user_message
from aiservices.messages import ToolCall, ToolResultMessage, ToolSpec, UserMessage
from aiservices.testing import ScriptedChatModel
from aiservices.tools import ToolRequest, tool
from tests.tools.given import Asker


@tool
def fixed() -> str:
    return "fixed"


def extra() -> str:
    return "extra"


class Provider:
    """Gives `tools`; `requests` are those it was asked with."""

    def __init__(self, *tools: Any, dynamic: bool = False) -> None:
        self.tools = tools
        self.dynamic = dynamic
        self.requests: list[ToolRequest] = []

    def provide(self, request: ToolRequest) -> Iterable[Any]:
        self.requests.append(request)
        return self.tools


class LaterProvider(Provider):
    async def provide(self, request: ToolRequest) -> Iterable[Any]:  # type: ignore[override]
        return super().provide(request)


class Growing(Provider):
    """Gives one more tool each time it is asked."""

    def provide(self, request: ToolRequest) -> Iterable[Any]:
        super().provide(request)
        return (tool(name=f"tool_{number}")(extra) for number in range(len(self.requests)))


def asked(invoke: Any, *replies: Any, **options: Any) -> ScriptedChatModel:
    model = ScriptedChatModel(*replies, "done")
    assert invoke(aiservices.create(Asker, chat_model=model, **options), "ask", "go") == "done"
    return model


def offered(model: ScriptedChatModel) -> list[list[str]]:
    return [[spec.name for spec in request.tools] for request in model.requests]


def results(model: ScriptedChatModel) -> list[ToolResultMessage]:
    return [message for message in model.requests[-1].messages if isinstance(message, ToolResultMessage)]


@pytest.mark.parametrize("kind", [Provider, LaterProvider])
def test_what_providers_bring_is_added_to_the_services_own_tools(invoke: Any, kind: type[Provider]) -> None:
    """Also whatever else `tools=` takes: functions, pairs, objects."""
    first, second = kind(extra), kind((ToolSpec("remote"), lambda **arguments: "far"))
    model = asked(
        invoke,
        (ToolCall("1", "extra", "{}"), ToolCall("2", "remote", "{}"), ToolCall("3", "fixed", "{}")),
        tools=[fixed],
        tool_providers=[first, second],
    )
    assert offered(model) == [["fixed", "extra", "remote"]] * 2
    results = [
        message.text for message in model.requests[1].messages if isinstance(message, ToolResultMessage)
    ]
    assert results == ["extra", "far", "fixed"]


def test_a_provider_is_asked_once_for_a_call_and_a_dynamic_one_before_each_request(invoke: Any) -> None:
    once, always = Provider(extra), Growing(dynamic=True)
    calls = [ToolCall("1", "extra", "{}"), ToolCall("2", "tool_1", "{}")]
    model = asked(invoke, *calls, tool_providers=[once, always])
    assert offered(model) == [
        ["extra", "tool_0"],
        ["extra", "tool_0", "tool_1"],
        ["extra", "tool_0", "tool_1", "tool_2"],
    ]
    assert (len(once.requests), len(always.requests)) == (1, 3)


def test_a_provider_is_asked_anew_for_each_call_of_the_service(invoke: Any) -> None:
    provider = Growing()
    model = ScriptedChatModel("a", "b")
    service = aiservices.create(Asker, chat_model=model, tool_providers=[provider])
    invoke(service, "ask", "1")
    invoke(service, "ask", "2")
    assert offered(model) == [["tool_0"], ["tool_0", "tool_1"]]


class Told(Protocol):
    @user_message("{{ text }}")
    def ask(self, text: str, parameters: InvocationParameters) -> str: ...

    @user_message("{{ text }}")
    async def aask(self, text: str, parameters: InvocationParameters) -> str: ...


def test_a_provider_sees_the_conversation_so_far_and_the_callers_parameters(invoke: Any) -> None:
    provider = Provider(extra, dynamic=True)
    model = ScriptedChatModel(ToolCall("1", "extra", "{}"), "done")
    service = aiservices.create(Told, chat_model=model, tool_providers=[provider])
    given = InvocationParameters({"tenant": "t1"})
    invoke(service, "ask", "go", given)
    first, second = provider.requests
    assert (first.parameters, second.parameters) == (given, given)
    assert first.messages == (UserMessage("go"),)
    assert len(second.messages) == 3


@pytest.mark.parametrize("given", [None, (), [], iter(())])
def test_a_provider_may_have_nothing_to_give(invoke: Any, given: Any) -> None:
    class Nothing:
        def provide(self, request: ToolRequest) -> Any:
            return given

    assert offered(asked(invoke, tools=[fixed], tool_providers=[Nothing()])) == [["fixed"]]


@pytest.mark.parametrize(
    ("provider", "message"),
    [
        (
            Provider(fixed),
            r"two tools are called 'fixed', .*test_providers\.fixed and .*test_providers\.fixed",
        ),
        (Provider(3), "int has no method decorated with @tool"),
        (Provider(lambda it: it), "parameter 'it': it has no annotation"),
    ],
)
def test_what_a_provider_must_not_give_is_told_when_it_does(
    invoke: Any, provider: Provider, message: str
) -> None:
    service = aiservices.create(
        Asker, chat_model=ScriptedChatModel(), tools=[fixed], tool_providers=[provider]
    )
    with pytest.raises(ConfigurationError, match=message):
        invoke(service, "ask", "go")


def test_a_provider_that_gives_one_tool_bare_is_told_to_give_a_list(invoke: Any) -> None:
    class Bare:
        def provide(self, request: ToolRequest) -> Any:
            return fixed

    service = aiservices.create(Asker, chat_model=ScriptedChatModel(), tool_providers=[Bare()])
    with pytest.raises(ConfigurationError, match=r"Bare\.provide gave a Tool: give a list of tools"):
        invoke(service, "ask", "go")


def test_the_error_of_a_provider_ends_the_call(invoke: Any) -> None:
    class Broken:
        def provide(self, request: ToolRequest) -> Any:
            raise OSError("no connection")

    service = aiservices.create(Asker, chat_model=ScriptedChatModel(), tool_providers=[Broken()])
    with pytest.raises(OSError, match="no connection"):
        invoke(service, "ask", "go")


def test_a_tool_that_is_no_longer_offered_does_not_run_and_its_call_gets_a_result(invoke: Any) -> None:
    """TOOL-38: the names on offer are told."""

    class Vanishing(Provider):
        def provide(self, request: ToolRequest) -> Iterable[Any]:
            super().provide(request)
            return [extra] if len(self.requests) == 1 else []

    model = asked(
        invoke,
        ToolCall("1", "extra", "{}"),
        ToolCall("2", "extra", "{}"),
        tools=[fixed],
        tool_providers=[Vanishing(dynamic=True)],
    )
    first, second = (
        message for message in model.requests[2].messages if isinstance(message, ToolResultMessage)
    )
    assert first.text == "extra"
    assert second.is_error
    assert "there is no tool 'extra'; there are: fixed" in second.text
