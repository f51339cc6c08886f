"""Chat memory: conversations that are remembered, in windows, in stores."""

from .chat_memory import ChatMemory
from .keeping import LOCKS, MEMORIES, ChatMemoryAccess, ChatMemoryProvider, Memories, check_id, enter, leave
from .stored import StoredChatMemory
from .summarizing import SummarizingChatMemory
from .units import Repaired, repaired
from .windows import MessageWindowChatMemory, TokenCounter, TokenWindowChatMemory, estimated_tokens

__all__ = [
    "LOCKS",
    "MEMORIES",
    "ChatMemory",
    "ChatMemoryAccess",
    "ChatMemoryProvider",
    "Memories",
    "MessageWindowChatMemory",
    "Repaired",
    "StoredChatMemory",
    "SummarizingChatMemory",
    "TokenCounter",
    "TokenWindowChatMemory",
    "check_id",
    "enter",
    "estimated_tokens",
    "leave",
    "repaired",
]
