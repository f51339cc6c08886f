"""From what a provider says when it fails to the error that a caller meets.

Code that knows a provider's words raises a `Failure`; the model, which knows whom it asked, makes a
`ModelError` of it that says what happened, where, and what to do, and shows no secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import Any, Final

from ..errors import (
    AuthenticationError,
    ContentFilteredError,
    ContextLengthError,
    InvalidRequestError,
    ModelError,
    ModelNotFoundError,
    ModelTimeoutError,
    RateLimitError,
    ServerError,
)
from ..messages import AiMessage, ChatResponse, FinishReason

LONGEST_QUOTE: Final = 300
SHORTEST_SECRET: Final = 6


class Failure(Exception):  # noqa: N818 - never met by a user
    """A provider's failure in its own terms. `kind` is given where the reason is known to our own code.

    `code` is the provider's word for the reason, `retry_after` in seconds, `details` what else it told.
    """

    def __init__(
        self,
        text: str,
        *,
        kind: type[ModelError] | None = None,
        status: int | None = None,
        code: str | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(text)
        self.text = text
        self.kind = kind
        self.status = status
        self.code = code
        self.request_id = request_id
        self.retry_after = retry_after
        self.details = details


@dataclass(frozen=True, slots=True)
class Origin:
    """Who was asked: what the texts of errors say about it, and what they must not show."""

    host: str
    key_advice: str
    secrets: tuple[str, ...] = field(default=(), repr=False)

    def error(self, failure: Failure, model_name: str) -> ModelError:
        """The error to raise for a failure of this model."""
        kind = failure.kind or kind_of(failure)
        text = self._masked(_told(failure, kind, f"{model_name!r} at {self.host}", self.key_advice))
        return kind(
            text,
            status=failure.status,
            code=failure.code,
            request_id=failure.request_id,
            retry_after=failure.retry_after,
            response=_withheld(failure, kind),
        )

    def telling(self, model_name: str) -> Telling:
        """A context in which failures become the errors of this model."""
        return Telling(self, model_name)

    def cause(self, failure: Failure) -> BaseException | None:
        """The library's own error behind a failure, unless its text shows a secret."""
        cause = error = failure.__cause__
        while error is not None:
            if self._masked(str(error)) != str(error):
                return None
            error = error.__cause__
        return cause

    def _masked(self, text: str) -> str:
        for secret in self.secrets:
            text = text.replace(secret, "***")
        return text


class Telling:
    """Around whatever may raise a `Failure`: it leaves as a `ModelError`."""

    __slots__ = ("_model_name", "_origin")

    def __init__(self, origin: Origin, model_name: str) -> None:
        self._origin = origin
        self._model_name = model_name

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, Failure):
            raise self._origin.error(error, self._model_name) from self._origin.cause(error)


def secrets_among(values: Iterable[str | None]) -> tuple[str, ...]:
    """The values that are long enough to be told apart from ordinary words, longest first."""
    found = {value for value in values if value and len(value) >= SHORTEST_SECRET}
    # `Authorization: Bearer KEY` must also be found where only the key is echoed.
    found |= {word for value in found for word in value.split() if len(word) > SHORTEST_SECRET}
    return tuple(sorted(found, key=len, reverse=True))


_BY_CODE: Final[dict[str, type[ModelError]]] = {
    "content_filter": ContentFilteredError,
    "content_policy_violation": ContentFilteredError,
    "ResponsibleAIPolicyViolation": ContentFilteredError,
    "context_length_exceeded": ContextLengthError,
    "exceed_context_size_error": ContextLengthError,
    "insufficient_quota": RateLimitError,
    "invalid_api_key": AuthenticationError,
    "invalid_prompt": InvalidRequestError,
    "invalid_request_error": InvalidRequestError,
    "model_not_found": ModelNotFoundError,
    "rate_limit_exceeded": RateLimitError,
    "tool_use_failed": InvalidRequestError,
}
_BY_STATUS: Final[dict[int, type[ModelError]]] = {
    401: AuthenticationError,
    403: AuthenticationError,
    404: ModelNotFoundError,
    408: ModelTimeoutError,
    413: ContextLengthError,
    429: RateLimitError,
}
# Servers that know no code for it say it in words.
_TOO_LONG: Final = re.compile(
    r"maximum context length|context (length|window|size) (is )?(exceeded|of)"
    r"|exceeds? the (available )?context",
    re.I,
)


def kind_of(failure: Failure) -> type[ModelError]:
    """The class of the error: by the provider's code, then by the HTTP status, then by the words."""
    status = failure.status
    named = _BY_CODE.get(failure.code or "")
    if named is InvalidRequestError or (named is None and status in {None, 400, 422, 500}):
        if _TOO_LONG.search(failure.text):
            return ContextLengthError
        # `invalid_request_error` is the type of nearly every refusal: the status tells more.
        named = None if status is not None else named
    if named is not None:
        return named
    if status is None or status >= 500:
        return ServerError
    return _BY_STATUS.get(status, InvalidRequestError)


_WHAT: Final[dict[type[ModelError], tuple[str, str]]] = {
    AuthenticationError: ("refused the credentials", "{key}"),
    RateLimitError: (
        "gets too many requests or has no quota left",
        "wait, ask less often, or lower max_in_flight",
    ),
    ModelTimeoutError: ("did not answer in time", "raise timeout= if it needs longer"),
    ContextLengthError: (
        "cannot read a request this long",
        "shorten the conversation, or take another model",
    ),
    ContentFilteredError: ("withheld the exchange: its content filter objected", "change the request"),
    InvalidRequestError: ("refused the request", "correct what it names"),
    ModelNotFoundError: ("was not found", "check the model's name and base_url"),
    ServerError: ("failed", "try again later, or check base_url"),
}


def _told(failure: Failure, kind: type[ModelError], where: str, key_advice: str) -> str:
    what, advice = _WHAT[kind]
    status = f" (HTTP {failure.status})" if failure.status is not None else ""
    words = " ".join(failure.text.split())
    if len(words) > LONGEST_QUOTE:
        words = f"{words[:LONGEST_QUOTE]}…"
    return (
        f"{where} {what}{status}: {words.rstrip('.') or 'no reason given'}; {advice.format(key=key_advice)}"
    )


def _withheld(failure: Failure, kind: type[ModelError]) -> ChatResponse | None:
    """What a content filter tells about its reasons, as the metadata of an answer without content."""
    if kind is not ContentFilteredError or not failure.details:
        return None
    return ChatResponse(AiMessage(), finish_reason=FinishReason.CONTENT_FILTER, metadata=failure.details)


def wait_asked_by(headers: Mapping[str, str]) -> float | None:
    """The seconds that `Retry-After` (seconds or a date) or `retry-after-ms` ask for; `None` without one."""
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    if value is None:
        return None
    if (seconds := _number(value)) is not None:
        return seconds
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None
