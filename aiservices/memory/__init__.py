"""Chat memory: conversations that are remembered, in windows, in stores."""

from .chat_memory import ChatMemory
from .ids import key_of
from .keeping import LOCKS, MEMORIES, ChatMemoryAccess, ChatMemoryProvider, Memories
from .repairing import Repaired, repaired, says_nothing
from .stored import StoredChatMemory
from .summarizing import SummarizingChatMemory, summed_up
from .tokens import estimated_tokens
from .units import windowed
from .windows import MessageWindowChatMemory, TokenCounter, TokenWindowChatMemory

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
    "estimated_tokens",
    "key_of",
    "repaired",
    "says_nothing",
    "summed_up",
    "windowed",
]
