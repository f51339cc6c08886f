"""What a method's return annotation asks for."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Coroutine,
    Generator,
    Iterable,
    Iterator,
)
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Final, get_args, get_origin

from outputparsers import OutputParser, UnsupportedTypeError, output_parser

from ..context import InvocationContext, InvocationParameters
from ..messages import (
    AiMessage,
    ChatMessage,
    ChatRequest,
    ChatRequestParameters,
    ChatResponse,
    Content,
    TokenUsage,
)
from ..results import Result
from .complaints import Complaint


class AnswerForm(Enum):
    """Which part of the model's answer the caller gets."""

    VALUE = "value"
    MESSAGE = "message"
    RESPONSE = "response"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Answer:
    """What the caller gets: a value of `type` read by `parser`, or a raw form; bare or `wrapped` in a `Result`."""

    form: AnswerForm
    type: Any
    wrapped: bool = False
    parser: OutputParser[Any] | None = None


_RAW: Final = {
    AiMessage: AnswerForm.MESSAGE,
    ChatResponse: AnswerForm.RESPONSE,
    types.NoneType: AnswerForm.NOTHING,
    None: AnswerForm.NOTHING,
}
_STREAMS: Final = (Iterator, AsyncIterator, Iterable, AsyncIterable, Generator, AsyncGenerator)
_FRAMEWORK: Final = (
    ChatRequest,
    ChatRequestParameters,
    InvocationContext,
    InvocationParameters,
    TokenUsage,
    *get_args(ChatMessage),
    *get_args(Content),
)


def read_answer(hint: Any, parsers: dict[Any, OutputParser[Any]]) -> Answer:
    """Read a resolved return annotation. Raises `Complaint` saying what to return instead."""
    origin = get_origin(hint)
    if hint is Result or origin is Result:
        inner = get_args(hint)
        if not inner:
            raise Complaint("the return type Result names no type: write Result[str] or another type")
        if Result in (inner[0], get_origin(inner[0])):
            raise Complaint("the return type is a Result of a Result: write Result[...] once")
        answer = read_answer(inner[0], parsers)
        return Answer(answer.form, answer.type, wrapped=True, parser=answer.parser)
    if _hashable(hint) and hint in _RAW:
        return Answer(_RAW[hint], hint)
    _refuse(hint, origin)
    try:
        return Answer(AnswerForm.VALUE, hint, parser=_parser(hint, parsers))
    except UnsupportedTypeError as error:
        raise Complaint(f"the return type cannot be read from a model's answer: {error}") from error


def _parser(hint: Any, parsers: dict[Any, OutputParser[Any]]) -> OutputParser[Any]:
    if not _hashable(hint):
        return output_parser(hint)
    if hint not in parsers:
        parsers[hint] = output_parser(hint)
    return parsers[hint]


def _refuse(hint: Any, origin: Any) -> None:
    if origin in (Awaitable, Coroutine) or hint in (Awaitable, Coroutine):
        raise Complaint("the return type is an awaitable: write `async def` and the type itself")
    if origin in _STREAMS or (_hashable(hint) and hint in _STREAMS):
        raise Complaint("the return type is a stream, which is not supported: return a list or another value")
    if hint is Any or hint is object:
        raise Complaint(
            "the return type says nothing: name the type you want, such as str or a pydantic model"
        )
    if hint in (typing.NoReturn, typing.Never) or inspect.isfunction(hint):
        raise Complaint(
            f"{hint} is no type of value: name the type you want, such as str or a pydantic model"
        )
    if get_origin(hint) is Annotated:
        _refuse(get_args(hint)[0], get_origin(get_args(hint)[0]))
    for kind in _FRAMEWORK:
        if hint is kind:
            raise Complaint(
                f"{kind.__name__} belongs to the framework and is nothing a model can answer: "
                "return str, AiMessage, ChatResponse, Result[...] or a type of your own"
            )


def _hashable(hint: Any) -> bool:
    try:
        hash(hint)
    except TypeError:
        return False
    return True
