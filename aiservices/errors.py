"""The exceptions of `aiservices`.

    AiServiceError                   .usage .responses .tool_executions of what was done when it ended a call
      ConfigurationError             .problems; raised when a service is declared or created
      ModelError                     .response where there is one
        AuthenticationError          the key is missing or refused
        RateLimitError               .retry_after in seconds, where the provider says so
        ModelTimeoutError            no answer in time
        ContextLengthError           the request is longer than the model can read
        ContentFilteredError         the provider withheld the question or the answer
        InvalidRequestError          the provider refused the request
        ModelNotFoundError           no such model
        ServerError                  the provider is down, unreachable or answers nonsense
        RefusalError                 the model declined to answer
        EmptyAnswerError             the model answered nothing
        OutputTruncatedError         the answer was cut off before its end
      OutputParsingError             also an outputparsers.OutputParsingError
      StoreError                     .namespace .key of the entry; .turn that a memory could not keep
        ConflictError                .expected .found: somebody else changed the entry
      ToolError                      raised by tools: its text is for the model
      ToolFailedError                .call; a tool failure ended the call
        UnknownToolError             the model asked for a tool that is not there
        ToolArgumentsError           .problems; the model's arguments do not fit the tool
        ImmediateValueError          a tool's immediate value is not what the method returns
      LimitExceededError             .limit; the call went beyond one of its Limits
      GuardrailError                 .failures; also a guardrails.GuardrailError
        InputGuardrailError          the input may not be sent
        OutputGuardrailError         no answer was accepted, also not after asking again
        ModerationError              .categories; the moderation flagged the input
      MemoryInUseError               a call within a call wants the memory that the outer one uses
      AgentError                     .agent; a system of agents was used wrongly, or cannot go on

A missing optional dependency is a `MissingExtraError`, an `ImportError` that names what to install.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import guardrails
import outputparsers

from .messages import NO_USAGE, ChatMessage, ChatResponse, TokenUsage, ToolCall, ToolExecution

__all__ = [
    "AgentError",
    "AiServiceError",
    "AuthenticationError",
    "ConfigurationError",
    "ConflictError",
    "ContentFilteredError",
    "ContextLengthError",
    "EmptyAnswerError",
    "GuardrailError",
    "ImmediateValueError",
    "InputGuardrailError",
    "InvalidRequestError",
    "LimitExceededError",
    "MemoryInUseError",
    "MissingExtraError",
    "ModelError",
    "ModelNotFoundError",
    "ModelTimeoutError",
    "ModerationError",
    "OutputGuardrailError",
    "OutputParsingError",
    "OutputTruncatedError",
    "RateLimitError",
    "RefusalError",
    "ServerError",
    "StoreError",
    "ToolArgumentsError",
    "ToolError",
    "ToolFailedError",
    "UnknownToolError",
]


class AiServiceError(Exception):
    """The root of all errors of `aiservices`.

    One that ends a call carries what was done until then: `usage` (summed tokens), `responses` (every answer
    of the model, in order) and `tool_executions`.
    """

    usage: TokenUsage = NO_USAGE
    responses: tuple[ChatResponse, ...] = ()
    tool_executions: tuple[ToolExecution, ...] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        """Errors cross process boundaries, whatever their constructors take."""
        return _again, (type(self), self.args, self.__dict__)


def _again(kind: type[Exception], args: tuple[Any, ...], state: dict[str, Any]) -> Exception:
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


class ConfigurationError(AiServiceError):
    """A declaration or an option is wrong. `problems` lists everything that is, one sentence each."""

    def __init__(self, problems: str | Iterable[str]) -> None:
        self.problems: tuple[str, ...] = (problems,) if isinstance(problems, str) else tuple(problems)
        super().__init__("\n".join(self.problems))


class ModelError(AiServiceError):
    """A model could not be asked, or what it said cannot be used.

    `status` is the HTTP status where there was one, `code` the provider's own word for what is wrong,
    `request_id` its name for the request, `retry_after` the wait it asks for in seconds, `response` the
    answer that cannot be used.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        code: str | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
        response: ChatResponse | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.request_id = request_id
        self.retry_after = retry_after
        self.response = response


class AuthenticationError(ModelError):
    """The provider's key is missing, wrong, or not allowed to do this."""


class RateLimitError(ModelError):
    """Too many requests; `retry_after` says how long the provider wants us to wait."""


class ModelTimeoutError(ModelError):
    """The model did not answer in time."""


class ContextLengthError(ModelError):
    """The request is longer than the model can read."""


class ContentFilteredError(ModelError):
    """The provider's content filter withheld the question or the answer."""


