"""Asking a moderation beside the first request, and before any tool runs."""

from __future__ import annotations

from inspect import iscoroutine
from typing import Any

from ..errors import ModerationError, ServerError
from ..invocation import Invocation, Proceed
from ..models.moderation import ModerationResult
from ..results import Result


async def moderate(call: Invocation, proceed: Proceed) -> Result[Any]:
    """Let the user's words be judged while the model already thinks; a flagged text ends the call."""
    text = call.user.text if call.user is not None else ""
    if call.journal.responses or not text.strip():
        return await proceed(call)
    if call.is_streamed:  # what has been shown cannot be taken back
        await _moderated(call, text)
        return await proceed(call)
    _, result = await call.driver.gather([_moderated(call, text), proceed(call)])
    assert result is not None
    return result


async def _moderated(call: Invocation, text: str) -> None:
    model = call.setup.moderation_model
    assert model is not None
    judged: object = await call.driver.twin(model.moderate, model.amoderate, (text,))
    if not isinstance(judged, ModerationResult):
        raise _no_verdict(judged, call)
    if judged.flagged:
        raise ModerationError(judged.categories)


def _no_verdict(judged: object, call: Invocation) -> ServerError:
    model = type(call.setup.moderation_model).__name__
    if iscoroutine(judged):
        judged.close()
        return ServerError(
            f"{call.method.where}: {model}.moderate is asynchronous: the name for that is amoderate"
        )
    return ServerError(f"{call.method.where}: {model} gave a {type(judged).__name__}, not a ModerationResult")
