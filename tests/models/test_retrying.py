"""Which failures are worth another try, and how long it waits."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest
import tenacity

from aiservices.errors import (
    AuthenticationError,
    ContentFilteredError,
    ContextLengthError,
    InvalidRequestError,
    ModelError,
    ModelNotFoundError,
    ModelTimeoutError,
    RateLimitError,
    ServerError,
)
from aiservices.models.retrying import Retries


def failing(kind: type[ModelError], **told: Any) -> ModelError:
    error = kind("down")
    vars(error).update(told)
    return error


class Model:
    """Raises its failures one after another, then answers."""

    def __init__(self, *failures: BaseException) -> None:
        self.failures = list(failures)
        self.asked = 0

    def ask(self) -> str:
        self.asked += 1
        if self.failures:
            raise self.failures.pop(0)
        return "ok"

    async def aask(self) -> str:
        await asyncio.sleep(0)
        return self.ask()


Run = Callable[[Retries, Model], str]


@pytest.fixture(params=["blocking", "asynchronous"])
def run(request: pytest.FixtureRequest) -> Run:
    if request.param == "blocking":
        return lambda retries, model: retries.call(model.ask)
    return lambda retries, model: asyncio.run(retries.acall(model.aask))


@pytest.mark.parametrize("kind", [RateLimitError, ServerError, ModelTimeoutError])
def test_a_failure_that_may_pass_is_tried_again(run: Run, kind: type[ModelError]) -> None:
    model = Model(failing(kind, retry_after=0.0), failing(kind, retry_after=0.0))
    assert run(Retries(), model) == "ok"
    assert model.asked == 3


@pytest.mark.parametrize(
    "error",
    [
        failing(AuthenticationError),
        failing(ContentFilteredError),
        failing(ContextLengthError),
        failing(InvalidRequestError),
        failing(ModelNotFoundError),
        failing(RateLimitError, code="insufficient_quota"),
        failing(RateLimitError, retry_after=121.0),
        failing(ServerError, retry_after=3600.0),
        KeyError("a bug"),
        KeyboardInterrupt(),
    ],
    ids=repr,
)
def test_a_failure_that_lasts_is_raised_at_once(error: BaseException) -> None:
    """LG-51"""
    model = Model(error)
    with pytest.raises(type(error)) as caught:
        Retries().call(model.ask)
    assert caught.value is error
    assert model.asked == 1


def test_the_last_failure_is_raised_as_it_is_and_says_how_often_it_was_tried(run: Run) -> None:
    """LG-52"""
    failures = [failing(ServerError, retry_after=0.0) for _ in range(3)]
    model = Model(*failures)
    with pytest.raises(ServerError) as caught:
        run(Retries(), model)
    assert caught.value is failures[-1]
    assert caught.value.__cause__ is None
    assert model.asked == 3
    assert "asked 3 times" in caught.value.__notes__[0]


def test_a_lasting_failure_ends_the_tries(run: Run) -> None:
    model = Model(failing(ServerError, retry_after=0.0), failing(InvalidRequestError))
    with pytest.raises(InvalidRequestError):
        run(Retries(), model)
    assert model.asked == 2


def test_one_attempt_means_no_other(run: Run) -> None:
    model = Model(failing(ServerError))
    with pytest.raises(ServerError):
        run(Retries(max_attempts=1), model)
    assert model.asked == 1


def test_none_at_all_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1, not 0"):
        Retries(max_attempts=0)


def test_the_wait_is_the_one_that_was_asked_for_else_grows(caplog: pytest.LogCaptureFixture) -> None:
    model = Model(failing(ServerError), failing(RateLimitError, retry_after=0.05))
    with caplog.at_level(logging.INFO, "aiservices.models.retrying"):
        Retries().call(model.ask)
    first, second = (record.args[0] for record in caplog.records)  # type: ignore[index]
    assert 0.5 <= first <= 1.0  # type: ignore[operator]
    assert second == 0.05


@pytest.mark.anyio
async def test_an_asynchronous_wait_lets_others_run_and_can_be_cancelled() -> None:
    """LG-55"""
    model = Model(failing(ServerError, retry_after=60.0))
    asking = asyncio.create_task(Retries().acall(model.aask))
    await asyncio.sleep(0.05)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert model.asked == 1


def test_calls_side_by_side_count_their_attempts_apart() -> None:
    async def all_at_once() -> list[str]:
        models = [Model(*[failing(ServerError, retry_after=0.01)] * (number % 3)) for number in range(30)]
        retries = Retries()
        return await asyncio.gather(*(retries.acall(model.aask) for model in models))

    assert asyncio.run(all_at_once()) == ["ok"] * 30


def waits(*failures: ModelError) -> list[float]:
    """The wait after each of these failures, as it would be; nobody waits."""
    controller = Retries(max_attempts=len(failures) + 1)._attempts("Retrying")
    found = []
    for number, error in enumerate(failures, start=1):
        state = tenacity.RetryCallState(controller, None, (), {})
        state.attempt_number = number
        state.set_exception((type(error), error, None))
        found.append(controller.wait(state))
    return found


def test_the_wait_doubles_up_to_a_bound_and_jitter_comes_on_top() -> None:
    """LG-53, LG-54: half a second at first, eight at most, and up to half a second more."""
    for wait, least in zip(waits(*[failing(ServerError)] * 8), [0.5, 1, 2, 4, 8, 8, 8, 8], strict=True):
        assert least <= wait <= least + 0.5
    assert len(set(waits(*[failing(ServerError)] * 8)[4:])) > 1
