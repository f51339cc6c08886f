"""The order of a call's work is a tuple that users can read, extend and replace."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest

import aiservices
from aiservices import AiMessage, ConfigurationError, Result, SystemMessage, UserMessage
from aiservices.invocation import Invocation, Proceed
from aiservices.pipeline import STAGES, inserted
from aiservices.stages import ask_model, observe, render, structure
from aiservices.testing import ScriptedChatModel
from tests.asking import answer, asking

STAGE = pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.__name__)


def test_the_default_stages_begin_with_observing_and_end_with_asking() -> None:
    assert (STAGES[0], STAGES[-1]) == (observe, ask_model)
    assert STAGES.index(render) < STAGES.index(structure) < STAGES.index(ask_model)


async def nothing(call: Invocation, proceed: Proceed) -> Result[Any]:
    return await proceed(call)


@STAGE
def test_a_stage_goes_right_before_or_right_after_a_neighbour(stage: Any) -> None:
    index = STAGES.index(stage)
    before, after = inserted(STAGES, nothing, before=stage), inserted(STAGES, nothing, after=stage)
    assert before[index : index + 2] == (nothing, stage)
    assert after[index : index + 2] == (stage, nothing)
    for stages in (before, after):
        assert tuple(item for item in stages if item is not nothing) == STAGES


def test_the_neighbour_must_be_one_and_there() -> None:
    for neighbours in ({}, {"before": render, "after": render}):
        with pytest.raises(ConfigurationError, match="one of the two"):
            inserted(STAGES, nothing, **neighbours)
    with pytest.raises(ConfigurationError, match="the stage nothing is not among observe, render"):
        inserted(STAGES, nothing, before=nothing)


@STAGE
@pytest.mark.parametrize("side", ["before", "after"])
def test_a_stage_that_does_nothing_changes_nothing_wherever_it_stands(
    invoke: Any, stage: Any, side: str
) -> None:
    if (stage, side) == (ask_model, "after"):
        return  # the last stage never proceeds
    plain, extended = ScriptedChatModel("?", answer("7")), ScriptedChatModel("?", answer("7"))
    stages = inserted(STAGES, nothing, **{side: stage})
    expected = invoke(aiservices.create(asking(Result[int]), chat_model=plain), "ask", "hi")
    got = invoke(aiservices.create(asking(Result[int]), chat_model=extended, stages=stages), "ask", "hi")
    assert got == expected
    assert extended.requests == plain.requests


def test_stages_meet_the_call_on_the_way_down_and_the_result_on_the_way_up(invoke: Any) -> None:
    told: list[str] = []

    def telling(name: str) -> Any:
        async def tell(call: Invocation, proceed: Proceed) -> Result[Any]:
            told.append(f"{name} down")
            result = await proceed(call)
            told.append(f"{name} up")
            return result

        return tell

    stages = inserted(inserted(STAGES, telling("outer"), before=render), telling("inner"), after=render)
    invoke(aiservices.create(asking(str), chat_model=ScriptedChatModel("ok"), stages=stages), "ask", "hi")
    assert told == ["outer down", "inner down", "inner up", "outer up"]


def test_a_stage_can_replace_the_user_message_and_leave_the_instructions() -> None:
    async def rewrite(call: Invocation, proceed: Proceed) -> Result[Any]:
        return await proceed(replace(call, system=SystemMessage("New."), user=UserMessage("rewritten")))

    model = ScriptedChatModel("7")
    stages = inserted(STAGES, rewrite, after=structure)
    assert aiservices.create(asking(int), chat_model=model, stages=stages).ask("hi") == 7
    system, user = model.request.messages
    assert system == SystemMessage("New.")
    assert user.text.startswith("rewritten\n")  # type: ignore[union-attr]
    assert "integer" in user.text  # type: ignore[union-attr]


@pytest.mark.parametrize(("kind", "value"), [(str, "cached"), (AiMessage, AiMessage("cached")), (None, None)])
def test_a_stage_below_may_answer_without_the_model(invoke: Any, kind: Any, value: Any) -> None:
    async def cached(call: Invocation, proceed: Proceed) -> Result[Any]:
        return Result(AiMessage("cached"))

    service = aiservices.create(
        asking(Result[kind]), chat_model=ScriptedChatModel(), stages=inserted(STAGES, cached, after=structure)
    )
    assert invoke(service, "ask", "hi") == Result(value, message=AiMessage("cached"))


def test_an_answer_without_the_model_is_parsed_and_rejected_like_any(invoke: Any) -> None:
    answers = iter(["?", "??"])

    async def cached(call: Invocation, proceed: Proceed) -> Result[Any]:
        said = next(answers, None)
        return await proceed(call) if said is None else Result(AiMessage(said))

    model = ScriptedChatModel("7")
    service = aiservices.create(
        asking(int), chat_model=model, parse_retries=2, stages=inserted(STAGES, cached, after=structure)
    )
    assert invoke(service, "ask", "hi") == 7
    _, first, _, second, _ = model.request.messages
    assert (first, second) == (AiMessage("?"), AiMessage("??"))


def test_a_stage_above_may_give_the_value_itself(invoke: Any) -> None:
    async def known(call: Invocation, proceed: Proceed) -> Result[Any]:
        return Result(7)

    service = aiservices.create(
        asking(int), chat_model=ScriptedChatModel(), stages=inserted(STAGES, known, before=render)
    )
    assert invoke(service, "ask", "hi") == 7


def test_a_stage_below_may_rewrite_the_answer_whatever_the_method_returns(invoke: Any) -> None:
    async def redact(call: Invocation, proceed: Proceed) -> Result[Any]:
        result = await proceed(call)
        return replace(result, content=AiMessage(result.content.text.replace("secret", "***")))

    for kind, read in (
        (str, lambda value: value),
        (aiservices.AiMessage, lambda value: value.text),
        (aiservices.ChatResponse, lambda value: value.text),
    ):
        service = aiservices.create(
            asking(kind),
            chat_model=ScriptedChatModel(answer("a secret")),
            stages=inserted(STAGES, redact, after=structure),
        )
        assert read(invoke(service, "ask", "hi")) == "a ***"


@pytest.mark.parametrize("content", ["text", None, 7])
def test_a_stage_below_that_gives_no_message_is_told_so(invoke: Any, content: Any) -> None:
    async def wrong(call: Invocation, proceed: Proceed) -> Result[Any]:
        return Result(content)

    service = aiservices.create(
        asking(str), chat_model=ScriptedChatModel(), stages=inserted(STAGES, wrong, after=structure)
    )
    with pytest.raises(TypeError, match=r"ask: a stage after structure gave a \w+: .* an AiMessage"):
        invoke(service, "ask", "hi")


def test_a_last_stage_that_proceeds_is_told_that_nothing_comes(invoke: Any) -> None:
    for stages in ((observe, render, nothing), (*STAGES[:-1], nothing)):
        service = aiservices.create(asking(str), chat_model=ScriptedChatModel(), stages=stages)
        with pytest.raises(ConfigurationError, match=r"ask: the last stage proceeded, but nothing comes"):
            invoke(service, "ask", "hi")


@pytest.mark.parametrize("stages", [render, "observe", None, {}])
def test_stages_are_a_sequence(stages: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"stages is [\w ]+: give a list or a tuple"):
        aiservices.create(asking(str), chat_model=ScriptedChatModel(), stages=stages)


def test_what_cannot_be_called_is_no_stage() -> None:
    with pytest.raises(ConfigurationError, match=r"the stage 7 cannot be called"):
        aiservices.create(asking(str), chat_model=ScriptedChatModel(), stages=[7])  # type: ignore[list-item]


def test_a_stage_that_is_not_asynchronous_is_told_so(invoke: Any) -> None:
    def known(call: Invocation, proceed: Proceed) -> Any:
        return Result(7)

    for stages in ((known,), inserted(STAGES, known, before=render)):
        service = aiservices.create(asking(int), chat_model=ScriptedChatModel(), stages=stages)
        with pytest.raises(TypeError, match=r"ask: the stage known is not asynchronous: write async def"):
            invoke(service, "ask", "hi")


def test_a_stage_can_be_a_plain_function_or_an_object(invoke: Any) -> None:
    @dataclass  # so it has no hash
    class Counting:
        calls: int = 0

        async def __call__(self, call: Invocation, proceed: Proceed) -> Result[Any]:
            self.calls += 1
            return await proceed(call)

    counting = Counting()
    stages = inserted(
        inserted(STAGES, counting, before=render), lambda call, proceed: proceed(call), after=render
    )
    service = aiservices.create(asking(str), chat_model=ScriptedChatModel("ok"), stages=stages)
    assert invoke(service, "ask", "hi") == "ok"
    assert counting.calls == 1
