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
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import Annotated, Any, Final, Literal, get_args, get_origin

from pydantic import ConfigDict, PydanticUserError, TypeAdapter, ValidationError
from typing_extensions import TypeAliasType

from outputparsers import OutputParser, UnsupportedTypeError, output_parser

from ..context import InvocationContext, InvocationParameters
from ..messages import (
    AiMessage,
    ChatMessage,
    ChatRequest,
    ChatRequestParameters,
    ChatResponse,
    Content,
    ImageContent,
    TokenUsage,
)
from ..results import Result
from ..streams import AsyncStream, Stream
from .complaints import Complaint


class AnswerForm(Enum):
    """Which part of the model's answer the caller gets."""

    VALUE = "value"
    MESSAGE = "message"
    RESPONSE = "response"
    IMAGE = "image"
    IMAGES = "images"
    NOTHING = "nothing"


class Delivery(Enum):
    """How the caller gets it: whole, or while it is written as texts, as items, or by a handle."""

    WHOLE = "whole"
    PARTS = "parts"
    ITEMS = "items"
    HANDLE = "handle"


@dataclass(frozen=True)
class Answer:
    """What the caller gets: a value of `type` read by `parser`, or a raw form; bare or in a `Result`.

    Streams have another `delivery`, and a handle gives its value in a `Result`; `asynchronous` ones are read
    with `async for`. `item` is the type of one item where `type` is the list of them.
    """

    form: AnswerForm
    type: Any
    wrapped: bool = False
    parser: OutputParser[Any] | None = None
    delivery: Delivery = Delivery.WHOLE
    asynchronous: bool = False
    item: Any = None

    def may_be(self, hint: Any) -> bool:
        """Whether a tool annotated to return `hint` may give this answer; unsure is yes."""
        mine = self.type
        if hint is Any or mine is types.NoneType or not all(map(inspect.isclass, (hint, mine))):
            return True
        try:
            return issubclass(hint, mine) or issubclass(mine, hint)
        except TypeError:  # a TypedDict, for one, does not say
            return True

    def accepts(self, value: object) -> bool:
        """Whether a tool's value is one that the method can return as it is."""
        if self.form is AnswerForm.NOTHING:
            return True
        try:
            self._adapter.validate_python(value, strict=True)
        except (ValidationError, PydanticUserError):
            return False
        return True

    @cached_property
    def _adapter(self) -> TypeAdapter[Any]:
        try:
            return TypeAdapter(self.type, config=_ANY_CLASS)
        except PydanticUserError as error:
            if error.code != "type-adapter-config-unused":  # models, dataclasses and the like have their own
                raise
            return TypeAdapter(self.type)


_ANY_CLASS: Final = ConfigDict(arbitrary_types_allowed=True)
_RAW: Final = {
    AiMessage: AnswerForm.MESSAGE,
    ChatResponse: AnswerForm.RESPONSE,
    ImageContent: AnswerForm.IMAGE,
    types.NoneType: AnswerForm.NOTHING,
    None: AnswerForm.NOTHING,
}
_ITERATORS: Final = (Iterator, AsyncIterator, Generator, AsyncGenerator)
_HANDLES: Final = (Stream, AsyncStream)
_STREAMS: Final = (*_ITERATORS, *_HANDLES)
_EITHER: Final = (Iterable, AsyncIterable)
_ASYNCHRONOUS: Final = (AsyncIterator, AsyncGenerator, AsyncStream)
_SAYING_NOTHING: Final = (Any, object, typing.NoReturn, typing.Never)
_FRAMEWORK: Final = (
    ChatRequest,
    ChatRequestParameters,
    InvocationContext,
    InvocationParameters,
    ChatResponse,
    Result,
    TokenUsage,
    *get_args(ChatMessage),
    *get_args(Content),
)


def read_answer(hint: Any, parsers: dict[Any, OutputParser[Any]]) -> Answer:
    """Read a resolved return annotation. Raises `Complaint` saying what to return instead."""
    whole = _unaliased(hint)
    origin = get_origin(whole)
    if whole is Result or origin is Result:
        return _wrapped(whole, parsers)
    inner = get_args(whole)  # none in a bare typing.Iterator
    if inner and _is_any_of(origin, _ITERATORS):
        _refuse_more(inner[1:])
        return _iterated(inner[0], origin, parsers)
    if inner and _is_any_of(origin, _HANDLES):
        return _handled(inner[0], origin, parsers)
    for kind, form in _RAW.items():
        if whole is kind:
            return Answer(form, whole)
    if origin is list and _unaliased(inner[0]) is ImageContent:
        return Answer(AnswerForm.IMAGES, whole)
    if _is_any_of(whole, _SAYING_NOTHING):
        raise Complaint(
            "the return type says nothing: name the type you want, such as str or a pydantic model"
        )
    _refuse(hint)
    try:
        return Answer(AnswerForm.VALUE, hint, parser=_parser(hint, parsers))
    except UnsupportedTypeError as error:
        raise Complaint(f"the return type cannot be read from a model's answer: {error}") from error


