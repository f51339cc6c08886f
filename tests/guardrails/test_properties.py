"""Against a reference that is a plain loop over a script: order, rewrites, complaints and counting agree."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guardrails import (
    Accept,
    Failure,
    GuardrailRequest,
    Halt,
    OutputGuardrailError,
    Reject,
    Reprompt,
    Retry,
    Rewrite,
    Verdict,
)

from .courtroom import Answer, Court, Model

Script = list[Verdict[Answer]]

verdicts: st.SearchStrategy[Verdict[Answer]] = st.one_of(
    st.just(Accept()),
    st.text("ab", max_size=3).map(Rewrite),
    st.text("ab", max_size=3).map(lambda text: Rewrite(Answer(text, "new.png"))),
    st.just(Reject("rejected")),
    st.just(Halt("halted")),
    st.just(Retry("again")),
    st.just(Reprompt("again", "please")),
)
scripts = st.lists(st.lists(verdicts, min_size=3, max_size=3), min_size=1, max_size=5)


@dataclass
class Playing:
    """Guardrail number `place`: on answer n it says what the script has for it there."""

    place: int
    script: list[Script]
    log: list[tuple[int, str]]

    def validate(self, request: GuardrailRequest[Answer]) -> Verdict[Answer]:
        self.log.append((self.place, request.text))
        answer = sum(place == 0 for place, _ in self.log) - 1
        return self.script[min(answer, len(self.script) - 1)][self.place]


def reference(script: list[Script], most: int) -> tuple[Answer | None, list[str], int, list[tuple[int, str]]]:
    """What passes (or None), the reasons, how many answers were judged, and who saw what."""
    log: list[tuple[int, str]] = []
    for number in range(most):
        subject, reasons, ended, again = Answer(f"answer {number + 1}"), [], False, False
        for place, verdict in enumerate(script[min(number, len(script) - 1)]):
            log.append((place, subject.text))
            if isinstance(verdict, Rewrite):
                new = verdict.replacement
                subject = Answer(new, subject.picture) if isinstance(new, str) else new
            elif not isinstance(verdict, Accept):
                reasons.append(verdict.reason)
                ended, again = not isinstance(verdict, Reject), isinstance(verdict, (Retry, Reprompt))
            if ended:
                break
        if not reasons:
            return subject, [], number + 1, log
        if not again or number + 1 == most:
            return None, reasons, number + 1, log
    raise AssertionError("the loop returns")


@given(scripts, st.integers(-2, 5))
def test_enforcing_agrees_with_a_plain_loop(script: list[Script], max_retries: int) -> None:
    most = 2 if max_retries < 0 else max(1, max_retries)
    log: list[tuple[int, str]] = []
    chain = [Playing(place, script, log) for place in range(3)]
    subject, reasons, judged, saw = reference(script, most)
    enforce = partial(Court(blocking=True).output, "answer 1", *chain, model=Model(), max_retries=max_retries)
    if subject is None:
        with pytest.raises(OutputGuardrailError) as caught:
            enforce()
        assert caught.value.failures == tuple(Failure("Playing", reason) for reason in reasons)
        assert caught.value.validations == judged
    else:
        validated = enforce()
        assert validated.passed.subject == subject
        assert validated.passed.text == validated.passed.subject.text
        assert len(validated.reasks) == judged - 1
    assert log == saw
