"""From the pieces that the engine hands out to events and a `ChatResponse`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from ...messages import (
    AiMessage,
    ChatResponse,
    FinishReason,
    FrozenMapping,
    ModelEvent,
    PartialText,
    PartialThinking,
    PartialToolCall,
    TokenLogprob,
    TokenUsage,
)
from .tool_calls import CallReader
from .weights import Weights

Give = Callable[[ModelEvent], bool]

_REASONS: Final = MappingProxyType({"stop": FinishReason.STOP, "length": FinishReason.LENGTH})


class Answer:
    """Gathers the pieces of one answer, and gives what a reader may already see of it."""

    def __init__(self, calls: CallReader, give: Give) -> None:
        self._calls = calls
        self._give = give
        self._text = self._thinking = self._held = ""
        self._logprobs: list[TokenLogprob] = []
        self._reason: str | None = None
        self._id: str | None = None
        self.usage = TokenUsage(known=False)

    def receive(self, piece: Mapping[str, Any]) -> bool:
        """Take a piece; true says that the reader wants no more."""
        self._id = piece.get("id", self._id)
        if piece.get("usage"):
            self.usage = usage_of(piece["usage"])
        return any(self._choice(choice) for choice in piece.get("choices", ()))

    def response(self, weights: Weights) -> ChatResponse:
        """The whole answer, once all pieces are here."""
        call = self._calls.call_in(self._text)
        if call is not None:
            self._give(PartialToolCall(0, call.id, call.name, call.arguments))
            message = AiMessage(None, (call,), self._thinking or None)
        else:
            self._give_text(self._held)
            message = AiMessage(self._text, (), self._thinking or None)
        reason = _REASONS.get(self._reason or "", FinishReason.OTHER)
        return ChatResponse(
            message,
            self.usage,
            FinishReason.TOOL_CALLS if call is not None else reason,
            self._id,
            weights.name,
            tuple(self._logprobs),
            metadata=metadata_of(weights),
        )

    def _choice(self, choice: Mapping[str, Any]) -> bool:
        self._reason = choice.get("finish_reason") or self._reason
        for token in (choice.get("logprobs") or {}).get("content", ()):
            self._logprobs.append(TokenLogprob(token["token"], token["logprob"]))
        delta = choice.get("delta", {})
        thought, text = delta.get("reasoning_content"), delta.get("content")
        stop = False
        if thought:
            self._thinking += thought
            stop = self._give(PartialThinking(thought))
        return self._write(text) or stop if text else stop

    def _write(self, text: str) -> bool:
        """Text that may turn out to be a call is held back until that is clear."""
        self._text += text
        self._held += text
        return not self._calls.may_become_call(self._text) and self._give_text(self._held)

    def _give_text(self, text: str) -> bool:
        self._held = ""
        return bool(text) and self._give(PartialText(text))


def usage_of(usage: Mapping[str, Any]) -> TokenUsage:
    """The engine's count."""
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0)
    return TokenUsage(usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0), cached)


def metadata_of(weights: Weights) -> FrozenMapping[Any]:
    """What tells two runs apart: the hash of the weights, where it is known."""
    return FrozenMapping({} if weights.known is None else {"sha256": weights.known.sha256})


def likeliest(piece: Mapping[str, Any]) -> Sequence[tuple[str, float]]:
    """The tokens and log probabilities that a look at the next token shows."""
    found: list[tuple[str, float]] = []
    for choice in piece.get("choices", ()):
        for token in (choice.get("logprobs") or {}).get("content", ()):
            found += [(each["token"], each["logprob"]) for each in token["top_logprobs"]]
    return found
