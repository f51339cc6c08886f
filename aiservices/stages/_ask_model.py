"""The request itself."""

from __future__ import annotations

from collections.abc import AsyncIterable, Callable, Iterable
from functools import partial
from inspect import iscoroutine
from typing import Any

from ..errors import ServerError
from ..events import RequestSent, ResponseReceived
from ..invocation import Invocation, Proceed
from ..messages import ChatRequest, ChatResponse, ResponseDone
from ..results import Result
from ..tools import check_tokens, remaining


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
        response = await _streamed(call, request)
    else:
        response = await call.driver.twin(setup.model.chat, setup.model.achat, request)
    if not isinstance(response, ChatResponse):
        raise _no_answer(response, call)
    journal.responses.append(response)
    call.notify(ResponseReceived, response)
    await call.flush()
    if not response.message.tool_calls:
        check_tokens(setup.limits, journal.usage)
    return Result(
        response.message,
        journal.usage,
        response.finish_reason,
        tuple(journal.responses),
        journal.ledger.executions,
        exchange=call.exchange,
    )


async def _streamed(call: Invocation, request: ChatRequest) -> ChatResponse:
    """Show the answer piece by piece, reading to the very end: only then the connection is free again."""
    await call.flush()
    model, response = call.setup.model, None
    blocking = partial(_opened, call, model.stream, Iterable)
    asynchronous = partial(_opened, call, model.astream, AsyncIterable)
    events = call.driver.iterate(blocking, asynchronous, request)
    try:
        async for event in events:
            if isinstance(event, ResponseDone):
                response = event.response
            else:
                await call.show(event)
    finally:
        await events.aclose()
    if response is None:
        raise ServerError(
            f"{call.method.where}: the stream of {type(model).__name__} ended without an answer"
        )
    return response


def _opened(call: Invocation, stream: Callable[[ChatRequest], Any], kind: type, request: ChatRequest) -> Any:
    events: object = stream(request)
    if isinstance(events, kind):
        return events
    where = f"{call.method.where}: {type(call.setup.model).__name__}.{stream.__name__}"
    if iscoroutine(events):
        events.close()
        raise ServerError(f"{where} is a coroutine: write it as a generator, with yield")
    raise ServerError(f"{where} gave a {type(events).__name__}, not an iterator of events")


def _no_answer(response: object, call: Invocation) -> ServerError:
    model = type(call.setup.model).__name__
    if iscoroutine(response):
        response.close()
        return ServerError(f"{call.method.where}: {model}.chat is asynchronous: the name for that is achat")
    return ServerError(
        f"{call.method.where}: {model} answered a {type(response).__name__}, not a ChatResponse"
    )
