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
from importlib.util import find_spec
from typing import Any


def _refuse_foreign_guardrails() -> None:
    """Fail here and in words, not somewhere later: `guardrails-ai` installs a package of our name.

    The source is read and not run, for that may take a stranger seconds, or fail. Where there is no source,
    as in a frozen program, the package is trusted.
    """
    spec = find_spec("guardrails")
    read = getattr(spec.loader, "get_source", None) if spec is not None else None
    source = read("guardrails") if read is not None else None
    if spec is None or (source is not None and "enforce_output" not in source):
        found = "there is none" if spec is None else f"{spec.origin or 'a folder without code'} is another"
        raise ImportError(
            f"aiservices needs the package `guardrails` that it installs itself, and {found}. guardrails-ai "
            "has a package of that name too, and the two cannot share an environment: "
            "pip uninstall guardrails-ai, then pip install --force-reinstall --no-deps aiservices"
        )


_refuse_foreign_guardrails()

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
        "AgentError",
        "AgentSuspendedError",
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
        "MissingInputError",
        "ModelError",
        "ModelNotFoundError",
        "ModelTimeoutError",
        "OutputParsingError",
        "OutputTruncatedError",
        "RateLimitError",
        "RefusalError",
        "RetrievalError",
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
        "Restarted",
        "ResponseReceived",
        "Retrieved",
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
    "models": (
        "Capability",
        "ChatModel",
        "EmbeddingModel",
        "EmbeddingResponse",
        "ModerationModel",
        "ModerationResult",
        "ScoringModel",
    ),
    "pipeline": ("STAGES", "inserted"),
    "results": ("Result",),
    "streams": ("AsyncStream", "Stream"),
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
_NOT_STARRED = {"OpenAiChatModel": "models.openai", "RedisStore": "stores", "SqlStore": "stores"}
"""Public as well, but a star import must not load an SDK or ask for what is not installed."""

__all__ = sorted(_HOME_OF)  # noqa: PLE0605  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name) or _NOT_STARRED.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_NOT_STARRED})
