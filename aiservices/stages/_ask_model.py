"""The request itself."""

from __future__ import annotations

from typing import Any

from ..errors import ServerError
from ..events import RequestSent, ResponseReceived
from ..invocation import Invocation, Proceed
from ..messages import ChatRequest, ChatResponse
from ..results import Result


async def ask_model(call: Invocation, proceed: Proceed) -> Result[Any]:
    """Send the request and note the answer; the last stage, it never proceeds."""
    setup, journal = call.setup, call.journal
    request = call.request()
    if setup.chat_request_transformer is not None:
        request = await call.driver.call(setup.chat_request_transformer, request, call.context)
        if not isinstance(request, ChatRequest):
            raise TypeError(
                f"{call.method.where}: chat_request_transformer gave a {type(request).__name__}, not a ChatRequest"
            )
    call.notify(RequestSent, request)
    response = await call.driver.twin(setup.model.chat, setup.model.achat, request)
    if not isinstance(response, ChatResponse):
        raise ServerError(
            f"{type(setup.model).__name__} answered a {type(response).__name__}, not a ChatResponse"
        )
    journal.responses.append(response)
    call.notify(ResponseReceived, response)
    return Result(response.message, journal.usage, response.finish_reason, tuple(journal.responses))
