"""The options of a service: what each may be, and everything that is wrong with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias, TypedDict, get_args

from guardrails import GuardrailLike, OutputGuardrailsConfig, link

from .context import InvocationContext
from .driving import is_asynchronous
from .events import Listener, hearing
from .guessing import kind_of
from .invocation import Stage
from .memory import ChatMemory, ChatMemoryProvider, key_of
from .messages import ChatRequest, ChatRequestParameters
from .models.moderation import ModerationModel
from .rag.augmentor import RetrievalAugmentor
from .rag.roles import RetrieverLike
from .rag.slots import slot
from .skills import SkillSource
from .stores import Store
from .tools import Interceptor, Limits, Policy, ToolExecutor, ToolLike, ToolProvider, ToolRegistry, ToolSearch
from .tools.annotations import signature_of
from .tools.policies import CHOICES

MessageOption: TypeAlias = str | Callable[[InvocationContext], Any] | None
SystemTransformer: TypeAlias = Callable[[str | None, InvocationContext], Any] | Callable[[str | None], Any]
RequestTransformer: TypeAlias = Callable[[ChatRequest, InvocationContext], Any] | Callable[[ChatRequest], Any]
CompensationOption: TypeAlias = Literal["tool_error", "invocation_failure", "off"]


class Options(TypedDict, total=False):
    """The options of a service beside its model; `AiServices` says what each means."""

    system_message: MessageOption
    user_message: MessageOption
    system_message_transformer: SystemTransformer | None
    chat_request_transformer: RequestTransformer | None
    parameters: ChatRequestParameters
    parse_retries: int
    chat_memory: ChatMemory | None
    chat_memory_provider: ChatMemoryProvider | None
    remember: Literal["validated", "raw"]
    content_retriever: RetrieverLike | None
    retrieval_augmentor: RetrievalAugmentor | None
    store_retrieved_content: bool
    input_guardrails: Sequence[GuardrailLike[Any]] | None
    output_guardrails: Sequence[GuardrailLike[Any]] | None
    output_guardrails_config: OutputGuardrailsConfig | None
    moderation_model: ModerationModel | None
    tools: Sequence[ToolLike]
    tool_providers: Sequence[ToolProvider]
    tool_search: ToolSearch | None
    tool_registry: ToolRegistry | None
    tool_executor: ToolExecutor | None
    interceptors: Sequence[Interceptor]
    limits: Limits
    on_unknown_tool: Policy
    on_tool_argument_error: Policy
    on_tool_error: Policy
    compensation: CompensationOption | None
    compensation_log: Store | None
    parallel_tools: bool
    stages: Sequence[Stage]
    listeners: Sequence[Listener]
    skills: SkillSource | None


_KINDS: Final[Mapping[str, tuple[Any, str]]] = {
    "parameters": (ChatRequestParameters, "ChatRequestParameters(...)"),
    "limits": (Limits, "Limits(...)"),
    "chat_memory": (ChatMemory | None, "a ChatMemory"),
    "retrieval_augmentor": (RetrievalAugmentor | None, "a RetrievalAugmentor"),
    "store_retrieved_content": (bool, "True or False"),
    "output_guardrails_config": (OutputGuardrailsConfig | None, "OutputGuardrailsConfig(...)"),
    "moderation_model": (ModerationModel | None, "a ModerationModel"),
    "tool_registry": (ToolRegistry | None, "a ToolRegistry"),
    "tool_search": (ToolSearch | None, "KeywordToolSearch() or another ToolSearch"),
    "tool_executor": (ToolExecutor | None, "an object of a subclass of ToolExecutor"),
    "compensation_log": (Store | None, "a Store, such as SqlStore('log.db')"),
    "parallel_tools": (bool, "True or False"),
}
_FUNCTIONS: Final = ("chat_memory_provider", "system_message_transformer", "chat_request_transformer")
_TRANSFORMERS: Final = _FUNCTIONS[1:]
_POLICIES: Final = ("on_unknown_tool", "on_tool_argument_error", "on_tool_error")


def option_problems(config: Any) -> list[str]:
    """Everything that is wrong with the options, one sentence each."""
    problems = []
    if config.chat_model is None:
        problems.append("no chat_model: give a ChatModel or a name such as 'openai:gpt-5-mini' or 'local'")
    retries = config.parse_retries
    if isinstance(retries, bool) or not isinstance(retries, int) or retries < 0:
        problems.append(f"parse_retries is {retries!r}: give a whole number, 0 or more")
    problems += kind_problems(_KINDS, {name: getattr(config, name) for name in _KINDS})
    problems += [
        f"{name} cannot be called: give a function"
        for name in _FUNCTIONS
        if getattr(config, name) is not None and not callable(getattr(config, name))
    ]
    problems += [
        f"{name} cannot be called with what is to be transformed, nor with that and the context"
        for name in _TRANSFORMERS
        if callable(getattr(config, name)) and not _takes(getattr(config, name))
    ]
    problems += _memory_problems(config) + _retrieval_problems(config) + _tool_problems(config)
    for name in ("input_guardrails", "output_guardrails"):
        if getattr(config, name) is not None:
            problems += sequence_problems(name, getattr(config, name), link)
    problems += sequence_problems("stages", config.stages, _check_stage)
    return problems + sequence_problems("listeners", config.listeners, hearing)


def with_context(transformer: Any) -> Any:
    """The transformer as a function of what is to be transformed and the context, which it may leave out."""
    if transformer is None or _takes(transformer) != 1:
        return transformer
    return lambda given, context: transformer(given)


def _takes(transformer: Callable[..., Any]) -> int:
    """How many arguments a transformer is given: 2 if it takes them, else 1; 0 if it takes neither.

    Of one that is decorated, what it says counts before what its decorator takes, which is often everything.
    """
    ways = ((count, written) for written in (True, False) for count in (2, 1))
    return next((count for count, written in ways if _binds(transformer, count, written=written)), 0)


def takes(function: Callable[..., Any], count: int) -> bool:
    """Whether a function can be called with so many arguments, whatever its decorator adds to them."""
    return _binds(function, count, written=False)


def _binds(function: Callable[..., Any], count: int, *, written: bool) -> bool:
    try:
        signature = signature_of(function, follow_wrapped=written)
    except (ValueError, TypeError):  # written in C, or made up by a double, it does not tell
        return True
    try:
        signature.bind(*[None] * count)
    except TypeError:
        return False
    return True


def kind_problems(kinds: Mapping[str, tuple[Any, str]], given: Mapping[str, Any]) -> list[str]:
    """Which options are not of their kind, and what to give instead."""
    return [
        f"{name} is {kind_of(given[name])}: give {wanted}"
        for name, (kind, wanted) in kinds.items()
        if not isinstance(given[name], kind)
    ]


def _memory_problems(config: Any) -> list[str]:
    problems = []
    if is_asynchronous(config.chat_memory_provider):
        problems.append(
            "chat_memory_provider is asynchronous: write def, it makes a memory and reads nothing"
        )
    if config.chat_memory is not None and config.chat_memory_provider is not None:
        problems.append("both chat_memory and chat_memory_provider are given: keep one")
    if isinstance(config.chat_memory, ChatMemory):
        try:
            key_of(config.chat_memory.id)
        except ValueError as error:
            problems.append(f"chat_memory: {error}")
    if config.remember not in ("validated", "raw"):
        problems.append(f"remember is {config.remember!r}: give 'validated' or 'raw'")
    return problems


def _retrieval_problems(config: Any) -> list[str]:
    problems = []
    retriever = config.content_retriever
    if retriever is not None and config.retrieval_augmentor is not None:
        problems.append(
            "both content_retriever and retrieval_augmentor are given: a retriever is short for an augmentor "
            "of that alone, so keep one"
        )
    if isinstance(retriever, RetrievalAugmentor):
        problems.append("content_retriever is a RetrievalAugmentor: give it as retrieval_augmentor")
    try:
        if retriever is not None:
            slot(retriever, "retrieve", "content_retriever")
    except TypeError as error:
        problems.append(str(error))
    return problems


def _tool_problems(config: Any) -> list[str]:
    problems = [
        f"{name} is {getattr(config, name)!r}: give {', '.join(map(repr, CHOICES))} or a function"
        for name in _POLICIES
        if getattr(config, name) not in CHOICES and not callable(getattr(config, name))
    ]
    modes = get_args(CompensationOption)
    if config.compensation is not None and config.compensation not in modes:
        problems.append(f"compensation is {config.compensation!r}: give {', '.join(map(repr, modes))}")
    if config.tools and config.tool_registry is not None:
        problems.append("both tools and tool_registry are given: a registry replaces the tools, so give one")
    problems += sequence_problems("tools", config.tools, lambda tool: None)
    problems += sequence_problems("tool_providers", config.tool_providers, check_provider)
    return problems + sequence_problems("interceptors", config.interceptors, check_interceptor)


def items_of(given: Any) -> Sequence[Any]:
    """The items of an option; none where it is not what it should be, which is told already."""
    return given if isinstance(given, Sequence) and not isinstance(given, str) else ()


def sequence_problems(name: str, given: Any, check: Callable[[Any], object]) -> list[str]:
    """What is wrong with an option that takes several items; `check` raises `TypeError` for a bad one."""
    if isinstance(given, str) or not isinstance(given, Sequence):
        return [f"{name} is {kind_of(given)}: give a list or a tuple"]
    problems = []
    for item in given:
        try:
            check(item)
        except TypeError as error:
            problems.append(str(error))
    return problems


def _check_stage(stage: Any) -> None:
    if not callable(stage):
        raise TypeError(f"the stage {stage!r} cannot be called: give an async function of a call and proceed")


def check_provider(provider: Any) -> None:
    """Raise `TypeError` for what brings no tools."""
    if not callable(getattr(provider, "provide", None)) or isinstance(provider, type):
        raise TypeError(f"the tool provider {provider!r} is no object with a method provide(request)")


def check_interceptor(interceptor: Any) -> None:
    """Raise `TypeError` for what cannot stand around a call."""
    if isinstance(interceptor, type):
        raise TypeError(f"the interceptor {interceptor.__name__} is a class: give {interceptor.__name__}()")
    if not callable(getattr(interceptor, "around", getattr(interceptor, "drive", None))):
        raise TypeError(f"the interceptor {interceptor!r} has no method around(call, context, proceed)")
    if (around := getattr(interceptor, "around", None)) is not None and not takes(around, 3):
        name = type(interceptor).__name__
        raise TypeError(f"the interceptor {name}.around cannot be called with call, context and proceed")
