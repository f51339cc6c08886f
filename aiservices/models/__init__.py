"""Models: what a chat, an embedding, a moderation or a scoring model is. Each provider has a package here."""

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
from .embedding import EmbeddingModel, EmbeddingResponse
from .moderation import ModerationModel, ModerationResult
from .naming import embedding_model_of, resolve_chat_model
from .scoring import ScoringModel

__all__ = [
    "Capability",
    "ChatModel",
    "ChatRequest",
    "ChatRequestParameters",
    "ChatResponse",
    "EmbeddingModel",
    "EmbeddingResponse",
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
    "embedding_model_of",
    "resolve_chat_model",
]
