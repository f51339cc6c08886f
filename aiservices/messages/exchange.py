"""One exchange with a model: what is asked of it, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, Final, TypeAlias

from .chat import AiMessage, ChatMessage
from .frozen import NO_ATTRIBUTES, attributes_of


class FinishReason(StrEnum):
    """Why a model stopped."""

    STOP = "stop"
    LENGTH = "length"
    TOOL_CALLS = "tool_calls"
    CONTENT_FILTER = "content_filter"
    OTHER = "other"


class ToolChoice(StrEnum):
    """Whether the model may, must or must not ask for tools."""

    AUTO = "auto"
    REQUIRED = "required"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens of one or several exchanges; `cached` is the part of `input` that was read from a cache.

    An amount that a provider did not tell is zero, and `known` is false: a sum is then a lower bound.
    """

    input: int = 0
    output: int = 0
    cached: int = 0
    known: bool = field(default=True, kw_only=True)

    @property
    def total(self) -> int:
        """Input and output together; cached tokens are part of the input and count once."""
        return self.input + self.output

    def __add__(self, other: TokenUsage) -> TokenUsage:
        if not isinstance(other, TokenUsage):
            return NotImplemented
        return TokenUsage(
            self.input + other.input,
            self.output + other.output,
            self.cached + other.cached,
            known=self.known and other.known,
        )


NO_USAGE: Final = TokenUsage()


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model sees it; `parameters` is a JSON Schema of an object.

    `strict` tells that the schema is within the subset that providers can enforce: no property is optional.
    """

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = field(default=NO_ATTRIBUTES, hash=False)
    attributes: Mapping[str, Any] = field(default=NO_ATTRIBUTES, hash=False)
    strict: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "attributes", attributes_of(self.attributes, owner="ToolSpec.attributes"))


@dataclass(frozen=True, slots=True)
class ResponseFormat:
    """The JSON Schema an answer must fit; `strict` asks a provider to guarantee it."""

    name: str
    schema: Mapping[str, Any] = field(hash=False)
    strict: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequestParameters:
    """Settings of a request; `None` leaves the choice to the model. `timeout` is in seconds.

    `extra` goes into the provider's request as it is. `a | b` combines two: where both say something
    the right side wins; the entries of both `extra` mappings are kept. Raises `ValueError` for
    a `timeout` that is not positive.
    """

    model_name: str | None = None
    temperature: float | None = None
    top_p: float | None = None
    max_output_tokens: int | None = None
    stop: Sequence[str] | None = None
    seed: int | None = None
    timeout: float | None = None
    extra: Mapping[str, Any] = field(default=NO_ATTRIBUTES, hash=False)

    def __post_init__(self) -> None:
        if self.timeout is not None and not self.timeout > 0:
            raise ValueError(f"timeout is {self.timeout!r}: give seconds, more than 0, or None for no limit")
        put = object.__setattr__
        if self.stop is not None:
            put(self, "stop", (self.stop,) if isinstance(self.stop, str) else tuple(self.stop))
        if self.extra is not NO_ATTRIBUTES:
            put(self, "extra", attributes_of(self.extra, owner="ChatRequestParameters.extra"))

    def __or__(self, other: ChatRequestParameters) -> ChatRequestParameters:
        if not isinstance(other, ChatRequestParameters):
            return NotImplemented
        if other is self or other == DEFAULT_PARAMETERS:
            return self
        if self == DEFAULT_PARAMETERS:
            return other
        merged = {name: getattr(other, name) for name in _SETTINGS if getattr(other, name) is not None}
        mine = {name: getattr(self, name) for name in _SETTINGS}
        return ChatRequestParameters(
            **{**mine, **merged}, extra=attributes_of({**self.extra, **other.extra}, owner="extra")
        )


_SETTINGS = tuple(item.name for item in fields(ChatRequestParameters) if item.name != "extra")
DEFAULT_PARAMETERS: Final = ChatRequestParameters()


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """Everything one request to a model says. Raises `ValueError` when there are no messages."""

    messages: Sequence[ChatMessage]
    tools: Sequence[ToolSpec] = ()
    tool_choice: ToolChoice = ToolChoice.AUTO
    response_format: ResponseFormat | None = None
    parameters: ChatRequestParameters = DEFAULT_PARAMETERS

    def __post_init__(self) -> None:
        put = object.__setattr__
        if type(self.messages) is not tuple:
            put(self, "messages", tuple(self.messages))
        if type(self.tools) is not tuple:
            put(self, "tools", tuple(self.tools))
        if not self.messages:
            raise ValueError("a ChatRequest needs at least one message")


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """A token of an answer and the natural logarithm of its probability."""

    token: str
    logprob: float


@dataclass(frozen=True, slots=True)
class ChatResponse:
    """A model's answer.

    `logprobs` are those of the answer's tokens in order. `label_probabilities` maps each label of a
    closed choice (the wire labels of a bool, enum or literal answer) to its probability.
    """

    message: AiMessage
    usage: TokenUsage = NO_USAGE
    finish_reason: FinishReason = FinishReason.STOP
    id: str | None = None
    model_name: str | None = None
    logprobs: tuple[TokenLogprob, ...] | None = None
    label_probabilities: Mapping[str, float] | None = field(default=None, hash=False)
    metadata: Mapping[str, Any] = field(default=NO_ATTRIBUTES, hash=False)

    def __post_init__(self) -> None:
        message: object = self.message
        if not isinstance(message, AiMessage):
            kind = type(message).__name__
            raise TypeError(
                f"ChatResponse takes an AiMessage, not a {kind}: write ChatResponse(AiMessage(text))"
            )
        if self.metadata is not NO_ATTRIBUTES:
            frozen = attributes_of(self.metadata, owner="ChatResponse.metadata")
            object.__setattr__(self, "metadata", frozen)

    @property
    def text(self) -> str | None:
        """The text of the message."""
        return self.message.text


@dataclass(frozen=True, slots=True)
class PartialText:
    """The next piece of the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class PartialThinking:
    """The next piece of what the model thinks aloud."""

    text: str


@dataclass(frozen=True, slots=True)
class PartialToolCall:
    """The next piece of a tool call; `index` tells the calls of one answer apart."""

    index: int
    id: str | None
    name: str | None
    arguments: str


@dataclass(frozen=True, slots=True)
class ResponseDone:
    """The whole answer; always the last event of a stream."""

    response: ChatResponse


ModelEvent: TypeAlias = PartialText | PartialThinking | PartialToolCall | ResponseDone
"""What a streaming model says, piece by piece."""
