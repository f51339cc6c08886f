"""Hooks, and other functions of the user's, that give what nobody can use."""

from __future__ import annotations

from typing import Any

import pytest

from aiservices import AiMessage, ConfigurationError, ToolResultMessage, UserMessage
from aiservices.react import AgentState, Approve, Channel, Skill
from tests.react.asking import agent, assert_paired, call, short


@pytest.mark.parametrize(
    ("method", "given"), [("before", {}), ("after", "text"), ("around", None), ("around", [1])]
)
def test_a_hook_that_gives_something_else_is_refused(method: str, given: Any) -> None:
    hook = type("Odd", (), {method: lambda *_: given})()
    asked, _ = agent("ok", call_model_hooks=[hook])
    with pytest.raises(ConfigurationError, match=rf"the hook Odd.{method} of the node 'agent' gave a"):
        asked.invoke("go")


@pytest.mark.parametrize(
    ("part", "given"),
    [
        ("thread_id", "another"),
        ("messages", None),
        ("messages", "text"),
        ("messages", ("text",)),
        ("final_response", 3),
        ("active_skills", "x"),
        ("active_skills", (1,)),
        ("pending", (call("look"),)),
        ("stop_reason", "tired"),
        ("channels", None),
        ("channels", {"strange": 1}),
    ],
)
@pytest.mark.parametrize("method", ["before", "around"])
def test_a_state_that_cannot_be_one_of_the_thread_is_refused(
    method: str, part: str, given: Any, kept: dict[str, Any]
) -> None:
    class Odd:
        def before(self, state: AgentState) -> AgentState | None:
            return state.replace(**{part: given}) if method == "before" else None

        def around(self, state: AgentState, proceed: Any) -> Any:
            return proceed(state.replace(**{part: given}) if method == "around" else state)

    asked, model = agent("ok", call_model_hooks=[Odd()], channels={"n": None}, **kept)
    with pytest.raises(ConfigurationError, match=rf"Odd.{method} of the node 'agent' gave a state .* {part}"):
        asked.invoke("go", "t")
    assert (len(asked.history("t")), asked.history("another"), model.requests) == (1, [], [])


def test_a_hook_goes_on_with_a_state_only() -> None:
    class Odd:
        def around(self, state: AgentState, proceed: Any) -> Any:
            return proceed({})

    asked, _ = agent("ok", call_model_hooks=[Odd()])
    with pytest.raises(ConfigurationError, match=r"Odd.around of the node 'agent' gave a dict"):
        asked.invoke("go")


def test_a_method_that_is_none_is_none() -> None:
    class Half:
        before = around = None

        def after(self, state: AgentState, update: Any) -> Any:
            return {**update, "final_response": "else"}

    asked, _ = agent("ok", call_model_hooks=[Half()])
    assert asked.invoke("go").final_response == "else"


def test_a_hook_leaves_no_call_without_a_result() -> None:
    class Talking:
        def after(self, state: AgentState, update: Any) -> Any:
            return {"messages": (*update["messages"], UserMessage("quick"))}

    asked, _ = agent(call("look"), call_model_hooks=[Talking()])
    with pytest.raises(ConfigurationError, match="an answer with calls comes last"):
        asked.invoke("go")


def test_a_hook_may_give_results_with_the_calls() -> None:
    class Looking:
        def after(self, state: AgentState, update: Any) -> Any:
            (message,) = update["messages"]
            results = [ToolResultMessage(item.id, item.name, "seen") for item in message.tool_calls]
            return {"messages": (message, *results, AiMessage("done"))}

    asked, _ = agent([call("look", "c1"), call("look", "c2")], call_model_hooks=[Looking()])
    assert_paired(asked.invoke("go").messages)


@pytest.mark.parametrize("given", [None, 3, ["text"]])
def test_results_that_are_no_messages_are_refused(given: Any) -> None:
    class Odd:
        def after(self, state: AgentState, update: Any) -> Any:
            return {"messages": given}

    asked, _ = agent(call("look"), execute_tools_hooks=[Odd()])
    with pytest.raises(ConfigurationError, match="the update of the node 'action': messages are those"):
        asked.invoke("go")


def fail(*_: Any) -> Any:
    raise OSError("down")


@pytest.mark.parametrize(
    ("options", "note"),
    [
        ({"approvals": {"look": fail}}, "raised by what approvals give for 'look'"),
        ({"conversation_policy": fail}, "raised by the conversation policy"),
        ({"channels": {"n": Channel(fail, default=0)}}, "raised by the reducer of the channel 'n'"),
    ],
)
def test_a_function_of_the_users_that_fails_is_named(options: dict[str, Any], note: str) -> None:
    class Counting:
        def after(self, state: AgentState, update: Any) -> Any:
            return {**update, "n": 1} if "channels" in options else None

    def look() -> str:
        return "seen"

    asked, _ = agent(call("look"), "ok", tools=[look], call_model_hooks=[Counting()], **options)
    with pytest.raises(OSError) as caught:
        asked.invoke("go")
    assert caught.value.__notes__.count(note) == 1


