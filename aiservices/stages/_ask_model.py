"""The request itself."""

from __future__ import annotations

from functools import partial
from typing import Any

from ..events import RequestSent, ResponseReceived
from ..invocation import Invocation, Proceed
from ..messages import ChatRequest
from ..models.asking import ask
from ..results import Result
from ..tools import check_tokens, in_time, remaining


async def ask_model(call: Invocation, proceed: Proceed) -> Result[Any]:
    """Send the request and note the answer; the last stage, it never proceeds."""
    setup, journal = call.setup, call.journal
    remaining(call.deadline)
    request = await call.request()
    if setup.chat_request_transformer is not None:
        request = await call.driver.call(setup.chat_request_transformer, request, call.context)
        if not isinstance(request, ChatRequest):
            raise TypeError(
                f"{call.method.where}: chat_request_transformer gave a {type(request).__name__}: "
                "it gives a ChatRequest"
            )
    call.notify(RequestSent, request)
    if call.is_streamed:
        await call.flush()
    show = call.show if call.is_streamed else None
    deadline = None if call.is_streamed else call.deadline
    asking = partial(ask, call.driver, setup.model, request, where=call.method.where, show=show)
    response = await in_time(call.driver, deadline, asking)
    journal.responses.append(response)
    journal.said.clear()
    call.notify(ResponseReceived, response)
    await call.flush()
    if not response.message.tool_calls:
        check_tokens(setup.limits, journal.usage)
        remaining(deadline)
    return Result(
        response.message,
        journal.usage,
        response.finish_reason,
        tuple(journal.responses),
        journal.ledger.executions,
        exchange=call.exchange,
    )
