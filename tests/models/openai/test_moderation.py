"""OpenAI's moderation, asked over a real connection."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from aiservices.errors import AuthenticationError, ModelError, RateLimitError, ServerError
from aiservices.models import ModerationResult
from aiservices.models.openai import OpenAiModerationModel
from guardrails import GuardrailRequest, Halt, Moderation, acheck
from tests.models.fake_server import Answer, Script

from .wire import KEY

CLEAN = {"flagged": False, "categories": {"hate": False, "violence": False}}
VIOLENT = {"flagged": True, "categories": {"hate": False, "violence": True, "violence/graphic": True}}
HATEFUL = {"flagged": True, "categories": {"hate": True, "violence": True}}


def said(*results: Any) -> dict[str, Any]:
    return {"id": "modr-1", "model": "omni-moderation-1", "results": list(results)}


def model(script: Script, **options: Any) -> OpenAiModerationModel:
    return OpenAiModerationModel(**{"api_key": KEY, "base_url": script.url} | options)


@pytest.fixture(params=["blocking", "asynchronous"])
def judge(request: pytest.FixtureRequest) -> Callable[..., ModerationResult]:
    def judged(asked: OpenAiModerationModel, texts: Sequence[str]) -> ModerationResult:
        if request.param == "blocking":
            try:
                return asked.moderate(texts)
            finally:
                asked.close()

        async def ajudged() -> ModerationResult:
            try:
                return await asked.amoderate(texts)
            finally:
                await asked.aclose()

        return asyncio.run(ajudged())

    return judged


def test_all_texts_go_into_one_request(script: Script, judge: Any) -> None:
    script.will_say(said(CLEAN, CLEAN))
    assert judge(model(script), ("a", "b")) == ModerationResult(False)
    assert script.heard == {"model": "omni-moderation-latest", "input": ["a", "b"]}
    assert script.requests[0].path.endswith("/v1/moderations")
    assert script.requests[0].headers["authorization"] == f"Bearer {KEY}"


def test_one_flagged_text_is_enough_and_each_category_is_named_once(script: Script, judge: Any) -> None:
    script.will_say(said(CLEAN, VIOLENT, HATEFUL))
    told = judge(model(script), ["a", "b", "c"])
    assert told == ModerationResult(True, ("violence", "violence/graphic", "hate"))


def test_nothing_to_judge_is_not_sent(script: Script, judge: Any) -> None:
    assert judge(model(script), []) == ModerationResult(False)
    assert script.requests == []


@pytest.mark.parametrize(
    "body", [said(CLEAN), said(), {}, {"results": None}, said(CLEAN, {"flagged": "no"}), b"oops", [1]]
)
def test_an_answer_that_leaves_a_text_out_is_none(script: Script, judge: Any, body: Any) -> None:
    script.will_say(Answer(body, headers={"content-type": "application/json"}))
    with pytest.raises(ServerError):
        judge(model(script, max_attempts=1), ["a", "b"])


def test_failures_are_those_of_any_model_and_show_no_key(script: Script, judge: Any) -> None:
    script.will_say(Answer({"error": {"message": f"bad key {KEY}"}}, 401))
    with pytest.raises(AuthenticationError) as caught:
        judge(model(script), ["a"])
    assert KEY not in str(caught.value)
    script.will_say(Answer({"error": {"message": "slow down"}}, 429))
    with pytest.raises(RateLimitError):
        judge(model(script, max_attempts=1), ["a"])
    script.will_say({"error": {"message": "odd"}})
    with pytest.raises(ModelError, match="odd"):
        judge(model(script, max_attempts=1), ["a"])


def test_a_failure_that_may_pass_is_tried_again(script: Script, judge: Any) -> None:
    script.will_say(Answer({"error": {"message": "wait"}}, 500, {"retry-after": "0"}), said(CLEAN))
    assert judge(model(script), ["a"]) == ModerationResult(False)
    assert len(script.requests) == 2


def test_without_a_key_it_cannot_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(AuthenticationError, match="OPENAI_API_KEY"):
        OpenAiModerationModel()


@pytest.mark.anyio
async def test_it_serves_the_guardrail_as_well(script: Script) -> None:
    script.will_say(said(VIOLENT))
    asked = model(script)
    verdict = await Moderation(asked.amoderate).validate(GuardrailRequest("a", "a"))  # type: ignore[misc]
    assert isinstance(verdict, Halt)
    assert "violence" in verdict.reason
    assert (await acheck([Moderation(asked.amoderate)], " ")).__class__.__name__ == "Passed"
    await asked.aclose()
