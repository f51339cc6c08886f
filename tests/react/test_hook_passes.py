"""What hooks see of a pass, how often, and how they end a run or keep it from the model."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from aiservices import AiMessage, PartialText, ServerError, ToolCall, ToolContext, UserMessage
from aiservices.react import AgentState, Approve, StopReason
from tests.react.asking import STYLES, agent, assert_paired, call, calls, outputs, short

both = pytest.mark.parametrize("style", STYLES)


def add(a: int, b: int) -> int:
    return a + b


class Hearing:
    """Notes each update that a node leaves."""

    def __init__(self) -> None:
        self.updates: list[Any] = []

    def after(self, state: AgentState, update: Any) -> None:
        self.updates.append(dict(update))


@both
@pytest.mark.parametrize("tokens", [pytest.param(False, id="LG-46"), pytest.param(True, id="LG-47")])
def test_after_a_pass_a_hook_sees_the_whole_answer_once(style: str, tokens: bool) -> None:
    """LG-46, LG-47: also when the answer came in pieces, which are shown in their order."""
    hearing = Hearing()
    asked, _ = agent("Hello big World", call_model_hooks=[hearing])
    shown = outputs(style, asked, "go", tokens=tokens)
    assert [dict(update)["messages"] for update in hearing.updates] == [(AiMessage("Hello big World"),)]
    pieces = [output.event.text for output in shown if isinstance(output.event, PartialText)]
    assert "".join(pieces) == ("Hello big World" if tokens else "")
    assert shown[-1].node == "end"


@both
def test_a_hook_of_both_nodes_is_called_once_for_each_pass(style: str) -> None:
    """LG-48: the agent streams, the action does not."""
    hearing = Hearing()
    asked, _ = agent(
        call("add", a=1, b=2),
        "A B C",
        tools=[add],
        call_model_hooks=[hearing],
        execute_tools_hooks=[hearing],
    )
    shown = outputs(style, asked, "go", tokens=True)
    assert [short(update["messages"]) for update in hearing.updates] == [["A?c1"], ["R:3"], ["A:A B C"]]
    assert [output.event.text for output in shown if isinstance(output.event, PartialText)] == [
        "A",
        " B",
        " C",
    ]
    assert shown[-1].node == "end"


class Ending:
    """Ends the run after its node."""

    def after(self, state: AgentState, update: Any) -> Any:
        return {**update, "stop_reason": StopReason.FINAL, "final_response": "enough"}


@both
@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("call_model_hooks", ["U:go", "A?c1", "E:The call did not run: a hook ended the run."]),
        ("execute_tools_hooks", ["U:go", "A?c1", "R:3"]),
    ],
)
def test_a_hook_may_end_the_run_after_its_node(
    style: str, option: str, said: list[str], kept: dict[str, Any]
) -> None:
    """LG-42: what would have come next leaves no trace."""
    asked, model = agent(call("add", a=1, b=2), "never", tools=[add], **{option: [Ending()]}, **kept)
    state = calls(style, asked, "invoke", "go", "t")
    assert (state.stop_reason, state.final_response) == (StopReason.FINAL, "enough")
    assert short(state.messages) == said
    assert_paired(state.messages)
    assert len(model.requests) == 1
    assert asked.history("t")[0].next == "end"
    assert calls(style, asked, "resume", "t") == state


@both
def test_what_a_hook_ends_the_run_with_after_the_tools_is_a_typed_answer(
    style: str, kept: dict[str, Any]
) -> None:
    options: dict[str, Any] = {"response_format": Literal["enough"], "execute_tools_hooks": [Ending()]}
    asked, _ = agent(call("add", a=1, b=2), tools=[add], **options, **kept)
    assert calls(style, asked, "invoke", "go", "t").value == "enough"
    assert calls(style, asked, "state", "t").value == "enough"


class Noting:
    """Notes a word before and after what it stands around: a node, or a tool."""

    def __init__(self, name: str, trace: list[str]) -> None:
        self.name = name
        self.trace = trace

    def before(self, state: AgentState) -> None:
        self.trace.append(f"before {self.name}")

    def after(self, state: AgentState, update: Any) -> None:
        self.trace.append(f"after {self.name}")


class NotingTools:
    def __init__(self, trace: list[str]) -> None:
        self.trace = trace

    def around(self, asked: ToolCall, context: Any, proceed: Any) -> Any:
        self.trace.append(f"before tool {asked.name}")
        outcome = proceed(asked)
        self.trace.append(f"after tool {asked.name}")
        return outcome


@both
def test_the_steps_of_a_tool_turn_are_told_in_their_order(style: str) -> None:
    """AJ-35"""
    trace: list[str] = []
    asked, _ = agent(
        call("add", a=1, b=2),
        "3",
        tools=[add],
        call_model_hooks=[Noting("agent", trace)],
        execute_tools_hooks=[Noting("action", trace)],
        interceptors=[NotingTools(trace)],
    )
    calls(style, asked, "invoke", "go")
    assert trace == [
        "before agent",
        "after agent",
        "before action",
        "before tool add",
        "after tool add",
        "after action",
        "before agent",
        "after agent",
    ]


@both
def test_a_hook_may_keep_what_was_said_from_the_model(style: str) -> None:
    """AJ-32"""

    class Blocking:
        def around(self, state: AgentState, proceed: Any) -> Any:
            last = state.messages[-1]
            if isinstance(last, UserMessage) and "password" in last.text:
                text = "blocked: it holds a password"
                return {"messages": AiMessage(text), "final_response": text}
            return proceed(state)

    asked, model = agent(call_model_hooks=[Blocking()])
    state = calls(style, asked, "invoke", "my password is x")
    assert state.final_response == "blocked: it holds a password"
    assert model.requests == []


@both
def test_a_hook_may_rewrite_what_was_said(style: str) -> None:
    """AJ-33"""

    class Shouting:
        def before(self, state: AgentState) -> AgentState:
            return state.replace(messages=(UserMessage(state.messages[-1].text.upper()),))  # type: ignore[union-attr]

    asked, model = agent("ok", call_model_hooks=[Shouting()])
    calls(style, asked, "invoke", "hello")
    assert short(model.request.messages) == ["U:HELLO"]


class Around:
    def around(self, state: AgentState, proceed: Any) -> Any:
        return proceed(state)


class AsyncAround:
    async def around(self, state: AgentState, proceed: Any) -> Any:
        return await proceed(state)


@both
@pytest.mark.parametrize(
    "hook", [Noting("x", []), Around(), AsyncAround()], ids=lambda hook: type(hook).__name__
)
def test_a_guarded_call_waits_whatever_stands_around_the_nodes(
    style: str, hook: Any, kept: dict[str, Any]
) -> None:
    """LG-76"""
    asked, _ = agent(
        call("add", a=1, b=2),
        "3",
        tools=[add],
        approvals={"add": True},
        call_model_hooks=[hook],
        execute_tools_hooks=[hook],
        **kept,
    )
    state = calls(style, asked, "invoke", "go", "t")
    newest = asked.history("t")[0]
    assert (state.stop_reason, state.pending) == (StopReason.INTERRUPTED, (call("add", a=1, b=2),))
    assert (newest.node, newest.next, newest.state) == ("agent", "action", state)
    assert calls(style, asked, "resume", "t", Approve()).final_response == "3"


@both
def test_a_stream_of_pieces_stops_where_a_call_waits(style: str, kept: dict[str, Any]) -> None:
    """LG-63, LG-64: in each place where threads are kept, the run goes on from there."""
    asking_first = AiMessage("let me see", tool_calls=[call("add", a=1, b=2)])
    asked, _ = agent(asking_first, "3", tools=[add], approvals={"add": True}, **kept)
    shown = outputs(style, asked, "go", "t", tokens=True)
    pieces = [output.event.text for output in shown if isinstance(output.event, PartialText)]
    assert pieces == ["let", " me", " see"]
    assert [output.node for output in shown if not output.event] == ["start", "agent"]
    assert shown[-1].state.pending
    state = calls(style, asked, "resume", "t", Approve())
    assert short(state.messages) == ["U:go", "A?c1", "R:3", "A:3"]


class Forgetting:
    """Keeps what was said first, and forgets the rest."""

    def before(self, state: AgentState) -> AgentState:
        return state.replace(messages=state.messages[:1])


class ShowingLittle:
    """Shows the model what was said first."""

    def around(self, state: AgentState, proceed: Any) -> Any:
        return proceed(state.replace(messages=state.messages[:1]))


class Recalling:
    """Answers in the model's place, twice with the same call."""

    def __init__(self) -> None:
        self.answers = [AiMessage(tool_calls=[call("look")])] * 2

    def around(self, state: AgentState, proceed: Any) -> Any:
        return {"messages": self.answers.pop()} if self.answers else proceed(state)


