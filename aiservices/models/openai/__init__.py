"""OpenAI's models, and those of every server that speaks its language.

The SDK is loaded when a model is first asked, not when this is imported.
"""

from .embedding import OpenAiEmbeddingModel
from .model import OpenAiChatModel
from .moderation import OpenAiModerationModel

__all__ = ["OpenAiChatModel", "OpenAiEmbeddingModel", "OpenAiModerationModel"]
