"""The loop: model and tools in turn, step by step, until there is a reason to stop."""

from __future__ import annotations

from typing import Any

import pytest

from aiservices import (
    AiMessage,
    ChatResponse,
    ConfigurationError,
    Deny,
    FinishReason,
    LimitExceededError,
    Limits,
    PartialText,
    ReturnBehavior,
    SystemMessage,
    TokenUsage,
    ToolCall,
    ToolContext,
    ToolResultMessage,
    UserMessage,
    tool,
)
from aiservices.react import StopReason
from tests.react.asking import STYLES, agent, assert_paired, call, calls, outputs, short

both = pytest.mark.parametrize("style", STYLES)


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@both
def test_an_agent_without_tools_answers(style: str) -> None:
    asked, model = agent("Hello!", system_message="Be brief.")
    state = calls(style, asked, "invoke", "Hi")
    assert state.final_response == "Hello!"
    assert state.stop_reason is StopReason.FINAL
    assert short(state.messages) == ["U:Hi", "A:Hello!"]
    assert model.request.messages == (SystemMessage("Be brief."), UserMessage("Hi"))
    assert model.request.tools == ()


@both
def test_a_tool_is_run_and_its_result_shown_to_the_model(style: str) -> None:
    """AJ-01"""
    asked, model = agent(call("add", a=1, b=2), "It is 3.", tools=[add])
    state = calls(style, asked, "invoke", "1 + 2?")
    assert short(state.messages) == ["U:1 + 2?", "A?c1", "R:3", "A:It is 3."]
    result = state.messages[2]
    assert isinstance(result, ToolResultMessage)
    assert (result.tool_call_id, result.tool_name) == ("c1", "add")
    assert [spec.name for spec in model.requests[0].tools] == ["add"]


@both
def test_a_stream_shows_each_node_when_it_is_done(style: str) -> None:
    """LG-31"""
    asked, _ = agent(call("add", a=1, b=2), "It is 3.", tools=[add])
    shown = outputs(style, asked, "1 + 2?")
    assert [output.node for output in shown] == ["start", "agent", "action", "agent", "end"]
    assert [len(output.state.messages) for output in shown] == [1, 2, 3, 4, 4]
    assert [output.state.final_response for output in shown] == [None] * 3 + ["It is 3."] * 2
    assert {output.event for output in shown} == {None}


@both
def test_a_plain_answer_passes_no_action(style: str) -> None:
    asked, _ = agent("Hello!", tools=[add])
    assert [output.node for output in outputs(style, asked, "Hi")] == ["start", "agent", "end"]


@both
def test_the_pieces_of_an_answer_come_within_the_agent_node(style: str) -> None:
    """LG-47, AJ-02"""
    asked, _ = agent(call("add", a=1, b=2), "It is 3.", tools=[add])
    shown = outputs(style, asked, "1 + 2?", tokens=True)
    assert [output.node for output in shown if output.event is None] == [
        "start",
        "agent",
        "action",
        "agent",
        "end",
    ]
    pieces = [output.event.text for output in shown if isinstance(output.event, PartialText)]
    assert "".join(pieces) == "It is 3."
    assert {output.node for output in shown if output.event} == {"agent"}
    last_piece = max(index for index, output in enumerate(shown) if output.event)
    assert [output.node for output in shown[last_piece + 1 :]] == ["agent", "end"]


@both
def test_nothing_runs_before_the_first_step_of_a_stream(style: str) -> None:
    asked, model = agent("Hello!")
    stream = asked.stream("Hi") if style == "blocking" else asked.astream("Hi")
    assert model.requests == []
    del stream


def test_a_stream_that_is_left_runs_no_further() -> None:
    """NX-16"""
    asked, model = agent(call("add", a=1, b=2), "never", tools=[add])
    stream = asked.stream("1 + 2?", "t")
    assert next(stream).node == "start"
    assert next(stream).node == "agent"
    stream.close()  # type: ignore[attr-defined]
    assert len(model.requests) == 1
    assert asked.resume("t").final_response == "never"


