"""Asking a model: whole or piece by piece, and what is said of a model that does not keep its contract."""

from __future__ import annotations

from collections.abc import AsyncIterable, Awaitable, Callable, Iterable
from functools import partial
from inspect import iscoroutine
from typing import Any

from ..driving import Driver
from ..errors import ServerError
from ..messages import ChatRequest, ChatResponse, ModelEvent, ResponseDone
from .chat import ChatModel

Show = Callable[[ModelEvent], Awaitable[None]]


async def ask(
    driver: Driver, model: ChatModel, request: ChatRequest, *, where: str, show: Show | None = None
) -> ChatResponse:
    """The model's answer; with `show` it is streamed, and each piece is shown as it comes.

    Raises what the model raises, and `ServerError` beginning with `where` for one that gives no answer.
    """
    response: object
    if show is not None:
        response = await _streamed(driver, model, request, where, show)
    else:
        response = await driver.twin(model.chat, model.achat, request)
    if not isinstance(response, ChatResponse):
        raise _no_answer(response, model, where)
    return response


async def _streamed(
    driver: Driver, model: ChatModel, request: ChatRequest, where: str, show: Show
) -> ChatResponse:
    """Show the answer piece by piece, reading to the very end: only then the connection is free again."""
    response = None
    blocking = partial(_opened, model, model.stream, Iterable, where)
    asynchronous = partial(_opened, model, model.astream, AsyncIterable, where)
    events = driver.iterate(blocking, asynchronous, request)
    try:
        async for event in events:
            if isinstance(event, ResponseDone):
                response = event.response
            else:
                await show(event)
    finally:
        await events.aclose()
    if response is None:
        raise ServerError(f"{where}: the stream of {type(model).__name__} ended without an answer")
    return response


def _opened(
    model: ChatModel, stream: Callable[[ChatRequest], Any], kind: type, where: str, request: ChatRequest
) -> Any:
    events: object = stream(request)
    if isinstance(events, kind):
        return events
    name = f"{where}: {type(model).__name__}.{stream.__name__}"
    if iscoroutine(events):
        events.close()
        raise ServerError(f"{name} is a coroutine: write it as a generator, with yield")
    raise ServerError(f"{name} gave a {type(events).__name__}, not an iterator of events")


def _no_answer(response: object, model: ChatModel, where: str) -> ServerError:
    name = type(model).__name__
    if iscoroutine(response):
        response.close()
        return ServerError(f"{where}: {name}.chat is asynchronous: the name for that is achat")
    return ServerError(f"{where}: {name} answered a {type(response).__name__}, not a ChatResponse")
