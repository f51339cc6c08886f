"""An answer is judged before anyone sees it; one that does not pass is asked for again, with everything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import guardrails
from aiservices import (
    LimitExceededError,
    Limits,
    OutputGuardrailError,
    Result,
    ToolCall,
    UserMessage,
    tool,
)
from aiservices.messages import AiMessage
from guardrails import (
    Accept,
    Advisory,
    Failure,
    GuardrailRequest,
    JsonExtractor,
    OutputGuardrailsConfig,
    Reject,
    Reprompt,
    Retry,
    Verdict,
)

from .guarded import Unless, ran, remembering, saying, service, texts, unless


@dataclass
class Person:
    name: str
    age: int


@tool
def look_up(name: str) -> str:
    """Look somebody up."""
    return f"{name} is 3"


CALL = ToolCall("c1", "look_up", '{"name": "Ana"}')


# Asking again


def test_the_new_answer_is_judged_and_not_the_old_one(invoke: Any) -> None:
    """GRD-03"""
    guardrail = Unless("v2", Retry("old"))
    asked, model = service("v1", "v2", output_guardrails=[guardrail])
    assert invoke(asked, "ask", "hi") == "v2"
    assert guardrail.texts == ["v1", "v2"]
    assert model.requests[0] == model.requests[1]


def test_a_reprompt_shows_the_rejected_answer_and_what_is_wrong_with_it(invoke: Any) -> None:
    asked, model = service("a", "b", output_guardrails=[unless("b", "need b")])
    assert invoke(asked, "ask", "hi") == "b"
    assert model.requests[1].messages == (UserMessage("hi"), AiMessage("a"), UserMessage("need b"))


def test_memory_holds_the_accepted_answer_and_nothing_of_the_quarrel(invoke: Any) -> None:
    """GRD-01, and rows 442 and 443 as we decided them."""
    guardrail = unless("bar")
    asked, model, memory = remembering(
        "hello bar",
        "foo answer",
        "foo",
        "bar answer",
        output_guardrails=[guardrail],
        output_guardrails_config=OutputGuardrailsConfig(3),
    )
    invoke(asked, "ask", "one")
    assert invoke(asked, "ask", "two") == "bar answer"
    assert texts(model.requests[3].messages) == [
        *("one", "hello bar", "two"),
        *("foo answer", "again", "foo", "again"),
    ]
    assert texts(memory.messages()) == ["one", "hello bar", "two", "bar answer"]


def test_raw_memory_holds_the_models_first_answer(invoke: Any) -> None:
    asked, _, memory = remembering("foo", "bar", output_guardrails=[unless("bar")], remember="raw")
    assert invoke(asked, "ask", "hi") == "bar"
    assert texts(memory.messages()) == ["hi", "foo"]


def test_an_answer_that_never_passes_leaves_no_trace_in_memory(invoke: Any) -> None:
    """Row 444."""
    asked, model, memory = remembering("a", "b", "c", output_guardrails=[unless("x")])
    with pytest.raises(OutputGuardrailError, match=r"No answer was accepted \(2 answers judged\)") as caught:
        invoke(asked, "ask", "hi")
    assert (len(model.requests), memory.messages()) == (2, ())
    assert isinstance(caught.value, guardrails.OutputGuardrailError)
    assert texts([response.message for response in caught.value.responses]) == ["a", "b"]
    assert [reask.reason for reask in caught.value.reasks] == ["no x"]


@given(max_retries=st.integers(-3, 6), needed=st.integers(1, 8))
def test_max_retries_counts_validations(max_retries: int, needed: int) -> None:
    """Rows 445, 446 and 447: 0 is 1, a negative number is the default."""
    allowed = {0: 1}.get(max_retries, max_retries if max_retries > 0 else 2)
    guardrail = Unless(f"v{needed}.", Retry("not yet"))
    asked, model = service(
        *(f"v{number}." for number in range(1, 9)),
        output_guardrails=[guardrail],
        output_guardrails_config=OutputGuardrailsConfig(max_retries),
        limits=Limits(max_reasks=None),
    )
    if needed <= allowed:
        assert asked.ask("hi") == f"v{needed}."
    else:
        with pytest.raises(OutputGuardrailError):
            asked.ask("hi")
    assert len(guardrail.texts) == len(model.requests) == min(needed, allowed)


def test_the_chain_starts_over_with_each_answer(invoke: Any) -> None:
    """Row 448."""
    first, failing, second = unless(""), Unless("c", Retry("no")), unless("")
    config = OutputGuardrailsConfig(3)
    asked, _ = service(
        "a", "b", "c", output_guardrails=[first, failing, second], output_guardrails_config=config
    )
    assert invoke(asked, "ask", "hi") == "c"
    assert (first.texts, failing.texts, second.texts) == (["a", "b", "c"], ["a", "b", "c"], ["c"])


def test_tools_that_a_new_answer_asks_for_are_run_and_the_chain_starts_over(invoke: Any) -> None:
    """GRD-04"""
    guardrail = Unless("{", Reprompt("no JSON", "JSON please"))
    asked, model, memory = remembering(
        "not json", CALL, '{"a": 1}', returns=Result[dict[str, int]], tools=[look_up],
        output_guardrails=[guardrail],
    )  # fmt: skip
    result = invoke(asked, "ask", "hi")
    assert result.content == {"a": 1}
    assert guardrail.texts == ["not json", '{"a": 1}']
    assert [done.value for done in result.tool_executions] == ["Ana is 3"]
    assert texts(model.requests[2].messages)[1:] == ["not json", "JSON please", "", "Ana is 3"]
    assert texts(guardrail.saw[1].messages) == ["hi", "not json", "JSON please", "", "Ana is 3"]
    assert texts(memory.messages()) == ["hi", "", "Ana is 3", '{"a": 1}']


def test_a_reask_comes_after_the_tool_rounds_so_far(invoke: Any) -> None:
    for verdict in (Retry("no"), Reprompt("no", "again")):
        asked, model = service(
            CALL, "she is 4", "she is 3", tools=[look_up], output_guardrails=[Unless("3", verdict)]
        )
        assert invoke(asked, "ask", "age?") == "she is 3"
        quarrel = [] if isinstance(verdict, Retry) else ["she is 4", "again"]
        assert texts(model.requests[2].messages) == ["age?", "", "Ana is 3", *quarrel]


def test_a_rejected_answer_with_an_unknown_tool_call_can_stand_in_the_conversation(invoke: Any) -> None:
    asked, model = service(AiMessage("a", [CALL]), "b", output_guardrails=[unless("b")])
    assert invoke(asked, "ask", "hi") == "b"
    assert model.requests[1].messages[1] == AiMessage("a")


# Together with parsing


@pytest.mark.parametrize("judges_first", [True, False])
def test_parse_failures_and_guardrails_share_the_limit_of_reasks(invoke: Any, judges_first: bool) -> None:
    """GRD-09"""

    def of_age(request: GuardrailRequest[Any]) -> Verdict[Any]:
        return Reprompt("too young", "Older.") if '"age": 0' in request.text else Accept()

    replies = ['{"name": "A", "age": 0}', "oops", '{"name": "A", "age": 2}']
    chain = [JsonExtractor(), of_age] if judges_first else [of_age]
    config = OutputGuardrailsConfig(3)
    asked, model = service(
        *replies, returns=Result[Person], output_guardrails=chain, output_guardrails_config=config
    )
    result = invoke(asked, "ask", "who?")
    assert (result.content, len(model.requests), len(result.reasks)) == (Person("A", 2), 3, 2)
    asked, model = service(
        *replies, returns=Person, output_guardrails=chain, output_guardrails_config=config,
        limits=Limits(max_reasks=1),
    )  # fmt: skip
    with pytest.raises(LimitExceededError, match="max_reasks") as caught:
        invoke(asked, "ask", "who?")
    assert len(caught.value.responses) == len(model.requests) == 2


def test_an_answer_that_is_asked_for_again_by_the_parser_is_judged_anew(invoke: Any) -> None:
    heard: list[Any] = []
    guardrail = Advisory(saying(Reject("hm")))
    asked, _ = service(
        "many", "4", returns=Result[int], output_guardrails=[guardrail], listeners=[heard.append]
    )
    result = invoke(asked, "ask", "how many?")
    assert ran(heard) == [("Advisory", "Accept", 1), ("Advisory", "Accept", 2)]
    assert result.content == 4
    assert result.guardrail_findings == (Failure("Advisory", "fixed: hm"),)  # of this answer alone
