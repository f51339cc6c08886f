"""A chat model that answers from a script and remembers what it was asked."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from ..messages import AiMessage, ChatRequest, ChatResponse, FinishReason, ToolCall
from ..models import Capability, ChatModel

Reply: TypeAlias = (
    str
    | AiMessage
    | ToolCall
    | Iterable[ToolCall]
    | ChatResponse
    | BaseException
    | Callable[[ChatRequest], Any]
)
"""A text, a message, one or several tool calls, a whole response, an exception to raise, or a function of
the request that gives any of these."""


class UnexpectedRequestError(AssertionError):
    """The model was asked more often than the script has replies."""


class UnusedRepliesError(AssertionError):
    """The script has replies that nobody asked for."""


class ScriptedChatModel(ChatModel):
    """Gives the replies one after another; `requests` holds what was asked.

    `capabilities` are none by default, so that typed answers are asked for in words. A request beyond the
    last reply is an `UnexpectedRequestError`. At the end of a `with` block that raises nothing, replies left
    over are an `UnusedRepliesError`.
    """

    def __init__(self, *replies: Reply, capabilities: Iterable[Capability] = ()) -> None:
        self.capabilities = frozenset(capabilities)
        self.requests: list[ChatRequest] = []
        self._replies = deque(replies)

    @property
    def request(self) -> ChatRequest:
        """The only request there was. Raises `AssertionError` when there was none or more than one."""
        if len(self.requests) != 1:
            raise AssertionError(f"the model was asked {len(self.requests)} times, not once")
        return self.requests[0]

    def chat(self, request: ChatRequest) -> ChatResponse:
        self.requests.append(request)
        try:
            reply = self._replies.popleft()
        except IndexError:
            raise UnexpectedRequestError(
                f"request {len(self.requests)} has no reply in the script: {request.messages[-1]!r}"
            ) from None
        return _response(reply, request)

    async def achat(self, request: ChatRequest) -> ChatResponse:
        return self.chat(request)

    def assert_all_used(self) -> None:
        """Raise `UnusedRepliesError` when replies are left over."""
        if self._replies:
            raise UnusedRepliesError(
                f"{len(self._replies)} replies were never asked for, the next is {self._replies[0]!r}"
            )

    def __enter__(self) -> ScriptedChatModel:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.assert_all_used()

    def __repr__(self) -> str:
        return f"ScriptedChatModel({len(self.requests)} asked, {len(self._replies)} left)"


def _response(reply: Any, request: ChatRequest) -> ChatResponse:
    match reply:
        case BaseException():
            raise reply
        case ChatResponse():
            return reply
        case AiMessage(tool_calls=calls):
            return ChatResponse(reply, finish_reason=FinishReason.TOOL_CALLS if calls else FinishReason.STOP)
        case str():
            return ChatResponse(AiMessage(reply))
        case ToolCall():
            return _response(AiMessage(tool_calls=(reply,)), request)
        case Callable():
            return _response(reply(request), request)
        case Iterable():
            return _response(AiMessage(tool_calls=tuple(reply)), request)
    raise TypeError(
        f"{reply!r} is no reply: give a text, an AiMessage, tool calls, a ChatResponse or an exception"
    )
