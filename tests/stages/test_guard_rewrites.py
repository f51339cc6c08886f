"""What guardrails make of an answer is what everybody gets; the model alone is shown its own words."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import pytest

from aiservices import (
    AiMessage,
    ChatResponse,
    OutputGuardrailError,
    OutputParsingError,
    Result,
    TokenLogprob,
    UserMessage,
)
from aiservices.messages import TokenUsage
from guardrails import GuardrailRequest, JsonExtractor, Retry, Rewrite, Verdict
from tests.asking import answer

from .guarded import remembering, saying, service, texts, unless

SECRET = "SSN 123"


def masking(request: GuardrailRequest[Any]) -> Verdict[Any]:
    return Rewrite(request.text.replace("123", "***"))


def upper(request: GuardrailRequest[Any]) -> Verdict[Any]:
    return Rewrite(request.text.upper())


def appending(text: str) -> Callable[[GuardrailRequest[Any]], Verdict[Any]]:
    return lambda request: Rewrite(request.text + text)


def yes_or_no(*replies: Any, **options: Any) -> Any:
    return service(*replies, returns=Result[Literal["yes", "no"]], **options)[0]


def spelled(text: str, probability: float = 0.25) -> ChatResponse:
    return answer(text, logprobs=(TokenLogprob(text, math.log(probability)),))


def test_rewrites_follow_one_another(invoke: Any) -> None:
    """Row 449."""
    asked, _ = service("a", output_guardrails=[appending(",1"), appending(",2"), unless("1")])
    assert invoke(asked, "ask", "hi") == "a,1,2"


def test_input_and_output_are_both_rewritten(invoke: Any) -> None:
    """Row 441."""

    def swap(request: GuardrailRequest[Any]) -> Verdict[Any]:
        return Rewrite(request.text.replace("SAY HELLO", "HELLO WORLD"))

    asked, _ = service(
        lambda request: request.messages[-1].text, input_guardrails=[upper], output_guardrails=[swap]
    )
    assert invoke(asked, "ask", "say hello") == "HELLO WORLD"


def test_a_rewritten_secret_is_nowhere_in_memory_or_later_requests(invoke: Any) -> None:
    """GRD-02"""
    said = AiMessage(SECRET, thinking="It is 123.", attributes={"provider": {"items": ["123"]}})
    asked, model, memory = remembering(said, "ok", output_guardrails=[masking])
    assert invoke(asked, "ask", "hi") == "SSN ***"
    invoke(asked, "ask", "and?")
    assert texts(model.requests[1].messages) == ["hi", "SSN ***", "and?"]
    assert "123" not in repr((memory.messages(), model.requests[1]))


def test_raw_memory_keeps_what_the_model_said(invoke: Any) -> None:
    asked, model, _ = remembering(SECRET, "ok", output_guardrails=[masking], remember="raw")
    assert invoke(asked, "ask", "hi") == "SSN ***"
    invoke(asked, "ask", "and?")
    assert texts(model.requests[1].messages) == ["hi", SECRET, "and?"]


def test_a_reprompt_after_a_rewrite_shows_the_model_its_own_words(invoke: Any) -> None:
    """GRD-08, and row 450 as we decided it."""

    def capital(request: GuardrailRequest[Any]) -> Verdict[Any]:
        return Rewrite(request.text.replace("a", "A"))

    asked, model, memory = remembering("a", "az", output_guardrails=[capital, unless("z", "need z")])
    assert invoke(asked, "ask", "hi") == "Az"
    assert model.requests[1].messages == (UserMessage("hi"), AiMessage("a"), UserMessage("need z"))
    assert texts(memory.messages()) == ["hi", "Az"]
    asked, _ = service("a", "b", output_guardrails=[capital, saying(Retry("no"))])
    with pytest.raises(OutputGuardrailError):
        invoke(asked, "ask", "hi")


def test_a_parser_that_asks_again_shows_the_model_its_own_words_too(invoke: Any) -> None:
    asked, model = service("a", "7", returns=int, output_guardrails=[upper])
    assert invoke(asked, "ask", "hi") == 7
    assert texts(model.requests[1].messages)[1] == "a"


def test_a_rewritten_text_is_what_is_parsed(invoke: Any) -> None:
    asked, _ = service('Sure: {"a": 1}!', returns=dict[str, int], output_guardrails=[JsonExtractor()])
    assert invoke(asked, "ask", "hi") == {"a": 1}
    asked, _ = service("4", returns=int, output_guardrails=[saying(Rewrite("four and"))], parse_retries=0)
    with pytest.raises(OutputParsingError) as caught:
        invoke(asked, "ask", "hi")
    assert caught.value.text == "four and"


@pytest.mark.parametrize("replacement", ["new", AiMessage("new")])
def test_every_form_of_an_answer_holds_the_new_text(invoke: Any, replacement: Any) -> None:
    chain = {"output_guardrails": [saying(Rewrite(replacement))]}
    assert invoke(service("old", **chain)[0], "ask", "hi") == "new"
    assert invoke(service("old", returns=AiMessage, **chain)[0], "ask", "hi") == AiMessage("new")
    response = answer("old", id="r1", logprobs=(TokenLogprob("old", -0.1),))
    got = invoke(service(response, returns=ChatResponse, **chain)[0], "ask", "hi")
    assert got == replace(response, message=AiMessage("new"), logprobs=None)
    result = invoke(service(response, returns=Result[str], **chain)[0], "ask", "hi")
    assert (result.content, result.message, result.usage) == ("new", AiMessage("new"), TokenUsage(1, 2))
    assert result.responses == (response,)


@pytest.mark.parametrize("wrong", [UserMessage("new"), 42, None])
def test_an_answer_cannot_become_something_else(invoke: Any, wrong: Any) -> None:
    asked, _ = service("old", output_guardrails=[saying(Rewrite(wrong))])
    with pytest.raises(OutputGuardrailError, match="give a text or an AiMessage") as caught:
        invoke(asked, "ask", "hi")
    assert isinstance(caught.value.failures[0].cause, TypeError)


def test_an_accepted_answer_keeps_its_thinking_and_guardrails_are_shown_it_only_in_the_message(
    invoke: Any,
) -> None:
    guardrail = unless("")
    said = AiMessage("fine", thinking="hmm", attributes={"id": "x"})
    asked, _ = service(said, returns=AiMessage, output_guardrails=[guardrail])
    assert invoke(asked, "ask", "hi") == said
    assert guardrail.saw[0].text == "fine"
    assert guardrail.saw[0].subject.thinking == "hmm"


def test_writing_the_same_text_changes_nothing(invoke: Any) -> None:
    said = AiMessage("fine", thinking="hmm")
    asked, _ = service(said, returns=AiMessage, output_guardrails=[saying(Rewrite("fine"))])
    assert invoke(asked, "ask", "hi") == said


# Confidence


def test_the_confidence_is_that_of_the_words_that_were_kept(invoke: Any) -> None:
    def last_word(request: GuardrailRequest[Any]) -> Verdict[Any]:
        return Rewrite(request.text.split()[-1])

    said = answer(
        "well yes", logprobs=(TokenLogprob("well", math.log(0.1)), TokenLogprob(" yes", math.log(0.25)))
    )
    result = invoke(yes_or_no(said, output_guardrails=[last_word]), "ask", "?")
    assert (result.content, result.confidence) == ("yes", pytest.approx(0.25))


def test_words_that_the_model_did_not_say_have_no_confidence(invoke: Any) -> None:
    result = invoke(yes_or_no(spelled("no"), output_guardrails=[saying(Rewrite("yes"))]), "ask", "?")
    assert (result.content, result.confidence) == ("yes", None)


def test_told_probabilities_are_those_of_the_label_that_is_returned(invoke: Any) -> None:
    said = answer("no", label_probabilities={"yes": 0.1, "no": 0.9})
    result = invoke(yes_or_no(said, output_guardrails=[saying(Rewrite("yes"))]), "ask", "?")
    assert (result.content, result.confidence) == ("yes", 0.1)
