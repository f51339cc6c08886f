"""What a call gives back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from .messages import NO_USAGE, ChatResponse, FinishReason, TokenUsage

T = TypeVar("T", covariant=True)


@dataclass(frozen=True, slots=True)
class Result(Generic[T]):
    """A value and how it came about: declare `-> Result[T]` to get it.

    `usage` is the sum over all requests of the call. `responses` holds every answer of the model, the last
    one final. `confidence` is the probability, 0 to 1, of a bool, enum or literal answer where the model
    tells, else `None`.
    """

    content: T
    usage: TokenUsage = NO_USAGE
    finish_reason: FinishReason = FinishReason.STOP
    responses: tuple[ChatResponse, ...] = ()
    confidence: float | None = None