def _wrapped(whole: Any, parsers: dict[Any, OutputParser[Any]]) -> Answer:
    if whole is Result:
        raise Complaint("the return type Result names no type: write Result[str] or another type")
    (inner,) = get_args(whole)
    if Result in (_unaliased(inner), get_origin(_unaliased(inner))):
        raise Complaint("the return type is a Result of a Result: write Result[...] once")
    answer = read_answer(inner, parsers)
    if answer.delivery is not Delivery.WHOLE:
        raise Complaint(
            "the return type is a Result of a stream: write Stream[T], result() gives a Result[T]"
        )
    return replace(answer, wrapped=True)


def _handled(inner: Any, origin: Any, parsers: dict[Any, OutputParser[Any]]) -> Answer:
    answer = read_answer(inner, parsers)
    if answer.wrapped or answer.delivery is not Delivery.WHOLE or answer.form is not AnswerForm.VALUE:
        raise Complaint("a stream is of the value itself: write Stream[str], or Stream[T] with your type")
    return replace(
        answer, wrapped=True, delivery=Delivery.HANDLE, asynchronous=_is_any_of(origin, _ASYNCHRONOUS)
    )


def _refuse_more(sent_and_returned: tuple[Any, ...]) -> None:
    """Raise `Complaint` for a generator that would be sent something, or return something."""
    if not all(_is_any_of(each, (None, types.NoneType, Any)) for each in sent_and_returned):
        raise Complaint("a stream is sent nothing and returns nothing: write Iterator[T] or AsyncIterator[T]")


def _iterated(item: Any, origin: Any, parsers: dict[Any, OutputParser[Any]]) -> Answer:
    """Texts as they come, or the items of a list."""
    asynchronous, bare = _is_any_of(origin, _ASYNCHRONOUS), _unaliased(item)
    if _is_any_of(bare, (*_SAYING_NOTHING, None, types.NoneType)):
        raise Complaint("the items of the stream say nothing: name their type, as in Iterator[str]")
    if bare is str and _parser(item, parsers).json_schema() is None:
        whole = read_answer(item, parsers)
        return replace(whole, delivery=Delivery.PARTS, asynchronous=asynchronous)
    whole = read_answer(list[item], parsers)
    return replace(whole, delivery=Delivery.ITEMS, asynchronous=asynchronous, item=item)


def _unaliased(hint: Any) -> Any:
    """What stands behind a `type` alias or a bare `Annotated`."""
    while isinstance(hint, TypeAliasType) or get_origin(hint) is Annotated:
        hint = hint.__value__ if isinstance(hint, TypeAliasType) else get_args(hint)[0]
    return hint


def _parser(hint: Any, parsers: dict[Any, OutputParser[Any]]) -> OutputParser[Any]:
    if not _hashable(hint):
        return output_parser(hint)
    if hint not in parsers:
        parsers[hint] = output_parser(hint)
    return parsers[hint]


def _refuse(hint: Any, seen: tuple[Any, ...] = ()) -> None:
    """Raise `Complaint` for what no model can answer, however deep in the type it stands."""
    origin = get_origin(hint)
    if isinstance(hint, TypeAliasType):
        if not any(hint is alias for alias in seen):
            _refuse(hint.__value__, (*seen, hint))
        return
    kind = hint if origin is None else origin
    if _is_any_of(kind, (Awaitable, Coroutine)):
        raise Complaint("the return type is an awaitable: write `async def` and the type itself")
    if _is_any_of(kind, _EITHER):
        raise Complaint(
            f"{kind.__name__} does not say whether it is a list or a stream: write list[T] for a "
            "value that is there at once, Iterator[T] or AsyncIterator[T] for a stream"
        )
    if _is_any_of(kind, _STREAMS):
        raise Complaint(
            "a stream is Iterator[T], AsyncIterator[T], Stream[T] or AsyncStream[T] and stands alone: "
            "write it as the whole return type"
        )
    if _is_any_of(kind, _FRAMEWORK):
        raise Complaint(
            f"{kind.__name__} belongs to the framework and is nothing a model can answer: return str, "
            "AiMessage, ChatResponse, ImageContent or Result[...], each as the whole return type, or a type "
            "of your own"
        )
    if origin is not Literal:
        arguments = get_args(hint)[:1] if origin is Annotated else get_args(hint)
        for argument in arguments:
            _refuse(argument, (*seen, hint))


def _is_any_of(kind: Any, types: tuple[Any, ...]) -> bool:
    """Whether it is one of these itself; asking `in` would run `==` of whatever stands in an annotation."""
    return any(kind is item for item in types)


def _hashable(hint: Any) -> bool:
    try:
        hash(hint)
    except TypeError:
        return False
    return True
