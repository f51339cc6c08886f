"""Declare an annotated Protocol and call its methods: a language model answers with your types.

    import aiservices
    from aiservices import user_message

    class Analyst(Protocol):
        @user_message("Analyze the sentiment of: {{ it }}")
        def sentiment(self, text: str) -> Sentiment: ...

    analyst = aiservices.create(Analyst, chat_model="openai:gpt-5-mini")
    analyst.sentiment("I love it")

Names are imported from their modules when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "context": (
        "InvocationContext",
        "InvocationParameters",
        "MemoryId",
        "ToolContext",
        "UserName",
        "UserText",
        "V",
        "Variables",
    ),
    "declaring": (
        "input_guardrails",
        "moderate",
        "output_guardrails",
        "stateless",
        "system_message",
        "user_message",
    ),
    "errors": (
        "AiServiceError",
        "AuthenticationError",
        "ConfigurationError",
        "ContentFilteredError",
        "ContextLengthError",
        "EmptyAnswerError",
        "GuardrailError",
        "InputGuardrailError",
        "ModerationError",
        "OutputGuardrailError",
        "ImmediateValueError",
        "InvalidRequestError",
        "LimitExceededError",
        "MemoryInUseError",
        "ConflictError",
        "StoreError",
        "MissingExtraError",
        "ModelError",
        "ModelNotFoundError",
        "ModelTimeoutError",
        "OutputParsingError",
        "OutputTruncatedError",
        "RateLimitError",
        "RefusalError",
        "ServerError",
        "ToolArgumentsError",
        "ToolError",
        "ToolFailedError",
        "UnknownToolError",
    ),
    "events": (
        "AskedAgain",
        "CallCompleted",
        "CallFailed",
        "CallStarted",
        "Compensated",
        "CompensationFailed",
        "GuardrailRan",
        "MemoryRepaired",
        "Event",
        "EventListener",
        "RequestSent",
        "ResponseReceived",
        "ToolFinished",
        "ToolStarted",
    ),
    "messages": (
        "AiMessage",
        "AudioContent",
        "ChatMessage",
        "ChatRequest",
        "ChatRequestParameters",
        "ChatResponse",
        "Compensation",
        "Content",
        "CustomMessage",
        "FinishReason",
        "ImageContent",
        "ModelEvent",
        "PartialText",
        "PartialThinking",
        "PartialToolCall",
        "PdfContent",
        "ResponseDone",
        "ResponseFormat",
        "SystemMessage",
        "TextContent",
        "TokenLogprob",
        "TokenUsage",
        "ToolCall",
        "ToolChoice",
        "ToolExecution",
        "ToolResultMessage",
        "ToolSpec",
        "UserMessage",
        "VideoContent",
        "messages_from_json",
        "messages_to_json",
    ),
    "memory": (
        "ChatMemory",
        "ChatMemoryAccess",
        "MessageWindowChatMemory",
        "SummarizingChatMemory",
        "TokenWindowChatMemory",
    ),
    "stores": ("Entry", "InMemoryStore", "MemoryStore", "Store"),
    "models": ("Capability", "ChatModel"),
    "pipeline": ("STAGES", "inserted"),
    "results": ("Result",),
    "tools": (
        "CompensationMode",
        "DrivenInterceptor",
        "EmbeddingToolSearch",
        "KeywordToolSearch",
        "Limits",
        "Recovery",
        "ReturnBehavior",
        "Tool",
        "ToolExecutor",
        "ToolInterceptor",
        "ToolOutcome",
        "ToolProvider",
        "ToolRegistry",
        "ToolRequest",
        "ToolSearch",
        "ToolSource",
        "arecover",
        "recover",
        "tool",
    ),
    "tools.interceptors": (
        "Allow",
        "Approval",
        "Deny",
        "RateLimit",
        "RetryCalls",
        "TimeLimit",
        "ToolGuardrails",
    ),
    "service": ("AiServices", "ai_service", "create"),
}
_HOME_OF: dict[str, str] = {name: home for home, names in _HOMES.items() for name in names}
_NEEDING_EXTRAS = {"RedisStore": "stores", "SqlStore": "stores"}
"""Public as well, but a star import must not ask for what is not installed."""

__all__ = sorted(_HOME_OF)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name) or _NEEDING_EXTRAS.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