@both
@pytest.mark.parametrize("hook", [Forgetting, ShowingLittle, Recalling])
def test_calls_of_a_run_have_keys_of_their_own_whatever_hooks_leave_out(style: str, hook: Any) -> None:
    """A tool that must not act twice would take the second call for the first."""
    keys: list[str] = []

    def look(context: ToolContext) -> str:
        keys.append(context.idempotency_key)
        return "seen"

    replies = [] if hook is Recalling else [call("look"), call("look")]
    asked, _ = agent(*replies, "done", tools=[look], call_model_hooks=[hook()])
    assert calls(style, asked, "invoke", "go").final_response == "done"
    assert len(keys) == len(set(keys)) == 2


@both
@pytest.mark.parametrize("node", ["call_model_hooks", "execute_tools_hooks"])
def test_calls_of_a_run_that_goes_on_have_keys_of_their_own_too(
    style: str, kept: dict[str, Any], node: str
) -> None:
    keys: list[str] = []

    class Forgetting:
        def before(self, state: AgentState) -> AgentState:
            return state.replace(messages=state.messages[-1:])

    def look(context: ToolContext) -> str:
        keys.append(context.idempotency_key)
        return "seen"

    asking = [call("look"), call("look"), ServerError("gone"), call("look"), call("look")]
    hooks: Any = {node: [Forgetting()]}
    asked, _ = agent(*asking, "done", tools=[look], **hooks, **kept)
    with pytest.raises(ServerError):
        calls(style, asked, "invoke", "go", "t")
    assert calls(style, asked, "resume", "t").final_response == "done"
    assert len(keys) == len(set(keys)) == 4


