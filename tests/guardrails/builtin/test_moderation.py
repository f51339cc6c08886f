"""What a moderation flags is halted, and a moderation that fails blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from guardrails import (
    Accept,
    GuardrailRequest,
    Halt,
    Moderated,
    Moderation,
    ModerationError,
    Refused,
    Reject,
    acheck,
    check,
)
from guardrails.testing import assert_accepts, assert_rejects


def flags_war(text: str) -> Moderated:
    return Moderated(True, ("violence", "hate")) if "war" in text else Moderated(False)


class Peace:
    """A moderation model."""

    def __init__(self) -> None:
        self.asked: list[Sequence[str]] = []

    def moderate(self, texts: Sequence[str]) -> Moderated:
        self.asked.append(texts)
        return Moderated("war" in texts, ("violence",))


def test_a_flagged_text_is_halted_and_the_cause_tells_the_categories() -> None:
    halted = assert_rejects(Moderation(flags_war), "to war!", halts=True, reason="violence, hate")
    assert isinstance(halted.cause, ModerationError)
    assert halted.cause.categories == ("violence", "hate")


def test_what_is_not_flagged_is_accepted() -> None:
    assert_accepts(Moderation(flags_war), "to peace!")


def test_a_blank_text_is_sent_to_nobody() -> None:
    assert_accepts(Moderation(lambda _: Moderated(True)), "  ")


def test_more_texts_are_judged_where_asked() -> None:
    request = GuardrailRequest("hi", "hi", sources=("war",))
    assert_accepts(Moderation(flags_war), request)
    assert_rejects(Moderation(flags_war, texts=lambda request: [request.text, *request.sources]), request)


def test_any_object_with_flagged_and_categories_is_an_answer() -> None:
    class Result:
        flagged = True
        categories = frozenset({"spam"})

    assert_rejects(Moderation(lambda _: Result()), "hello", reason="spam")
    assert_rejects(Moderation(lambda _: Moderated(True)), "hello", reason="no category")


def test_a_moderation_that_fails_blocks() -> None:
    def is_down(text: str) -> Moderated:
        raise ConnectionError("down")

    outcome = check([Moderation(is_down)], "hello")
    assert isinstance(outcome, Refused)
    assert isinstance(outcome.failures[0].cause, ConnectionError)


@pytest.mark.anyio
async def test_an_asynchronous_moderation_is_awaited() -> None:
    async def moderate(text: str) -> Moderated:
        return flags_war(text)

    async def is_down(text: str) -> Moderated:
        raise ConnectionError("down")

    assert isinstance(await acheck([Moderation(moderate)], "war"), Refused)
    assert isinstance(await acheck([Moderation(is_down)], "peace"), Refused)


def test_a_moderation_model_judges_all_texts_in_one_request() -> None:
    model = Peace()
    request = GuardrailRequest("hi", "hi", sources=("war", " "))
    for given in (model, model.moderate):
        assert_accepts(Moderation(given), request)
        everything = Moderation(given, texts=lambda request: [request.text, *request.sources])
        assert_rejects(everything, request, halts=True, reason="violence")
    assert model.asked == [["hi"], ["hi", "war"]] * 2


@pytest.mark.parametrize("score", [0.5, 0.9, 1, True])
def test_a_high_score_is_flagged(score: float) -> None:
    halted = assert_rejects(Moderation(lambda _: score), "hello", halts=True, reason="the limit is 0.50")
    assert isinstance(halted.cause, ModerationError)


@pytest.mark.parametrize("score", [0, 0.49, False])
def test_a_low_score_is_accepted(score: float) -> None:
    assert_accepts(Moderation(lambda _: score), "hello")


def test_the_threshold_can_be_chosen() -> None:
    assert_accepts(Moderation(lambda _: 0.8, threshold=0.9), "hello")
    assert_rejects(Moderation(lambda _: 0.2, threshold=0.1), "hello")
    with pytest.raises(ValueError, match="between 0 and 1"):
        Moderation(lambda _: 0.2, threshold=2)


def test_a_verdict_of_the_moderation_itself_is_taken() -> None:
    assert_accepts(Moderation(lambda _: Accept("fine")), "hello", remark="fine")
    assert_rejects(Moderation(lambda _: Reject("no")), "hello", halts=False, reason="no")
    assert_rejects(Moderation(lambda _: Halt("stop")), "hello", halts=True, reason="stop")


@pytest.mark.parametrize(
    ("opinion", "reason"), [(None, "not NoneType"), ("no", "not str"), (float("nan"), "not a")]
)
def test_what_is_no_opinion_blocks(opinion: Any, reason: str) -> None:
    outcome = check([Moderation(lambda _: opinion)], "hello")
    assert isinstance(outcome, Refused)
    assert reason in outcome.failures[0].reason


def test_what_cannot_moderate_is_refused_when_it_is_given() -> None:
    with pytest.raises(TypeError, match="a model or a function of the text, not a int"):
        Moderation(3)  # type: ignore[arg-type]