@both
def test_the_steps_end_after_max_steps_and_every_call_has_a_result(style: str) -> None:
    """AGT-05, AJ-10, NX-11"""
    asked, model = agent(*[call("add", f"c{n}", a=n, b=1) for n in range(9)], tools=[add], max_steps=2)
    state = calls(style, asked, "invoke", "go")
    assert state.stop_reason is StopReason.MAX_STEPS
    assert state.final_response is None
    assert len(model.requests) == 2
    assert_paired(state.messages)
    assert short(state.messages)[-1] == "R:2"


def test_a_new_turn_goes_on_after_max_steps() -> None:
    asked, model = agent(call("add", a=1, b=1), "two", tools=[add], max_steps=1)
    assert asked.invoke("go", "t").stop_reason is StopReason.MAX_STEPS
    assert asked.resume("t").stop_reason is StopReason.MAX_STEPS
    assert asked.invoke("well?", "t").final_response == "two"
    assert len(model.requests) == 2


@pytest.mark.parametrize("steps", [0, -1, True, 1.5])
def test_too_few_steps_are_refused(steps: Any) -> None:
    with pytest.raises(ConfigurationError, match="max_steps is"):
        agent(max_steps=steps)


def test_no_limit_is_none() -> None:
    """AJ-05"""
    asked, _ = agent(
        *[call("add", f"c{n}", a=n, b=1) for n in range(30)], "done", tools=[add], max_steps=None
    )
    assert asked.invoke("go").final_response == "done"


@both
@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        (FinishReason.LENGTH, StopReason.LENGTH),
        (FinishReason.CONTENT_FILTER, StopReason.CONTENT_FILTER),
        (FinishReason.OTHER, StopReason.FINAL),
    ],
)
def test_other_ends_of_an_answer_have_a_reason(style: str, reason: FinishReason, stop: StopReason) -> None:
    """NX-07"""
    asked, _ = agent(ChatResponse(AiMessage("It beg"), finish_reason=reason))
    state = calls(style, asked, "invoke", "go")
    assert (state.stop_reason, state.final_response) == (stop, "It beg")


def test_the_calls_of_an_answer_that_was_cut_off_do_not_run() -> None:
    ran: list[int] = []
    cut = ChatResponse(
        AiMessage(tool_calls=[ToolCall("c1", "note", '{"n": 12')]), finish_reason=FinishReason.LENGTH
    )

    def note(n: int) -> None:
        ran.append(n)

    asked, _ = agent(cut, tools=[note])
    state = asked.invoke("go")
    assert state.stop_reason is StopReason.LENGTH
    assert short(state.messages)[-1] == "E:The call did not run: the answer was cut off."
    assert not ran


@both
def test_calls_of_one_answer_run_side_by_side_and_keep_their_order(style: str) -> None:
    """AGT-08, NX-01, NX-02"""

    def a() -> str:
        return "A"

    def b() -> str:
        raise ValueError("boom")

    asked, _ = agent(
        [call("a", "c1"), call("b", "c2"), call("nope", "c3"), call("add", "c4", a="x"), call("a", "c5")],
        "ok",
        tools=[a, b, add],
        interceptors=[Deny("nothing")],
    )
    state = calls(style, asked, "invoke", "go")
    assert_paired(state.messages)
    results = [item for item in state.messages if isinstance(item, ToolResultMessage)]
    assert [item.is_error for item in results] == [False, True, True, True, False]
    assert results[1].text.startswith("TOOL_ERROR: ")
    assert "boom" in results[1].text
    assert "there are: a, b, add" in results[2].text
    assert "UnknownToolError" in results[2].text
    assert "ToolArgumentsError" in results[3].text
    assert state.final_response == "ok"


@both
def test_a_denied_tool_does_not_run_and_the_model_is_told(style: str) -> None:
    """AJ-22, AJ-26"""
    asked, model = agent(
        call("add", a=1, b=2), "ok", tools=[add], interceptors=[Deny("add", reason="No sums.")]
    )
    assert calls(style, asked, "invoke", "go").final_response == "ok"
    assert model.requests[1].messages[-1].text == "The tool 'add' is not allowed here. No sums."  # type: ignore[union-attr]


