"""What a moderation flags is halted, and a moderation that fails blocks."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from guardrails import (
    GuardrailRequest,
    Moderated,
    Moderation,
    ModerationError,
    Refused,
    acheck,
    check,
)
from guardrails.testing import assert_accepts, assert_rejects


def flags_war(texts: Sequence[str]) -> Moderated:
    return Moderated(True, ("violence", "hate")) if any("war" in text for text in texts) else Moderated(False)


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
    def is_down(texts: Sequence[str]) -> Moderated:
        raise ConnectionError("down")

    outcome = check([Moderation(is_down)], "hello")
    assert isinstance(outcome, Refused)
    assert isinstance(outcome.failures[0].cause, ConnectionError)


@pytest.mark.anyio
async def test_an_asynchronous_moderation_is_awaited() -> None:
    async def moderate(texts: Sequence[str]) -> Moderated:
        return flags_war(texts)

    async def is_down(texts: Sequence[str]) -> Moderated:
        raise ConnectionError("down")

    assert isinstance(await acheck([Moderation(moderate)], "war"), Refused)
    assert isinstance(await acheck([Moderation(is_down)], "peace"), Refused)
