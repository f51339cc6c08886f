"""One pass over a chain: order, rewrites, complaints, failures of the guardrails themselves."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from typing import Any

import pytest

from guardrails import (
    PLAIN_TEXT,
    Accept,
    Failure,
    Guardrail,
    GuardrailRequest,
    Halt,
    InputGuardrailError,
    Link,
    OutputGuardrailError,
    Passed,
    Reject,
    Reprompt,
    Retry,
    Rewrite,
    Verdict,
    acheck,
    check,
    links,
)

from .courtroom import Answer, AnswerWording, Appending, Court, Scripted, asked


def test_what_all_accept_passes_unchanged_and_each_is_asked_once_in_order(court: Court) -> None:
    first, second = Scripted(), Scripted()
    passed = court.input("hello", first, second)
    assert (passed.subject, passed.text, passed.rewritten) == (Answer("hello"), "hello", False)
    assert (first.saw, second.saw) == (["hello"], ["hello"])


def test_an_empty_chain_lets_everything_pass(court: Court) -> None:
    assert court.input("hello").subject == Answer("hello")


def test_rejections_are_collected_with_the_names_of_their_guardrails(court: Court) -> None:
    class Polite(Scripted): ...

    class Short(Scripted): ...

    with pytest.raises(InputGuardrailError, match="Polite: rude, Short: too long") as caught:
        court.input("hello", Polite(Reject("rude")), Scripted(), Short(Reject("too long")))
    assert caught.value.failures == (Failure("Polite", "rude"), Failure("Short", "too long"))


def test_a_halt_ends_the_chain_at_once(court: Court) -> None:
    later = Scripted()
    with pytest.raises(InputGuardrailError) as caught:
        court.input("hello", Scripted(Halt("stop")), later)
    assert caught.value.failures == (Failure("Scripted", "stop"),)
    assert later.saw == []


def test_what_was_rejected_before_a_halt_is_told_too(court: Court) -> None:
    with pytest.raises(InputGuardrailError) as caught:
        court.input("hello", Scripted(Reject("rude")), Scripted(Halt("stop")))
    assert [failure.reason for failure in caught.value.failures] == ["rude", "stop"]


def test_an_exception_in_a_guardrail_counts_as_a_halt_and_is_kept_as_the_cause(court: Court) -> None:
    broken, later = ZeroDivisionError("oh"), Scripted()

    def breaks(request: GuardrailRequest) -> Verdict:
        raise broken

    with pytest.raises(InputGuardrailError, match="breaks: ZeroDivisionError: oh") as caught:
        court.input("hello", breaks, later)
    assert caught.value.__cause__ is broken
    assert caught.value.failures[0].cause is broken
    assert later.saw == []


def test_the_first_cause_is_the_cause_of_the_error(court: Court) -> None:
    first, second = ValueError("1"), ValueError("2")
    with pytest.raises(InputGuardrailError) as caught:
        court.input("x", Scripted(Reject("a")), Scripted(Reject("b", first)), Scripted(Halt("c", second)))
    assert caught.value.__cause__ is first


@pytest.mark.parametrize("nothing", [None, True, "fine", Accept])
def test_what_is_no_verdict_counts_as_a_halt(court: Court, nothing: Any) -> None:
    with pytest.raises(InputGuardrailError, match="returns a verdict such as Accept") as caught:
        court.input("hello", lambda _: nothing)
    assert isinstance(caught.value.__cause__, TypeError)


def test_validate_that_was_never_written_is_named(court: Court) -> None:
    class Lazy(Guardrail[Answer]): ...

    with pytest.raises(InputGuardrailError, match=r"Lazy\.validate is not implemented"):
        court.input("hello", Lazy())  # type: ignore[abstract]


def test_a_rewritten_text_reaches_the_next_guardrail_and_the_outcome(court: Court) -> None:
    next_one = Scripted()
    passed = court.input("hello", lambda request: Rewrite(request.text.upper()), next_one)
    assert next_one.saw == ["HELLO"]
    assert passed.subject == Answer("HELLO")
    assert (passed.rewritten, passed.replaced) == (True, False)


def test_a_rewritten_text_leaves_the_rest_of_the_subject(court: Court) -> None:
    assert court.input("x" * 99, lambda _: Rewrite("x" * 20)).subject == Answer("x" * 20, "cat.png")


def test_a_whole_new_subject_brings_its_own_text(court: Court) -> None:
    next_one = Scripted()
    passed = court.input("hello", lambda _: Rewrite(Answer("hi", "dog.png")), next_one)
    assert next_one.saw == ["hi"]
    assert passed.subject == Answer("hi", "dog.png")
    assert (passed.rewritten, passed.replaced) == (True, True)


def test_a_rewrite_survives_guardrails_that_just_accept(court: Court) -> None:
    assert court.output("a", Appending("!"), Scripted(), Scripted()).passed.text == "a!"


def test_rewrites_add_up(court: Court) -> None:
    assert court.output("a", Appending(",1"), Appending(",2")).passed.text == "a,1,2"


def test_an_empty_text_is_a_rewrite_too(court: Court) -> None:
    assert court.input("hello", lambda _: Rewrite("")).subject == Answer("")


@pytest.mark.parametrize("replacement", [None, 7])
def test_a_rewrite_into_something_else_is_the_guardrails_own_error(court: Court, replacement: Any) -> None:
    later = Scripted()
    with pytest.raises(InputGuardrailError, match="AttributeError"):
        court.input("hello", lambda _: Rewrite(replacement), later)
    assert later.saw == []


@pytest.mark.parametrize("verdict", [Retry("again"), Reprompt("again", "please")])
def test_asking_again_for_an_input_is_the_guardrails_own_error(court: Court, verdict: Any) -> None:
    later = Scripted()
    with pytest.raises(InputGuardrailError, match="an input guardrail may not return Re") as caught:
        court.input("hello", Scripted(verdict), later)
    assert isinstance(caught.value.__cause__, TypeError)
    assert later.saw == []
    assert isinstance(court.heard[0].verdict, Halt)


def test_remarks_of_those_that_accept_are_findings(court: Court) -> None:
    passed = court.input("hello", Scripted(Accept("a bit short")), Scripted())
    assert passed.findings == (Failure("Scripted", "a bit short"),)


def test_everything_known_around_the_subject_reaches_every_guardrail() -> None:
    seen: list[GuardrailRequest[str]] = []
    request = GuardrailRequest(
        "hello", "hello", ("message",), ("source",), "{{ it }}", {"it": "hello"}, context="me"
    )

    def look(request: GuardrailRequest[str]) -> Verdict[str]:
        seen.append(request)
        return Rewrite("bye")

    check([look, look], request, wording=PLAIN_TEXT)
    assert seen[0] == request
    assert seen[1].text == "bye"
    assert (seen[1].messages, seen[1].sources, seen[1].template) == (("message",), ("source",), "{{ it }}")
    assert (seen[1].variables, seen[1].context) == ({"it": "hello"}, "me")


def test_sync_and_async_guardrails_stand_in_one_chain(court: Court) -> None:
    async def shout(request: GuardrailRequest[Answer]) -> Verdict[Answer]:
        await asyncio.sleep(0)
        return Rewrite(request.text + "!")

    class Slow:
        async def validate(self, request: GuardrailRequest[Answer]) -> Verdict[Answer]:
            await asyncio.sleep(0.001)
            return Rewrite(request.text + "?")

    assert court.input("hi", shout, Appending("."), Slow).text == "hi!.?"


def test_every_verdict_is_observed_as_it_falls(court: Court) -> None:
    with pytest.raises(OutputGuardrailError):
        court.output("a", Appending("!"), Scripted(Reject("bad")), Scripted(Halt("worse")), Scripted())
    assert [(each.guardrail, each.verdict, each.validation) for each in court.heard] == [
        ("Appending", Rewrite("a!"), 1),
        ("Scripted", Reject("bad"), 1),
        ("Scripted", Halt("worse"), 1),
    ]
    assert all(0 <= each.seconds < 5 for each in court.heard)


def test_a_cancellation_is_no_failure_of_the_guardrail(court: Court) -> None:
    def interrupts(request: GuardrailRequest[Answer]) -> Verdict[Answer]:
        raise KeyboardInterrupt

    async def is_cancelled(request: GuardrailRequest[Answer]) -> Verdict[Answer]:
        raise asyncio.CancelledError

    if court.blocking:
        with pytest.raises(KeyboardInterrupt):
            court.input("hello", interrupts)
    else:
        with pytest.raises(asyncio.CancelledError):
            court.input("hello", is_cancelled)


def test_a_guardrail_that_never_waits_is_called_where_the_chain_runs() -> None:
    threads: list[int] = []

    class Quick:
        inline = True

        def validate(self, request: GuardrailRequest[Answer]) -> Verdict[Answer]:
            threads.append(threading.get_ident())
            return Accept()

    Court(blocking=False).input("hello", Quick())
    assert threads == [threading.get_ident()]


def test_asynchronous_guardrails_are_never_called_directly(court: Court) -> None:
    class Wrong:
        inline = True

        async def validate(self, request: GuardrailRequest[Answer]) -> Verdict[Answer]:
            return Rewrite("awaited")

    assert court.input("hello", Wrong()).text == "awaited"


def test_links_are_made_once_and_used_for_every_request() -> None:
    made: list[object] = []

    class Counted:
        def __init__(self) -> None:
            made.append(self)

        def validate(self, request: GuardrailRequest[Any]) -> Verdict[Any]:
            return Accept()

    (only,) = links(Counted)
    assert isinstance(only, Link)
    assert len(made) == 1


def test_a_wording_may_wait_for_the_subject_with_another_text() -> None:
    class Patient(AnswerWording):
        async def with_text(self, subject: Answer, text: str, /) -> Answer:  # type: ignore[override]
            await asyncio.sleep(0)
            return replace(subject, text=f"<{text}>")

    chain = [Appending("!"), Scripted()]
    outcome = asyncio.run(acheck(chain, asked("hi"), wording=Patient()))
    assert isinstance(outcome, Passed)
    assert (outcome.subject, outcome.text) == (Answer("<hi!>"), "hi!")
