"""A chat model that answers from a script and remembers what it was asked."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from inspect import isawaitable
from typing import Any, TypeAlias, cast

from ..driving import run_in_background
from ..messages import AiMessage, ChatRequest, ChatResponse, FinishReason, ModelEvent, ToolCall
from ..models import Capability, ChatModel
from .pieces import Pieces, pieces_of

Reply: TypeAlias = (
    str
    | AiMessage
    | ToolCall
    | Iterable[ToolCall]
    | ChatResponse
    | Pieces
    | BaseException
    | type[BaseException]
    | Callable[[ChatRequest], Any]
)
"""A text, a message, one or several tool calls, a whole response, the pieces of a text, an exception to
raise, or a function of the request, sync or async, that gives any of these."""


class UnexpectedRequestError(AssertionError):
    """The model was asked more often than the script has replies."""


class UnusedRepliesError(AssertionError):
    """The script has replies that nobody asked for."""


class ScriptedChatModel(ChatModel):
    """Gives the replies one after another; `requests` holds what was asked, `prompts` the last words of each.

    `capabilities` are none by default, so that typed answers are asked for in words. A stream gives a text
    word by word, or in its `Pieces`. A request beyond the last reply is an `UnexpectedRequestError`. A
    `with` block that raises nothing ends with it once more, for one that a tool or an `except` has
    swallowed, and with an `UnusedRepliesError` for replies left over. Raises `TypeError` for what is no
    reply.
    """

    def __init__(self, *replies: Reply, capabilities: Iterable[Capability] = ()) -> None:
        self.capabilities = frozenset(capabilities)
        self.requests: list[ChatRequest] = []
        self._replies = deque(map(_checked, replies))
        self._beyond = ""  # what the first request was that had no reply: its error may reach nobody

    @property
    def request(self) -> ChatRequest:
        """The only request there was. Raises `AssertionError` when there was none or more than one."""
        if len(self.requests) != 1:
            raise AssertionError(f"the model was asked {len(self.requests)} times, not once")
        return self.requests[0]

    @property
    def prompts(self) -> list[str]:
        """What the model was told last: the text of the last message of each request, empty without one."""
        return [request.messages[-1].text or "" for request in self.requests]

    def chat(self, request: ChatRequest) -> ChatResponse:
        reply = self._next(request)
        return _response(run_in_background(_awaited(reply)) if isawaitable(reply) else reply)

    async def achat(self, request: ChatRequest) -> ChatResponse:
        reply = self._next(request)
        return _response(await reply if isawaitable(reply) else reply)

    def stream(self, request: ChatRequest) -> Iterator[ModelEvent]:
        reply = self._next(request)
        given = run_in_background(_awaited(reply)) if isawaitable(reply) else reply
        yield from pieces_of(given, _response)

    async def astream(self, request: ChatRequest) -> AsyncIterator[ModelEvent]:
        reply = self._next(request)
        given = await reply if isawaitable(reply) else reply
        for event in pieces_of(given, _response):
            yield event

    def assert_all_used(self) -> None:
        """Raise `UnexpectedRequestError` where one came, `UnusedRepliesError` when replies are left over."""
        if self._beyond:
            raise UnexpectedRequestError(self._beyond)
        if self._replies:
            raise UnusedRepliesError(
                f"{len(self._replies)} replies were never asked for, the next is {self._replies[0]!r}"
            )

    def _next(self, request: ChatRequest) -> Any:
        self.requests.append(request)
        try:
            reply = self._replies.popleft()
        except IndexError:
            last = request.messages[-1]
            told = (
                f"request {len(self.requests)} has no reply in the script: it ends with {last.text or last!r}"
            )
            self._beyond = self._beyond or told
            raise UnexpectedRequestError(told) from None
        return reply(request) if callable(reply) and not isinstance(reply, type) else reply

    def __enter__(self) -> ScriptedChatModel:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.assert_all_used()

    def __repr__(self) -> str:
        return f"ScriptedChatModel({len(self.requests)} asked, {len(self._replies)} left)"


def _checked(reply: Any) -> Any:
    """The reply, with several tool calls as a tuple."""
    if isinstance(reply, str | AiMessage | ToolCall | ChatResponse | Pieces | BaseException):
        return reply
    if isinstance(reply, type) and issubclass(reply, BaseException):
        return reply
    if isinstance(reply, Iterable):
        calls = tuple(reply)
        if calls and all(isinstance(call, ToolCall) for call in calls):
            return calls
    elif callable(reply) and not isinstance(reply, type):
        return reply
    raise TypeError(
        f"{reply!r} is no reply: give a text, an AiMessage, tool calls, a ChatResponse, an exception or a "
        "function of the request, each as an argument of its own"
    )


def _response(given: object) -> ChatResponse:
    match _checked(given):
        case ChatResponse() as response:
            return response
        case str() as text:
            return ChatResponse(AiMessage(text))
        case Pieces() as pieces:
            return ChatResponse(AiMessage(pieces.whole))
        case AiMessage() as message:
            reason = FinishReason.TOOL_CALLS if message.tool_calls else FinishReason.STOP
            return ChatResponse(message, finish_reason=reason)
        case ToolCall() as call:
            return _response(AiMessage(tool_calls=(call,)))
        case tuple() as calls:
            return _response(AiMessage(tool_calls=calls))
        case error:
            raise cast("BaseException", error)


async def _awaited(reply: Any) -> Any:
    return await reply
