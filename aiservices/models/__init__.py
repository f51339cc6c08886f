"""Chat models: what a model is, and the ones that come with the framework."""

from ..messages import (
    ChatRequest,
    ChatRequestParameters,
    ChatResponse,
    FinishReason,
    ModelEvent,
    PartialText,
    PartialThinking,
    PartialToolCall,
    ResponseDone,
    ResponseFormat,
    TokenLogprob,
    TokenUsage,
    ToolChoice,
)
from .chat import Capability, ChatModel
from .moderation import ModerationModel, ModerationResult
from .naming import resolve_chat_model
from .scoring import ScoringModel

__all__ = [
    "Capability",
    "ChatModel",
    "ChatRequest",
    "ChatRequestParameters",
    "ChatResponse",
    "FinishReason",
    "ModelEvent",
    "ModerationModel",
    "ModerationResult",
    "PartialText",
    "PartialThinking",
    "PartialToolCall",
    "ResponseDone",
    "ResponseFormat",
    "ScoringModel",
    "TokenLogprob",
    "TokenUsage",
    "ToolChoice",
    "resolve_chat_model",
]
