"""Typed answers, the diagram, and options that do not fit."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import wraps
from typing import Any

import pytest

from aiservices import (
    AiMessage,
    Capability,
    ConfigurationError,
    OutputParsingError,
    SystemMessage,
    UserMessage,
)
from aiservices.messages import ResponseFormat
from aiservices.react import AgentState, MessageWindow, StopReason, react
from aiservices.testing import ScriptedChatModel
from tests.react.asking import STYLES, agent, call, calls

both = pytest.mark.parametrize("style", STYLES)


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


class Mood(Enum):
    GOOD = "good"
    BAD = "bad"


@both
def test_a_typed_answer_is_read(style: str) -> None:
    asked, model = agent("good", response_format=Mood)
    state = calls(style, asked, "invoke", "How are you?")
    assert (state.value, state.final_response) == (Mood.GOOD, "good")
    assert "good" in model.request.messages[-1].text  # type: ignore[union-attr]
    assert state.messages[0] == UserMessage("How are you?")


def test_a_model_that_takes_schemas_is_sent_one() -> None:
    model = ScriptedChatModel('{"value": "bad"}', capabilities=[Capability.JSON_SCHEMA])
    assert react(chat_model=model, response_format=Mood).invoke("go").value is Mood.BAD
    assert model.request.response_format is not None


def test_a_format_is_sent_as_it_is() -> None:
    format_ = ResponseFormat("x", {"type": "object"})
    asked, model = agent("{}", response_format=format_)
    assert asked.invoke("go").value is None
    assert model.request.response_format == format_


@both
def test_an_answer_that_cannot_be_read_is_asked_for_again_and_not_remembered(style: str) -> None:
    asked, model = agent("so so", "good", response_format=Mood)
    state = calls(style, asked, "invoke", "How are you?")
    assert (state.value, [message.text for message in state.messages]) == (
        Mood.GOOD,
        ["How are you?", "good"],
    )
    shown = model.requests[-1].messages
    assert shown[-2] == AiMessage("so so")
    assert "Your answer could not be used" in shown[-1].text  # type: ignore[union-attr]


def test_when_it_still_cannot_be_read_that_is_an_error_and_the_run_can_be_resumed() -> None:
    asked, model = agent("so so", "well", "good", response_format=Mood)
    with pytest.raises(OutputParsingError) as raised:
        asked.invoke("go", "t")
    assert (raised.value.text, len(raised.value.responses)) == ("well", 2)
    assert asked.resume("t").value is Mood.GOOD
    assert model.requests[-1].messages == model.requests[0].messages


def test_asking_again_is_a_step_too() -> None:
    asked, model = agent("so so", "good", response_format=Mood, max_steps=1)
    with pytest.raises(OutputParsingError):
        asked.invoke("go")
    assert len(model.requests) == 1


def test_a_refusal_is_not_asked_again() -> None:
    asked, model = agent(AiMessage(attributes={"refusal": "No."}), response_format=Mood)
    with pytest.raises(OutputParsingError):
        asked.invoke("go")
    assert len(model.requests) == 1


def test_what_has_no_parser_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="response_format"):
        agent(response_format=lambda: 1)


@pytest.mark.parametrize("schema", [{"type": "object"}, '{"type": "object"}'])
def test_a_schema_alone_is_no_response_format(schema: Any) -> None:
    with pytest.raises(
        ConfigurationError, match=r"response_format is .*: give a type, or a ResponseFormat\(name, schema"
    ):
        agent(response_format=schema)


@pytest.mark.parametrize("wrong", [object, {"type": "object"}, "Mood"])
def test_what_is_wrong_with_a_response_format_is_told_with_the_other_mistakes(wrong: Any) -> None:
    with pytest.raises(ConfigurationError) as caught:
        react(chat_model="nobody:x", max_steps=0, response_format=wrong)
    starts = ["max_steps is 0", "no model provider", "response_format"]
    assert [any(problem.startswith(start) for problem in caught.value.problems) for start in starts] == [
        True
    ] * 3
    assert len(caught.value.problems) == 3


def test_a_turn_may_begin_with_messages() -> None:
    asked, model = agent("ok", system_message="Be brief.")
    said = [SystemMessage("And kind."), UserMessage("a"), AiMessage("b"), UserMessage("c")]
    asked.invoke(said)
    assert model.request.messages == (SystemMessage("Be brief.\n\nAnd kind."), *said[1:])
    with pytest.raises(TypeError, match="a turn begins with"):
        asked.invoke([])


def test_the_diagram_draws_the_condition() -> None:
    asked, _ = agent(tools=[add], approvals={"add": True})
    assert asked.diagram().splitlines() == [
        "flowchart TD",
        "    start([start]) --> agent[agent]",
        "    agent --> calls{tool calls?}",
        "    calls -- no --> stop([end])",
        "    calls -- yes --> guarded{approval needed?}",
        "    guarded -- no --> action[action]",
        "    guarded -- yes --> wait[/interrupted/]",
        "    wait -- resume --> action",
        "    action --> done{immediate or 20 steps?}",
        "    done -- no --> agent",
        "    done -- yes --> stop",
    ]
    plain, _ = agent(max_steps=None)
    assert "guarded" not in plain.diagram()
    assert "{immediate?}" in plain.diagram()


class Policy:
    def __call__(self, call: Any) -> bool:
        return True


@pytest.mark.parametrize(
    "policy", [lambda call: True, lambda: True, Policy(), lambda call, state, more: True]
)
def test_a_function_that_cannot_be_called_with_call_and_state_approves_nothing(policy: Any) -> None:
    with pytest.raises(
        ConfigurationError, match="approvals: the function of 'add' cannot be called with the call"
    ):
        agent(tools=[add], approvals={"add": policy})


class Hook:
    def before(self) -> None: ...

    async def after(self, update: Any) -> None: ...

    def around(self, state: Any) -> None: ...


class OddInterceptor:
    def around(self, call: Any, proceed: Any) -> Any: ...


def with_a_desk(function: Callable[..., Any]) -> Callable[..., Any]:
    """Hands over one argument more."""

    @wraps(function)
    def called(*arguments: Any) -> Any:
        return function(*arguments, "desk")

    return called


class Injected:
    @with_a_desk
    def before(self, state: Any, desk: str) -> None: ...

    @with_a_desk
    def around(self, call: Any, context: Any, proceed: Any, desk: str) -> Any: ...


def test_what_a_decorator_hands_over_is_not_asked_of_whoever_calls() -> None:
    made, _ = agent(
        tools=[add],
        approvals={"add": with_a_desk(lambda call, state, desk: True)},
        interceptors=[Injected()],
        execute_tools_hooks=[type("Before", (), {"before": Injected.before})()],
        conversation_policy=with_a_desk(lambda messages, state, desk: messages),
    )
    assert made.name


class Double:
    __signature__ = "made up, as doubles and proxies do"

    def __call__(self, *arguments: Any) -> bool:
        return True


def test_doubles_that_tell_nothing_of_their_arguments_are_taken() -> None:
    made, _ = agent(tools=[add], approvals={"add": Double()})
    assert made.name


@pytest.mark.parametrize("option", ["call_model_hooks", "execute_tools_hooks"])
def test_hooks_that_cannot_be_called_with_what_they_are_given_are_told(option: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        agent(**{option: [Hook()]})
    assert list(caught.value.problems) == [
        f"{option}: Hook.before cannot be called with the state",
        f"{option}: Hook.after cannot be called with the state and the update",
        f"{option}: Hook.around cannot be called with the state and proceed",
    ]


def test_an_interceptor_that_cannot_be_called_with_what_it_is_given_is_told() -> None:
    told = r"OddInterceptor\.around cannot be called with call, context and proceed"
    with pytest.raises(ConfigurationError, match=told):
        agent(interceptors=[OddInterceptor()])


@pytest.mark.parametrize("policy", [lambda messages: messages, list, lambda *, messages, state: messages])
def test_a_policy_that_cannot_be_called_with_messages_and_state_is_none(policy: Any) -> None:
    with pytest.raises(ConfigurationError, match="conversation_policy"):
        agent(conversation_policy=policy)


def test_functions_with_defaults_and_any_number_of_parameters_are_policies() -> None:
    asked, _ = agent(
        call("add", a=1, b=2),
        tools=[add],
        approvals={"add": lambda *given: True},
        conversation_policy=lambda messages, state=None, keep=5: messages[-keep:],
    )
    assert asked.invoke("go").stop_reason is StopReason.INTERRUPTED


def test_all_mistakes_come_in_one_error() -> None:
    with pytest.raises(ConfigurationError) as caught:
        react(
            chat_model=ScriptedChatModel(),
            tools=[add, add],
            max_steps=0,
            limits=3,  # type: ignore[arg-type]
            checkpointer="db",  # type: ignore[arg-type]
            call_model_hooks=[object()],
            execute_tools_hooks=dict,  # type: ignore[arg-type]
            approvals={"nope": True, "add": 3},  # type: ignore[dict-item]
            skills=7,  # type: ignore[arg-type]
            skill_injector=7,  # type: ignore[arg-type]
            channels={"messages": None, "log": 3},  # type: ignore[dict-item]
            name="not a name",
        )
    text = str(caught.value)
    for part in (
        "max_steps",
        "limits is a int",
        "checkpointer is a str",
        "none of the methods",
        "execute_tools_hooks is",
        "two tools are called 'add'",
        "approvals: there is no tool 'nope'",
        "approvals: 'add' is 3",
        "skills is a",
        "skill_injector is",
        "channels: 'messages'",
        "channels: 'log'",
        "name is 'not a name'",
    ):
        assert part in text


def test_what_a_provider_brings_may_be_guarded() -> None:
    class Provider:
        def provide(self, request: Any) -> list[Any]:
            return [add]

    asked, _ = agent(call("add", a=1, b=2), tool_providers=[Provider()], approvals={"add": True})
    assert asked.invoke("go").stop_reason is StopReason.INTERRUPTED


def test_an_agent_names_itself() -> None:
    asked, _ = agent(tools=[add], name="adder")
    assert repr(asked) == "<agent adder: add>"


def test_a_state_cannot_be_changed_and_has_no_other_parts() -> None:
    state = AgentState("t")
    with pytest.raises(AttributeError):
        state.messages = ()  # type: ignore[misc]
    with pytest.raises(
        AttributeError, match=r"frozen: give 'nope' in the update .* state.replace\(nope=...\)"
    ):
        state.nope = 1
    with pytest.raises(AttributeError, match="no channel 'nope'"):
        _ = state.nope
    with pytest.raises(TypeError, match="no 'nope'"):
        state.replace(nope=1)


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("tools", None, "tools is None: give a list"),
        ("tools", "abc", "tools is a str: give a list"),
        ("tool_providers", [3], "the tool provider 3"),
        ("interceptors", 3, "interceptors is a int"),
        ("interceptors", [print], "has no method around"),
        ("tool_executor", print, "tool_executor is a builtin_function_or_method"),
        ("system_message", 3, "system_message is a int"),
        ("parallel_tools", "no", "parallel_tools is a str"),
        ("release_thread", None, "release_thread is None"),
        ("conversation_policy", 3, "conversation_policy is a int"),
        ("conversation_policy", MessageWindow, "conversation_policy is the class MessageWindow"),
        ("approvals", ["send"], "approvals is a list"),
        ("channels", ["log"], "channels is a list"),
        ("description", None, "description is None"),
        ("response_format", {}, "response_format"),
        ("response_format", "json", "response_format is 'json': give a type, or a ResponseFormat"),
    ],
)
def test_an_option_of_the_wrong_kind_is_told(option: str, value: Any, told: str) -> None:
    with pytest.raises(ConfigurationError, match=told):
        agent(**{option: value})


@pytest.mark.parametrize("said", [None, 3, b"hello", AiMessage("hello"), ["hello"]])
def test_what_begins_no_turn_is_told(said: Any) -> None:
    asked, _ = agent()
    with pytest.raises(TypeError, match="a turn begins with"):
        asked.invoke(said)