def test_a_policy_that_gives_other_things_than_messages_is_refused() -> None:
    asked, model = agent("ok", conversation_policy=lambda messages, state: [*messages, None])
    with pytest.raises(TypeError, match="gave a NoneType among the messages"):
        asked.invoke("go")
    assert model.requests == []


@pytest.mark.parametrize(
    ("update", "complaint"),
    [
        ({"nope": 1}, "no channel 'nope'"),
        ({"pending": ()}, "no channel 'pending'"),
        ({"messages": "text"}, "messages are"),
        ({"final_response": 3}, "final_response is a text or None"),
        ({"active_skills": [3]}, "active_skills are texts"),
        ({"stop_reason": "tired"}, "no StopReason"),
    ],
)
def test_an_update_of_what_is_no_channel_is_refused(update: Any, complaint: str) -> None:
    class Updating:
        def after(self, state: AgentState, given: Any) -> Any:
            return update

    asked, _ = agent("ok", call_model_hooks=[Updating()])
    with pytest.raises(ConfigurationError, match=complaint):
        asked.invoke("go")


def test_a_class_is_no_hook() -> None:
    class Watching:
        def before(self, state: AgentState) -> None: ...

    with pytest.raises(ConfigurationError, match=r"give Watching\(\)"):
        agent(call_model_hooks=[Watching])


def test_hooks_of_a_round_that_waits_have_an_empty_update() -> None:
    seen: list[list[str]] = []

    class Seeing:
        def after(self, state: AgentState, update: Any) -> Any:
            seen.append(short(update.get("messages", ())))
            return {**update, "rounds": 1}

    def look(at: str) -> str:
        return at

    asked, _ = agent(
        [call("look", "c1", at="a"), call("look", "c2", at="b")],
        "done",
        tools=[look],
        approvals={"look": lambda wanted, state: wanted.id == "c2"},
        execute_tools_hooks=[Seeing()],
        channels={"rounds": Channel(lambda old, new: old + new, default=0)},
    )
    assert asked.invoke("go", "t").rounds == 0
    assert asked.resume("t", Approve()).rounds == 1
    assert seen == [[], ["R:a", "R:b"]]


def test_a_hook_may_give_a_result_the_name_of_no_tool() -> None:
    def look() -> str:
        return "seen"

    class Masking:
        def after(self, state: AgentState, update: Any) -> dict[str, Any]:
            return {**update, "messages": [ToolResultMessage("c1", "hidden", "masked")]}

    asked, _ = agent(call("look"), "ok", tools=[look], execute_tools_hooks=[Masking()])
    assert short(asked.invoke("go").messages)[2:] == ["R:masked", "A:ok"]


@pytest.mark.parametrize(("given", "active"), [("beta", ("beta", "alpha")), (None, ("alpha",))])
def test_skills_that_a_hook_writes_stand_beside_the_one_that_is_opened(given: Any, active: Any) -> None:
    class Writing:
        def after(self, state: AgentState, update: Any) -> dict[str, Any]:
            return {**update, "active_skills": given}

    skills = [Skill("alpha", "One", "ONE"), Skill("beta", "Two", "TWO")]
    opened = call("activate_skill", skill_name="alpha")
    asked, _ = agent(opened, "ok", skills=skills, execute_tools_hooks=[Writing()])
    assert asked.invoke("go").active_skills == active


@pytest.mark.parametrize(
    "said", [(UserMessage("go"),), (UserMessage("go"), AiMessage(tool_calls=[call("look", "other")])), ()]
)
def test_a_hook_cannot_take_away_the_calls_that_are_to_run(said: Any) -> None:
    """Their results would stand there without them, which no provider takes."""
    ran: list[str] = []

    def look() -> str:
        ran.append("look")
        return "seen"

    class Trimming:
        def before(self, state: AgentState) -> AgentState:
            return state.replace(messages=said)

    asked, _ = agent(call("look"), tools=[look], execute_tools_hooks=[Trimming()])
    with pytest.raises(ConfigurationError, match=r"Trimming\.before of the node 'action' .* last message"):
        asked.invoke("go")
    assert not ran


def test_a_hook_may_shorten_what_was_said_before_the_calls() -> None:
    def look() -> str:
        return "seen"

    class Trimming:
        def before(self, state: AgentState) -> AgentState:
            return state.replace(messages=state.messages[-1:])

    asked, _ = agent(call("look"), "ok", tools=[look], execute_tools_hooks=[Trimming()])
    assert short(asked.invoke("go").messages) == ["A?c1", "R:seen", "A:ok"]


def test_a_hook_may_answer_calls_of_tools_that_are_not_there() -> None:
    class Answering:
        def around(self, state: AgentState, proceed: Any) -> Any:
            (asked,) = state.messages[-1].tool_calls
            return {"messages": ToolResultMessage(asked.id, asked.name, "by the hook")}

    asked, _ = agent(call("ghost"), "ok", execute_tools_hooks=[Answering()])
    assert short(asked.invoke("go").messages) == ["U:go", "A?c1", "R:by the hook", "A:ok"]
