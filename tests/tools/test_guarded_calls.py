"""What guardrails on tools see, and where they stand among other interceptors."""

from __future__ import annotations

from typing import Any

import pytest

from aiservices import (
    ImageContent,
    ReturnBehavior,
    TextContent,
    ToolCall,
    ToolContext,
    ToolGuardrails,
    ToolOutcome,
    tool,
)
from guardrails import Accept, GuardrailRequest, Verdict

from .calling import call, results, service, texts
from .guarding import GUARD, clean, no_root, poisoned, read, rm


def test_pictures_stay_in_their_place_and_the_text_is_one() -> None:
    picture = ImageContent(url="https://example.org/cat.png")

    @tool
    def look() -> list[Any]:
        """Look."""
        return [picture, TextContent("sk-123"), picture, TextContent("b")]

    asked, model = service(call("look"), "ok", tools=[look], interceptors=[GUARD])
    asked.ask("go")
    (message,) = results(model.requests[1].messages)
    assert message.contents == (picture, TextContent("sk-***\nb"), picture)


def test_a_guardrail_knows_the_tool_and_who_calls(invoke: Any) -> None:
    seen: list[GuardrailRequest[Any]] = []

    async def watching(request: GuardrailRequest[Any]) -> Verdict[Any]:
        seen.append(request)
        return Accept()

    guard = ToolGuardrails(arguments=[watching], results=[watching])
    asked, _ = service(call("rm", path="é"), "ok", tools=[rm], interceptors=[guard])
    invoke(asked, "ask", "go")
    assert [request.text for request in seen] == ['{"path": "é"}', "removed"]
    assert [request.variables["tool"] for request in seen] == ["rm", "rm"]
    assert isinstance(seen[0].context, ToolContext)


def test_only_the_named_tools_are_guarded(invoke: Any) -> None:
    guard = ToolGuardrails(results=[clean], names=("poisoned",))
    asked, model = service(
        [call("read"), call("poisoned")], "ok", tools=[read, poisoned], interceptors=[guard]
    )
    invoke(asked, "ask", "go")
    assert texts(model.requests[1].messages)[0] == "key sk-123"
    assert "blocked" in texts(model.requests[1].messages)[1]


def test_interceptors_outside_of_it_see_the_rewritten_result_and_those_inside_the_raw_one(
    invoke: Any,
) -> None:
    seen: dict[str, str] = {}

    class Watching:
        def __init__(self, name: str) -> None:
            self.name = name

        def around(self, call: ToolCall, context: ToolContext, proceed: Any) -> ToolOutcome:
            outcome: ToolOutcome = proceed(call)
            seen[self.name] = outcome.text
            return outcome

    class AsyncWatching(Watching):
        async def around(self, call: ToolCall, context: ToolContext, proceed: Any) -> ToolOutcome:  # type: ignore[override]
            outcome: ToolOutcome = await proceed(call)
            seen[self.name] = outcome.text
            return outcome

    interceptors = [Watching("outside"), GUARD, AsyncWatching("inside")]
    asked, _ = service(call("read"), "ok", tools=[read], interceptors=interceptors)
    invoke(asked, "ask", "go")
    assert seen == {"outside": "key sk-***", "inside": "key sk-123"}


def test_the_value_of_an_immediate_tool_is_the_rewritten_text(invoke: Any) -> None:
    @tool(returns=ReturnBehavior.IMMEDIATE)
    def key() -> str:
        """Give the key."""
        return "sk-123"

    asked, _ = service(call("key"), returns=str, tools=[key], interceptors=[GUARD])
    assert invoke(asked, "ask", "go") == "sk-***"


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"names": "rm"}, r"names are several: give names=\('rm',\)"),
        ({"arguments": no_root}, "arguments is a function: give a list or a tuple"),
        ({"results": "x"}, "a guardrail has validate"),
        ({"results": [42]}, "a guardrail has validate"),
    ],
)
def test_what_would_guard_nothing_is_refused(options: Any, complaint: str) -> None:
    with pytest.raises(TypeError, match=complaint):
        ToolGuardrails(**options)
