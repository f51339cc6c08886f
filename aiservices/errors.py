"""The exceptions of `aiservices`.

    AiServiceError                   .usage .responses of what was done when it ended a call
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

A missing optional dependency is a `MissingExtraError`, an `ImportError` that names what to install.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import outputparsers

from .messages import NO_USAGE, ChatResponse, TokenUsage

__all__ = [
    "AiServiceError",
    "AuthenticationError",
    "ConfigurationError",
    "ContentFilteredError",
    "ContextLengthError",
    "EmptyAnswerError",
    "InvalidRequestError",
    "MissingExtraError",
    "ModelError",
    "ModelNotFoundError",
    "ModelTimeoutError",
    "OutputParsingError",
    "OutputTruncatedError",
    "RateLimitError",
    "RefusalError",
    "ServerError",
]


class AiServiceError(Exception):
    """The root of all errors of `aiservices`.

    One that ends a call carries what was done until then: `usage` (summed tokens) and `responses`
    (every answer of the model, in order).
    """

    usage: TokenUsage = NO_USAGE
    responses: tuple[ChatResponse, ...] = ()


class ConfigurationError(AiServiceError):
    """A declaration or an option is wrong. `problems` lists everything that is, one sentence each."""

    def __init__(self, problems: str | Iterable[str]) -> None:
        self.problems: tuple[str, ...] = (problems,) if isinstance(problems, str) else tuple(problems)
        super().__init__("\n".join(self.problems))


class ModelError(AiServiceError):
    """A model could not be asked, or what it said cannot be used.

    `status` is the HTTP status where there was one, `request_id` the provider's name for the request,
    `response` the answer that cannot be used.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        request_id: str | None = None,
        response: ChatResponse | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.request_id = request_id
        self.response = response


class AuthenticationError(ModelError):
    """The provider's key is missing, wrong, or not allowed to do this."""


class RateLimitError(ModelError):
    """Too many requests. `retry_after` is the wait the provider asks for, in seconds."""

    retry_after: float | None = None


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
    """The model's answer does not fit the return type, also not after asking again."""

    def __init__(self, text: str | None, expected: str, problems: Sequence[outputparsers.Problem]) -> None:
        outputparsers.OutputParsingError.__init__(self, text, expected, problems)


class MissingExtraError(ImportError):
    """An optional dependency is not installed."""

    def __init__(self, feature: str, *, extra: str) -> None:
        super().__init__(f"{feature} needs more to be installed: pip install 'aiservices[{extra}]'")
        self.extra = extra
