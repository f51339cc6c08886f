"""What the result and the error of a call say of what was done, also across services and stages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import aiservices
from aiservices import AiMessage, AiServiceError, InvocationContext, RateLimitError, RefusalError, Result
from aiservices.invocation import Invocation, Proceed
from aiservices.messages import NO_USAGE, TokenUsage
from aiservices.pipeline import STAGES, inserted
from aiservices.stages import structure
from aiservices.testing import ScriptedChatModel
from tests.asking import answer, asking


def outer_of(inner: Any, *replies: Any, **options: Any) -> Any:
    """A service whose requests' transformer asks the inner service first."""

    def transform(request: Any, context: InvocationContext) -> Any:
        inner.ask("inner")
        return request

    return aiservices.create(
        asking(int), chat_model=ScriptedChatModel(*replies), chat_request_transformer=transform, **options
    )


def test_an_error_through_two_services_tells_of_both(invoke: Any) -> None:
    wrong, fine, refused = answer("outer ?"), answer("inner fine"), answer(refusal="inner No.")
    inner = aiservices.create(asking(str), chat_model=ScriptedChatModel(fine, refused))
    with pytest.raises(RefusalError) as caught:
        invoke(outer_of(inner, wrong), "ask", "outer")
    assert caught.value.response is refused
    assert caught.value.responses == (wrong, refused)  # a finished call of another service is its own
    assert caught.value.usage == TokenUsage(2, 4)


def test_an_error_object_that_is_raised_again_tells_of_the_last_call_only(invoke: Any) -> None:
    error = RateLimitError("slow down")
    model = ScriptedChatModel(answer("?"), error, error, answer("?"), answer("??"), error)
    service = aiservices.create(asking(int), chat_model=model, parse_retries=2)
    seen = []
    for _ in range(3):
        with pytest.raises(RateLimitError) as caught:
            invoke(service, "ask", "hi")
        assert caught.value is error
        seen.append((len(error.responses), error.usage))
    assert seen == [(1, TokenUsage(1, 2)), (0, NO_USAGE), (2, TokenUsage(2, 4))]


def test_an_error_of_the_users_own_is_left_alone(invoke: Any) -> None:
    error = LookupError("mine")
    with pytest.raises(LookupError) as caught:
        invoke(aiservices.create(asking(int), chat_model=ScriptedChatModel(error)), "ask", "hi")
    assert not vars(caught.value)


async def twice(call: Invocation, proceed: Proceed) -> Result[Any]:
    """Ask twice and take the longer answer."""
    first, second = await proceed(call), await proceed(call)
    return max(first, second, key=lambda result: len(result.content.text or ""))


@pytest.mark.parametrize(("first", "second"), [("a", "long"), ("long", "a"), ("same", "same")])
def test_a_request_whose_answer_a_stage_does_not_choose_is_counted(
    invoke: Any, first: str, second: str
) -> None:
    service = aiservices.create(
        asking(Result[str]),
        chat_model=ScriptedChatModel(answer(first), answer(second)),
        stages=inserted(STAGES, twice, after=structure),
    )
    result = invoke(service, "ask", "hi")
    assert result.content == max(first, second, key=len)
    assert result.usage == TokenUsage(2, 4)
    assert sorted(response.text for response in result.responses) == sorted([first, second])
    assert result.responses[-1].text == result.content


async def elsewhere(call: Invocation, proceed: Proceed) -> Result[Any]:
    """Let the model answer, then take the answer of another one."""
    await proceed(call)
    return Result(AiMessage("other"), TokenUsage(5, 5), responses=(answer("other"),))


def test_what_a_stage_spent_elsewhere_is_added() -> None:
    service = aiservices.create(
        asking(Result[str]),
        chat_model=ScriptedChatModel(answer("own")),
        stages=inserted(STAGES, elsewhere, after=structure),
    )
    result = service.ask("hi")
    assert (result.content, result.usage) == ("other", TokenUsage(6, 7))
    assert [response.text for response in result.responses] == ["own", "other"]


async def forgetful(call: Invocation, proceed: Proceed) -> Any:
    await proceed(call)


@pytest.mark.parametrize("place", STAGES[:3], ids=lambda stage: stage.__name__)
def test_a_stage_that_forgets_the_result_is_told_so(invoke: Any, place: Any) -> None:
    failures: list[Any] = []
    service = aiservices.create(
        asking(str),
        chat_model=ScriptedChatModel("ok"),
        stages=inserted(STAGES, forgetful, after=place),
        listeners=[failures.append],
    )
    with pytest.raises(TypeError, match=r"ask: a stage .*gave a NoneType"):
        invoke(service, "ask", "hi")
    assert type(failures[-1]).__name__ == "CallFailed"


def test_the_errors_of_a_call_can_be_copied_with_what_they_tell() -> None:
    import copy
    import pickle

    with pytest.raises(AiServiceError) as caught:
        aiservices.create(asking(int), chat_model=ScriptedChatModel(answer("?"), answer("?"))).ask("hi")
    for error in (copy.copy(caught.value), pickle.loads(pickle.dumps(caught.value))):
        assert (str(error), error.usage) == (str(caught.value), caught.value.usage)
        assert error.responses == caught.value.responses
    assert replace(answer("?")) in caught.value.responses
