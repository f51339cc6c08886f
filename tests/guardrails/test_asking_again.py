"""Answers that are asked for again: what is counted, what the model is shown, and when it ends."""

from __future__ import annotations

import pytest

from guardrails import (
    Accept,
    Failure,
    GuardrailRequest,
    Halt,
    OutputGuardrailError,
    OutputGuardrailsConfig,
    Reask,
    Reject,
    Reprompt,
    Retry,
    Rewrite,
    Verdict,
)

from .courtroom import Answer, Court, Model, Scripted


def test_one_reprompt_is_what_the_default_allows(court: Court) -> None:
    model = Model(["second"])
    guardrail = Scripted(Reprompt("no foo", "Say bar."), Accept())
    validated = court.output("first", guardrail, model=model)
    assert validated.passed.subject == Answer("second")
    assert guardrail.saw == ["first", "second"]
    assert model.told == [("first", Reask("Scripted", "no foo", "Say bar."))]
    assert validated.reasks == (Reask("Scripted", "no foo", "Say bar."),)


def test_a_retry_asks_with_the_same_words(court: Court) -> None:
    model = Model(["second"])
    court.output("first", Scripted(Retry("meh"), Accept()), model=model)
    assert model.told == [("first", Reask("Scripted", "meh", None))]


def test_each_new_answer_is_judged_and_never_a_stale_one(court: Court) -> None:
    saw: list[str] = []

    def wants_v2(request: GuardrailRequest[Answer]) -> Verdict[Answer]:
        saw.append(request.text)
        return Accept() if request.text == "v2" else Retry("not v2")

    assert court.output("v1", wants_v2, model=Model(["v2"])).passed.text == "v2"
    assert saw == ["v1", "v2"]


def test_two_reprompts_are_three_validations(court: Court) -> None:
    again = Reprompt("no", "please")
    guardrail = Scripted(again, again, Accept())
    validated = court.output("a", guardrail, model=Model(["b", "c"]), max_retries=3)
    assert guardrail.saw == ["a", "b", "c"]
    assert validated.reasks == (Reask("Scripted", "no", "please"),) * 2


@pytest.mark.parametrize(
    ("max_retries", "validations"),
    [(5, 5), (3, 3), (2, 2), (1, 1), (0, 1), (-1, 2), (-99, 2)],
)
@pytest.mark.parametrize("again", [Retry("no"), Reprompt("no", "please")])
def test_max_retries_counts_validations(
    court: Court, max_retries: int, validations: int, again: Retry | Reprompt
) -> None:
    guardrail, model = Scripted(again), Model()
    with pytest.raises(OutputGuardrailError, match="Scripted: no") as caught:
        court.output("a", guardrail, model=model, max_retries=max_retries)
    assert len(guardrail.saw) == caught.value.validations == validations
    assert len(model.told) == len(caught.value.reasks) == validations - 1
    assert caught.value.failures == (Failure("Scripted", "no"),)


@pytest.mark.parametrize(("max_retries", "validations"), [(3, 3), (1, 1), (0, 1), (-1, 2)])
def test_the_config_says_how_many_answers_are_judged(max_retries: int, validations: int) -> None:
    assert OutputGuardrailsConfig(max_retries).validations == validations
    assert OutputGuardrailsConfig().validations == 2


def test_a_new_answer_starts_the_chain_over(court: Court) -> None:
    first, failing, last = Scripted(), Scripted(Retry("1"), Retry("2"), Accept()), Scripted()
    court.output("a", first, failing, last, model=Model(["b", "c"]), max_retries=3)
    assert (len(first.saw), len(failing.saw), len(last.saw)) == (3, 3, 1)


def test_after_a_rewrite_the_model_is_shown_its_own_words_and_the_new_answer_is_rewritten_too(
    court: Court,
) -> None:
    def raises_a(request: GuardrailRequest[Answer]) -> Verdict[Answer]:
        return Rewrite(request.text.replace("a", "A"))

    def needs_z(request: GuardrailRequest[Answer]) -> Verdict[Answer]:
        return Accept() if "z" in request.text else Reprompt("need z", "Use a z.")

    model = Model(["az"])
    assert court.output("a", raises_a, needs_z, model=model).passed.text == "Az"
    assert [shown for shown, _ in model.told] == ["a"]


def test_a_rejection_alone_asks_nobody(court: Court) -> None:
    model = Model()
    with pytest.raises(OutputGuardrailError) as caught:
        court.output("a", Scripted(Reject("bad")), model=model, max_retries=5)
    assert model.told == []
    assert caught.value.validations == 1


def test_a_halt_asks_nobody(court: Court) -> None:
    model = Model()
    with pytest.raises(OutputGuardrailError):
        court.output("a", Scripted(Halt("bad")), model=model, max_retries=5)
    assert model.told == []


def test_a_rejected_answer_is_given_another_chance_when_a_later_guardrail_asks_for_one(court: Court) -> None:
    rejecting, asking = Scripted(Reject("bad"), Accept()), Scripted(Retry("meh"), Accept())
    assert court.output("a", rejecting, asking, model=Model(["b"])).passed.text == "b"


def test_the_error_is_about_the_last_answer_and_remembers_why_the_others_were_not_enough(
    court: Court,
) -> None:
    guardrail = Scripted(Retry("first"), Reprompt("second", "please"), Retry("third"))
    with pytest.raises(OutputGuardrailError, match=r"3 answers judged\): Scripted: third") as caught:
        court.output("a", guardrail, max_retries=3)
    assert caught.value.reasks == (Reask("Scripted", "first", None), Reask("Scripted", "second", "please"))


def test_what_the_model_raises_is_no_guardrails_failure(court: Court) -> None:
    async def is_down(rejected: Answer, reask: Reask) -> GuardrailRequest[Answer]:
        raise ConnectionError("down")

    model = Model()
    model.ask_again = is_down  # type: ignore[method-assign]
    with pytest.raises(ConnectionError, match="down"):
        court.output("a", Scripted(Retry("no")), model=model)


def test_observers_are_told_on_which_answer_a_verdict_fell(court: Court) -> None:
    court.output("a", Scripted(Retry("no"), Accept()), Scripted(), model=Model(["b"]))
    assert [(each.validation, type(each.verdict)) for each in court.heard] == [
        (1, Retry),
        (2, Accept),
        (2, Accept),
    ]
