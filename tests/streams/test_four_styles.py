"""Plain, asynchronous, stream and asynchronous stream: the same memory, tools, undos, errors and usage."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

import pytest

import aiservices
from aiservices import (
    AiMessage,
    Limits,
    ServerError,
    TokenUsage,
    ToolCall,
    input_guardrails,
    output_guardrails,
    tool,
)
from aiservices.messages import ChatResponse, FinishReason
from aiservices.models import ModerationModel, ModerationResult
from aiservices.testing import Pieces
from aiservices.tools import ReturnBehavior
from guardrails import GuardrailRequest, Reject, Reprompt, Rewrite, Verdict
from tests.asking import answer

from .styles import STYLES, Told, tell


class Color(Enum):
    RED = "red"
    BLUE = "blue"


log: list[str] = []


@tool
def book(place: str) -> str:
    """Book a place."""
    log.append(f"booked {place}")
    return f"{place} is booked"


@book.compensation
def unbook(place: str, result: str) -> None:
    log.append(f"unbooked {place}")


@tool
def fail(reason: str) -> str:
    """Fail."""
    raise ValueError(reason)


@tool(returns=ReturnBehavior.IMMEDIATE)
def at_once() -> str:
    """Answer at once."""
    return "from the tool"


class Moderating(ModerationModel):
    def __init__(self, flagged: bool) -> None:
        self.flagged = flagged

    def moderate(self, texts: Sequence[str]) -> ModerationResult:
        return ModerationResult(self.flagged, ("hate",) if self.flagged else ())


def judge(request: GuardrailRequest[Any]) -> Verdict[Any]:
    return Reprompt("it is bad", "Be good.") if "bad" in request.text else Rewrite(request.text.upper())


def refuse(request: GuardrailRequest[Any]) -> Verdict[Any]:
    return Reject("no such words")


def booking(number: int, place: str = "Rome") -> ToolCall:
    return ToolCall(f"c{number}", "book", f'{{"place": "{place}"}}')


FAILING = ToolCall("f", "fail", '{"reason": "full"}')
UNDOING: dict[str, Any] = {"tools": [book, fail]}
Scenario = tuple[Any, list[Any], dict[str, Any], Any]
SCENARIOS: dict[str, Scenario] = {
    "a text": (str, [answer("hello there")], {}, "hello there"),
    "a number": (int, [answer("42")], {}, 42),
    "a thought before the text": (str, ["<think>hm</think>\n\nhello"], {}, "hello"),
    "a choice": (Color, [answer("red")], {}, Color.RED),
    "a tool round": (str, [booking(1), "done"], UNDOING, "done"),
    "words before a tool round": (
        str,
        [
            ChatResponse(AiMessage("let me ", (booking(1),)), TokenUsage(3, 4), FinishReason.TOOL_CALLS),
            "done",
        ],
        UNDOING,
        "done",
    ),
    "two tools side by side": (str, [[booking(1), booking(2, "Oslo")], "done"], UNDOING, "done"),
    "a failed tool that undoes": (
        str,
        [[booking(1), FAILING], "sorry"],
        {**UNDOING, "compensation": "tool_error"},
        "sorry",
    ),
    "a failed tool that ends the call": (
        str,
        [[booking(1), FAILING]],
        {**UNDOING, "on_tool_error": "raise"},
        ("ToolFailedError", "full"),
    ),
    "a model that fails after a round": (
        str,
        [booking(1), ServerError("down")],
        UNDOING,
        ("ServerError", "down"),
    ),
    "a model that fails at once": (str, [ServerError("down")], {}, ("ServerError", "down")),
    "too many rounds": (
        str,
        [booking(1), booking(2)],
        {**UNDOING, "limits": Limits(max_round_trips=1)},
        ("LimitExceededError", "max_round_trips"),
    ),
    "an unknown tool": (str, [ToolCall("u", "nope", "{}"), "done"], UNDOING, "done"),
    "a guardrail that asks again": (
        str,
        ["bad words", "good words"],
        {"decorate": output_guardrails(judge)},
        "GOOD WORDS",
    ),
    "a guardrail that gives up": (
        str,
        ["bad", "bad"],
        {"decorate": output_guardrails(judge, max_retries=2)},
        ("OutputGuardrailError", "it is bad"),
    ),
    "a parse retry": (int, [answer("many"), answer("7")], {}, 7),
    "answers that never parse": (int, ["many", "more"], {}, ("OutputParsingError", "more")),
    "a refusal": (str, [answer(refusal="I will not")], {}, ("RefusalError", "I will not")),
    "a cut answer": (str, [answer("half a", FinishReason.LENGTH)], {}, ("OutputTruncatedError", "cut off")),
    "a filtered answer": (
        str,
        [answer("x", FinishReason.CONTENT_FILTER)],
        {},
        ("ContentFilteredError", "filter"),
    ),
    "an empty answer": (str, [answer("")], {}, ("EmptyAnswerError", "answered nothing")),
    "an immediate tool": (str, [ToolCall("i", "at_once", "{}")], {"tools": [at_once]}, None),
    "a refused question": (
        str,
        [],
        {"decorate": input_guardrails(refuse)},
        ("InputGuardrailError", "no such words"),
    ),
    "a stream that breaks": (str, [Pieces("a", ServerError("cut"))], {}, ("ServerError", "cut")),
}


def told(style: str, scenario: Scenario) -> tuple[Told, list[str]]:
    kind, replies, options, _ = scenario
    log.clear()
    # Two tools run side by side in no order: one worker makes the logs comparable.
    return tell(style, kind, replies, **{"parallel_tools": False, **options}), list(log)


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_call_is_the_same_in_all_four_styles(name: str) -> None:
    scenario = SCENARIOS[name]
    plain, done = told("ask", scenario)
    match scenario[-1]:
        case (str(kind), str(words)):
            assert plain.error is not None
            assert plain.error[0] == kind
            assert words in plain.error[1]
        case value:
            assert (plain.error, plain.content) == (None, value)
    for style in STYLES[1:]:
        assert told(style, scenario) == (plain, done), style


def test_the_scenarios_undo_what_they_should() -> None:
    for style in STYLES:
        for name in ("a failed tool that undoes", "a failed tool that ends the call"):
            _, done = told(style, SCENARIOS[name])
            assert done == ["booked Rome", "unbooked Rome"], (style, name)
        _, done = told(style, SCENARIOS["a model that fails after a round"])
        assert done == ["booked Rome", "unbooked Rome"]


@pytest.mark.parametrize("flagged", [True, False])
def test_a_moderation_has_the_same_say_in_all_styles(flagged: bool) -> None:
    """A stream asks nothing of the model before the verdict, as what was shown cannot be taken back."""
    tellings = [
        tell(style, str, [answer("x")], aiservices.moderate, moderation_model=Moderating(flagged))
        for style in STYLES
    ]
    assert {telling.error for telling in tellings} == {tellings[0].error}
    assert [telling.content for telling in tellings] == [None if flagged else "x"] * 4
    assert [len(telling.memory) for telling in tellings] == [0 if flagged else 2] * 4
    assert [len(telling.requests) for telling in tellings[2:]] == [0 if flagged else 1] * 2