class Repeating:
    """Goes on with its node twice."""

    def around(self, state: AgentState, proceed: Any) -> Any:
        proceed(state)
        return proceed(state)


@both
def test_a_hook_that_goes_on_twice_runs_no_call_again(style: str, kept: dict[str, Any]) -> None:
    ran: list[int] = []

    def note(n: int) -> int:
        ran.append(n)
        return n

    asked, _ = agent(
        [call("note", "c1", n=1), call("note", "c2", n=2)],
        "ok",
        tools=[note],
        execute_tools_hooks=[Repeating()],
        parallel_tools=False,
        **kept,
    )
    state = calls(style, asked, "invoke", "go", "t")
    assert (ran, short(state.messages)) == ([1, 2], ["U:go", "A?c1,c2", "R:1", "R:2", "A:ok"])


class Trimming:
    """Lets the thread forget all but what the user said last."""

    def before(self, state: AgentState) -> AgentState:
        said = [item for item in state.messages if isinstance(item, UserMessage)]
        return state.replace(messages=tuple(said[-1:]))


@both
def test_a_call_with_the_id_of_one_that_was_forgotten_runs(style: str, kept: dict[str, Any]) -> None:
    """Some models count their calls anew; also after a run has taken up a round that was open."""
    ran: dict[str, str] = {}

    def note(n: int, context: ToolContext) -> int:
        ran[context.idempotency_key] = f"{n}"
        return n

    asked, _ = agent(
        [call("note", "c1", n=1), call("note", "c2", n=2)],
        call("note", "c1", n=3),
        call("note", "c1", n=4),
        "ok",
        tools=[note],
        call_model_hooks=[Trimming()],
        approvals={"note": lambda asked, state: asked.id == "c2"},
        **kept,
    )
    assert calls(style, asked, "invoke", "go", "t").stop_reason is StopReason.INTERRUPTED
    assert calls(style, asked, "resume", "t", Approve()).final_response == "ok"
    assert list(ran.values()) == ["1", "2", "3", "4"]


class Asking:
    """Asks for a call in the model's place when the user has spoken."""

    def around(self, state: AgentState, proceed: Any) -> Any:
        if isinstance(state.messages[-1], UserMessage):
            return {"messages": AiMessage(tool_calls=[call("add", a=1, b=2)])}
        return proceed(state)


@both
@pytest.mark.parametrize("is_guarded", [True, False])
def test_a_hook_may_ask_for_calls_before_the_model_was_asked(style: str, is_guarded: bool) -> None:
    asked, _ = agent("3", tools=[add], call_model_hooks=[Asking()], approvals={"add": is_guarded})
    state = calls(style, asked, "invoke", "go", "t")
    if is_guarded:
        state = calls(style, asked, "resume", "t", Approve())
    assert short(state.messages) == ["U:go", "A?c1", "R:3", "A:3"]