@both
def test_exceeding_a_limit_raises_and_every_call_has_a_result(style: str) -> None:
    asked, _ = agent(
        call("add", "c1", a=1, b=2),
        [call("add", "c2", a=1, b=2), call("add", "c3", a=1, b=2)],
        tools=[add],
        limits=Limits(max_tool_calls=2),
    )
    with pytest.raises(LimitExceededError) as caught:
        calls(style, asked, "invoke", "go", "t")
    assert caught.value.limit == "max_tool_calls"
    assert len(caught.value.responses) == 2
    assert [item.is_error for item in caught.value.tool_executions] == [False, True, True]
    state = asked.state("t")
    assert state.stop_reason is StopReason.LIMIT
    assert_paired(state.messages)
    assert [text[:2] for text in short(state.messages)[3:]] == ["A?", "E:", "E:"]


def test_tokens_are_counted_over_the_whole_run() -> None:
    """AJ-08"""
    costly = TokenUsage(500, 500)
    asks = ChatResponse(AiMessage(tool_calls=[call("add", a=1, b=2)]), usage=costly)
    asked, _ = agent(
        asks, ChatResponse(AiMessage("3"), usage=costly), tools=[add], limits=Limits(max_tokens=1500)
    )
    with pytest.raises(LimitExceededError, match="max_tokens") as caught:
        asked.invoke("go", "t")
    assert caught.value.usage.total == 2000
    assert asked.state("t").final_response == "3"
    assert asked.state("t").stop_reason is StopReason.LIMIT


@both
def test_time_that_has_run_out_is_a_limit_and_a_resumed_run_has_time_again(style: str) -> None:
    """AJ-07"""
    asked, model = agent("late", limits=Limits(timeout=0))
    with pytest.raises(LimitExceededError, match="ran out of time"):
        calls(style, asked, "invoke", "go", "t")
    assert asked.state("t").stop_reason is StopReason.LIMIT
    assert model.requests == []
    with pytest.raises(LimitExceededError):
        asked.resume("t")


@both
def test_an_immediate_result_ends_the_run(style: str) -> None:
    @tool(returns=ReturnBehavior.IMMEDIATE)
    def show() -> str:
        """Show it."""
        return "the map"

    asked, model = agent(call("show"), tools=[show])
    state = calls(style, asked, "invoke", "go")
    assert (state.stop_reason, state.final_response) == (StopReason.IMMEDIATE, "the map")
    assert len(model.requests) == 1


def test_a_result_that_a_model_reused_the_id_of_is_still_found() -> None:
    asked, model = agent(call("add", "1", a=1, b=2), call("add", "1", a=2, b=2), "ok", tools=[add])
    state = asked.invoke("go")
    assert_paired(state.messages)
    assert short(state.messages) == ["U:go", "A?1", "R:3", "A?1-2", "R:4", "A:ok"]
    assert model.requests[2].messages == state.messages[:-1]


def test_the_key_of_a_call_is_its_own() -> None:
    keys: list[str] = []

    def note(context: ToolContext) -> None:
        keys.append(context.idempotency_key)

    asked, _ = agent([call("note", "c1"), call("note", "c2")], "ok", tools=[note])
    asked.invoke("go")
    asked2, _ = agent(call("note", "c1"), "ok", tools=[note])
    asked2.invoke("go")
    assert len(set(keys)) == 3


def test_the_thread_is_the_memory_id_of_tools() -> None:
    seen: list[Any] = []

    def note(context: ToolContext) -> None:
        seen.append((context.memory_id, context.service))

    asked, _ = agent(call("note"), "ok", tools=[note], name="scribe")
    asked.invoke("go", "t")
    assert seen == [("t", "scribe")]


def test_max_steps_alone_bounds_the_rounds() -> None:
    """AJ-05"""
    rounds = [call("add", f"c{number}", a=number, b=1) for number in range(120)]
    asked, _ = agent(*rounds, "done", tools=[add], max_steps=None)
    assert asked.invoke("go").stop_reason is StopReason.FINAL
    asked, _ = agent(*rounds, tools=[add], max_steps=110)
    assert asked.invoke("go").stop_reason is StopReason.MAX_STEPS