class InvalidRequestError(ModelError):
    """The provider refused the request as malformed or unsupported."""


class ModelNotFoundError(ModelError):
    """The provider has no model of this name."""


class ServerError(ModelError):
    """The provider failed, could not be reached, or sent something that is not an answer."""


class RefusalError(ModelError):
    """The model declined to answer; the message holds its words."""


class EmptyAnswerError(ModelError):
    """The model answered with neither text nor tool calls."""


class OutputTruncatedError(ModelError):
    """The answer was cut off at the token limit; `response` holds the part that came."""


class OutputParsingError(AiServiceError, outputparsers.OutputParsingError):
    """The model's answer does not fit the return type, also not after asking again.

    `where` is the service and the method.
    """

    def __init__(
        self,
        text: str | None,
        expected: str,
        problems: Sequence[outputparsers.Problem] = (),
        *,
        where: str = "",
    ) -> None:
        outputparsers.OutputParsingError.__init__(self, text, expected, problems)
        self.where = where

    def __str__(self) -> str:
        problems = super().__str__()
        return f"{self.where}: {problems}" if self.where else problems


class ToolError(AiServiceError):
    """Raise it in a tool: the model is told exactly this text, and nothing of any other exception's."""


class ToolFailedError(AiServiceError):
    """The failure of a tool ended the call. `call` is what the model had asked for."""

    def __init__(self, message: str, *, call: ToolCall | None = None) -> None:
        super().__init__(message)
        self.call = call


class UnknownToolError(ToolFailedError):
    """The model asked for a tool that is not there."""


class ToolArgumentsError(ToolFailedError):
    """The model's arguments do not fit the tool. `problems` lists why, one sentence each, with its path."""

    def __init__(self, message: str, *, call: ToolCall | None = None, problems: Sequence[str] = ()) -> None:
        super().__init__(message, call=call)
        self.problems = tuple(problems)


class ImmediateValueError(ToolFailedError):
    """A tool's value was to be returned at once, but it is not what the method returns."""


class LimitExceededError(AiServiceError):
    """The call went beyond one of its `Limits`. `limit` is the name of that limit, as in `Limits`."""

    def __init__(self, message: str, *, limit: str) -> None:
        super().__init__(message)
        self.limit = limit


class StoreError(AiServiceError):
    """A store could not do what it was asked, and what it holds stays as it was.

    `namespace` and `key` name the entry; `key` is `None` where the whole namespace was asked for. After a
    write to a store that could not be reached it is unknown whether the write arrived: read again. `turn`
    holds the messages that a memory could not keep.
    """

    turn: tuple[ChatMessage, ...] = ()

    def __init__(self, message: str, *, namespace: str, key: str | None = None) -> None:
        super().__init__(message)
        self.namespace = namespace
        self.key = key


class ConflictError(StoreError):
    """An entry is not at the version that was expected: somebody else wrote or deleted it.

    `found` is the version it is at, 0 when there is no such entry, and so is `expected`.
    """

    key: str

    def __init__(self, namespace: str, key: str, *, expected: int, found: int) -> None:
        super().__init__(
            f"{key!r} in {namespace!r} is {_at(found)}, not {_at(expected)} as expected",
            namespace=namespace,
            key=key,
        )
        self.expected = expected
        self.found = found


def _at(version: int) -> str:
    return f"at version {version}" if version else "absent"


class GuardrailError(AiServiceError, guardrails.GuardrailError):
    """Guardrails objected. `failures` says which, and why."""


class InputGuardrailError(GuardrailError, guardrails.InputGuardrailError):
    """Guardrails objected to what was to be sent. Nothing was, and no tool ran."""


class OutputGuardrailError(GuardrailError, guardrails.OutputGuardrailError):
    """Guardrails objected to the answer, also to those that were asked for again."""


class ModerationError(GuardrailError, guardrails.ModerationError):
    """The moderation flagged the user's words; `categories` says for what. No tool ran."""


class MemoryInUseError(AiServiceError):
    """A call made from within another one, by a tool for instance, wants the memory that is in use there."""


class AgentError(AiServiceError):
    """A system of agents was used wrongly, or cannot go on. `agent` is the name of the one it is about."""

    def __init__(self, message: str, *, agent: str = "") -> None:
        super().__init__(message)
        self.agent = agent


class MissingExtraError(ImportError):
    """An optional dependency is not installed."""

    def __init__(self, feature: str, *, extra: str) -> None:
        super().__init__(f"{feature} needs more to be installed: pip install 'aiservices[{extra}]'")
        self.extra = extra

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (type(self), self.args, self.__dict__)
