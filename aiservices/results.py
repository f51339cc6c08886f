"""What a call gives back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

from guardrails import Failure

from .messages import NO_USAGE, AiMessage, ChatMessage, ChatResponse, FinishReason, TokenUsage, ToolExecution
from .segments import RetrievalFailure, ScoredSegment

T = TypeVar("T", covariant=True)


@dataclass(frozen=True)  # without slots, for `changed`
class Result(Generic[T]):
    """A value and how it came about: declare `-> Result[T]` to get it.

    - `content`: the value; `None` when `immediate`.
    - `usage`: the sum over all requests of the call.
    - `finish_reason`: why the model stopped, in its last answer.
    - `responses`: every answer of the model, the last one final.
    - `tool_executions`: the tool calls of all rounds, in the order of the model's requests.
    - `confidence`: the probability, 0 to 1, of a bool, enum or literal answer where the model tells.
    - `exchange`: what was said between the user's message and the answer: tool rounds, and rejected answers
      with what was said about them.
    - `message`: the message behind the value.
    - `reasks`: why an answer was asked for again, one reason for each time.
    - `guardrail_findings`: what guardrails remarked without objecting, to the input and to this answer.
    - `sources`: what was retrieved for the call, in the order in which the model was shown it.
    - `retrieval_errors`: the retrievers that failed where the call was to go on without them.
    - `immediate`: whether tools gave the answer, without another request to the model.
    """

    content: T
    usage: TokenUsage = NO_USAGE
    finish_reason: FinishReason = FinishReason.STOP
    responses: tuple[ChatResponse, ...] = ()
    tool_executions: tuple[ToolExecution, ...] = ()
    confidence: float | None = None
    exchange: tuple[ChatMessage, ...] = field(default=(), repr=False)
    immediate: bool = False
    message: AiMessage | None = None
    reasks: tuple[str, ...] = ()
    guardrail_findings: tuple[Failure, ...] = ()
    sources: tuple[ScoredSegment, ...] = ()
    retrieval_errors: tuple[RetrievalFailure, ...] = ()
