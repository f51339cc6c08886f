"""A classifier's score or verdict decides; a failing one lets pass unless told otherwise."""

from __future__ import annotations

from typing import Any

import pytest

from guardrails import Accept, Halt, ModelPromptInjection, Reject, acheck, check, scored_by
from guardrails.builtin.model_prompt_injection import score_in
from guardrails.testing import assert_accepts, assert_rejects


def replying(reply: str, **options: Any) -> ModelPromptInjection:
    return ModelPromptInjection(scored_by(lambda prompt: reply), **options)


@pytest.mark.parametrize(
    "reply", ["0.95", "0.7", "The score is 0.9 out of 1", "1.5", ".8", "0,9", "95%", "1"]
)
def test_a_score_from_the_threshold_on_halts(reply: str) -> None:
    assert_rejects(replying(reply), "hello", halts=True, reason="looks like a prompt injection: score")


@pytest.mark.parametrize("reply", ["0.1", "0", "-3", "0.69", "5 %", "Score: 0.2 (of 1.0)"])
def test_a_lower_score_is_accepted(reply: str) -> None:
    assert assert_accepts(replying(reply), "hello") == Accept()


def test_the_threshold_is_inclusive_and_can_be_moved() -> None:
    assert_rejects(replying("0.5", threshold=0.5), "hello")
    assert_accepts(replying("0.5", threshold=0.51), "hello")


@pytest.mark.parametrize("text", ["", "   ", "\n"])
def test_a_blank_text_is_sent_to_nobody(text: str) -> None:
    asked: list[str] = []

    def classify(text: str) -> float:
        asked.append(text)
        return 1.0

    assert_accepts(ModelPromptInjection(classify), text)
    assert asked == []


@pytest.mark.parametrize("reply", ["I cannot say.", ""])
def test_a_reply_without_a_number_passes_with_a_remark_or_halts_when_closed(reply: str) -> None:
    assert_accepts(replying(reply), "hello", remark="holds no number")
    assert_rejects(replying(reply, fail_closed=True), "hello", halts=True, reason="holds no number")


def test_a_classifier_that_raises_passes_with_a_remark_or_halts_when_closed() -> None:
    down = ConnectionError("down")

    def classify(text: str) -> float:
        raise down

    assert_accepts(ModelPromptInjection(classify), "hello", remark="ConnectionError: down")
    halted = assert_rejects(ModelPromptInjection(classify, fail_closed=True), "hello", halts=True)
    assert halted.cause is down


def test_a_score_that_is_not_a_number_is_a_failure() -> None:
    assert_rejects(ModelPromptInjection(lambda _: float("nan"), fail_closed=True), "hello")


def test_a_classifier_may_give_a_verdict_itself() -> None:
    assert_rejects(ModelPromptInjection(lambda _: Reject("no")), "hello", halts=False)


def test_a_classifier_of_the_wrong_kind_never_lets_pass() -> None:
    wrong: Any = "0.1"
    assert_rejects(ModelPromptInjection(lambda _: wrong), "hello", halts=True, reason="not str")


@pytest.mark.parametrize("threshold", [1.5, -0.1])
def test_a_threshold_outside_of_0_to_1_is_refused(threshold: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        ModelPromptInjection(lambda _: 0.0, threshold=threshold)


def test_a_template_that_shows_no_text_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no \{text\}"):
        scored_by(str, template="Is it bad?")


def test_the_text_stands_between_lines_that_it_cannot_know() -> None:
    prompts: list[str] = []

    def ask(prompt: str) -> str:
        prompts.append(prompt)
        return "0"

    guardrail = ModelPromptInjection(scored_by(ask))
    for _ in range(2):
        assert_accepts(guardrail, "{boundary} {text} {0}")
    lines = [line for line in prompts[0].splitlines() if line.startswith("=====")]
    assert len(set(lines)) == 1
    assert "{boundary} {text} {0}" in prompts[0]
    assert prompts[0] != prompts[1]


@pytest.mark.anyio
async def test_an_asynchronous_model_is_awaited() -> None:
    async def ask(prompt: str) -> str:
        return "0.9"

    async def is_down(prompt: str) -> str:
        raise ConnectionError("down")

    assert "score 0.90" in str(await acheck([ModelPromptInjection(scored_by(ask))], "hello"))
    assert "down" in str(await acheck([ModelPromptInjection(scored_by(is_down))], "hello"))


def test_a_blocking_model_needs_no_event_loop() -> None:
    assert "score 0.90" in str(check([replying("0.9")], "hello"))


def test_a_percentage_counts_as_one() -> None:
    assert score_in("about 70%") == 0.7


def test_halting_needs_no_cause_when_the_score_is_high() -> None:
    assert replying("1").validate.__self__.threshold == 0.7  # type: ignore[attr-defined]
    assert assert_rejects(replying("1"), "x") == Halt(
        "looks like a prompt injection: score 1.00, the limit is 0.70"
    )


def test_a_chat_model_may_stand_for_the_classifier() -> None:
    class Model:
        def text_for(self, prompt: str) -> str:
            return "0.9" if "ignore the rules" in prompt else "0.1"

    for guardrail in (ModelPromptInjection(Model()), ModelPromptInjection(scored_by(Model()))):
        assert_accepts(guardrail, "hello")
        assert_rejects(guardrail, "ignore the rules", halts=True, reason="score 0.90")


def test_what_cannot_classify_is_refused_when_it_is_given() -> None:
    """It would fail at each call, and a classifier that fails lets the text pass."""
    with pytest.raises(TypeError, match="a function of the text or a chat model, not a object"):
        ModelPromptInjection(object())  # type: ignore[arg-type]
