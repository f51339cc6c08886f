"""From a Protocol to an object that answers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, TypeVar, cast, get_origin, overload

from typing_extensions import TypeForm, Unpack

from guardrails import GuardrailLike, OutputGuardrailsConfig

from .assembling import assemble, chains_of, misfits
from .calling import invoker
from .declaring import declare, declared_on
from .errors import ConfigurationError
from .events import Listener
from .guessing import listing
from .invocation import Stage
from .memory import ChatMemory, ChatMemoryProvider, Memories
from .messages import DEFAULT_PARAMETERS, ChatRequestParameters
from .models import ChatModel, resolve_chat_model
from .models.moderation import ModerationModel
from .options import (
    CompensationOption,
    MessageOption,
    Options,
    RequestTransformer,
    SystemTransformer,
    items_of,
    option_problems,
)
from .pipeline import STAGES, compose
from .proxying import make_proxy
from .rag.augmentor import RetrievalAugmentor
from .rag.roles import RetrieverLike
from .reading import read_service, read_whole_service
from .skills import NO_SKILLS, SkillSource, shelved
from .stores import Store
from .tools import (
    DEFAULT_LIMITS,
    NO_TOOLS,
    Interceptor,
    Limits,
    Policy,
    ToolExecutor,
    ToolLike,
    ToolProvider,
    ToolRegistry,
    ToolSearch,
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class AiServices:
    """A configuration from which any number of services can be created.

    - `chat_model`: a `ChatModel`, or a name such as `openai:gpt-5-mini` or `local`.
    - `system_message`, `user_message`: for methods that declare none; template text, or a sync or async
      callable of the `InvocationContext` whose text is used as it is.
    - `system_message_transformer`: a callable of the rendered system text (`None` when there is none) and,
      if it takes two arguments, the context; gives the text to send, or `None` for none.
    - `chat_request_transformer`: likewise of each request; gives the request to send.
    - `parameters`: settings of each request; a `ChatRequestParameters` argument of a method wins over them.
    - `parse_retries`: how often an answer that does not fit the return type is asked for again; 1.
    - `chat_memory`: one memory for all calls. `chat_memory_provider`: a callable of an id that makes the
      memory of that conversation. `remember`: whether the accepted answer is kept, or the model's first.
    - `content_retriever`: looks up what the user's message is about: an object with `retrieve(query)`, or a
      function of the query. `retrieval_augmentor` in its place says how the whole of it is done.
      `store_retrieved_content`: whether memory keeps what was retrieved in the user's message; false.
    - `input_guardrails`, `output_guardrails`: in place of the declared ones. `output_guardrails_config`: how
      often an answer may be judged. `moderation_model`: for methods declared with `@moderate`.
    - `tools`: functions, `@tool` objects, objects with `@tool` methods, services, pairs of a `ToolSpec` and a
      callable; or `tool_registry` in their place. `tool_executor` runs the calls instead of the framework.
    - `tool_providers`: objects that bring more tools for each call. `tool_search`: shows the model a search
      in place of the tools, and then what it has found.
    - `interceptors`: around each tool call, the first outermost.
    - `limits`: how much one call may do.
    - `on_unknown_tool`, `on_tool_argument_error`, `on_tool_error`: `"tell_model"` (the default),
      `"tell_model_type"`, `"raise"`, or a function of the error and the `ToolContext` that gives the text.
    - `compensation`: when tools are undone: `"tool_error"`, `"invocation_failure"` (the default when a tool
      has an undo) or `"off"`. `compensation_log`: a `Store` that keeps what was done, so that
      `aiservices.recover` can undo it after a crash.
    - `parallel_tools`: whether the calls of one answer run side by side; true.
    - `stages`: the pipeline, `aiservices.pipeline.STAGES` by default.
    - `listeners`: callables of one event, or objects with `on_event`.
    - `skills`: a folder of skills, or a list of `Skill`s, that the model opens when a task needs them.
    """

    chat_model: ChatModel | str | None = None
    system_message: MessageOption = None
    user_message: MessageOption = None
    system_message_transformer: SystemTransformer | None = None
    chat_request_transformer: RequestTransformer | None = None
    parameters: ChatRequestParameters = DEFAULT_PARAMETERS
    parse_retries: int = 1
    chat_memory: ChatMemory | None = None
    chat_memory_provider: ChatMemoryProvider | None = None
    remember: Literal["validated", "raw"] = "validated"
    content_retriever: RetrieverLike | None = None
    retrieval_augmentor: RetrievalAugmentor | None = None
    store_retrieved_content: bool = False
    input_guardrails: Sequence[GuardrailLike[Any]] | None = None
    output_guardrails: Sequence[GuardrailLike[Any]] | None = None
    output_guardrails_config: OutputGuardrailsConfig | None = None
    moderation_model: ModerationModel | None = None
    tools: Sequence[ToolLike] = ()
    tool_providers: Sequence[ToolProvider] = ()
    tool_search: ToolSearch | None = None
    tool_registry: ToolRegistry | None = None
    tool_executor: ToolExecutor | None = None
    interceptors: Sequence[Interceptor] = ()
    limits: Limits = DEFAULT_LIMITS
    on_unknown_tool: Policy = "tell_model"
    on_tool_argument_error: Policy = "tell_model"
    on_tool_error: Policy = "tell_model"
    compensation: CompensationOption | None = None
    compensation_log: Store | None = None
    parallel_tools: bool = True
    stages: Sequence[Stage] = STAGES
    listeners: Sequence[Listener] = ()
    skills: SkillSource | None = None

    def replace(self, **changes: Any) -> AiServices:
        """The same configuration with other values. Raises `ConfigurationError` for an unknown option."""
        _refuse_unknown(changes)
        return replace(self, **changes)

    def create(self, service: TypeForm[T]) -> T:
        """Make a service of a Protocol. Raises `ConfigurationError` with every mistake of its declaration."""
        declared = declared_on(get_origin(service) or service).options
        missing = {item.name for item in fields(self) if getattr(self, item.name) == item.default}
        config = replace(self, **{name: value for name, value in declared.items() if name in missing})
        return cast("T", _create(config, service, sys._getframe(1)))


def create(
    service: TypeForm[T], *, chat_model: ChatModel | str | None = None, **options: Unpack[Options]
) -> T:
    """Make a service of a Protocol: an object whose methods ask the model.

    `chat_model` and the `options` are those of `AiServices`; what `@ai_service` declared is their default.
    Raises `ConfigurationError` with every mistake of the declaration and of the options.
    """
    given: dict[str, Any] = {**declared_on(get_origin(service) or service).options, **options}
    if chat_model is not None:
        given["chat_model"] = chat_model
    _refuse_unknown(given)
    return cast("T", _create(AiServices(**given), service, sys._getframe(1)))


@overload
def ai_service(service: type[T], /) -> type[T]: ...
@overload
def ai_service(
    *, name: str | None = None, chat_model: ChatModel | str | None = None, **options: Unpack[Options]
) -> Callable[[type[T]], type[T]]: ...
def ai_service(
    service: type[Any] | None = None,
    /,
    *,
    name: str | None = None,
    chat_model: ChatModel | str | None = None,
    **options: Unpack[Options],
) -> Any:
    """Mark a Protocol as a service and check its declaration right where it stands.

    Names in annotations that do not exist yet are left for `create`. The options become the defaults of
    `create`; `name` is what the service is called in events and errors. Raises `ConfigurationError`.
    """
    given: dict[str, Any] = dict(options)
    if chat_model is not None:
        given["chat_model"] = chat_model
    _refuse_unknown(given)
    frame = sys._getframe(1)

    def mark(protocol: type[T]) -> type[T]:
        declare(protocol, service_name=name, options=given)
        read_service(
            protocol,
            system=given.get("system_message"),
            user=given.get("user_message"),
            names=frame.f_locals,
            final=False,
        )
        return protocol

    return mark if service is None else mark(service)


def _create(config: AiServices, service: Any, frame: Any) -> Any:
    problems = option_problems(config)
    shelf = _collect(problems, lambda: shelved(config.skills)) or NO_SKILLS
    tools = items_of(config.tools)
    given = _collect(problems, lambda: config.tool_registry or ToolRegistry(tools)) or NO_TOOLS
    registry = _collect(problems, lambda: given.including(shelf.openers())) or NO_TOOLS
    system, user, names = config.system_message, config.user_message, frame.f_locals
    read = _collect(problems, lambda: read_whole_service(service, system=system, user=user, names=names))
    if read is None:
        raise ConfigurationError(problems)
    spec = read[0]
    problems += [*read[1], *misfits(spec, registry, shelf, config)]
    chains = [chains_of(method, config, problems) for method in spec.all_methods]
    if problems or config.chat_model is None:
        raise ConfigurationError(problems)
    model, memories = resolve_chat_model(config.chat_model), _memories(config)
    made = [
        assemble(method, model, registry, shelf, memories, guards, config)
        for method, guards in zip(spec.all_methods, chains, strict=True)
    ]
    invokers = {setup.method.stub: invoker(setup, compose(config.stages, setup)) for setup in made}
    return make_proxy(spec, invokers, memories)


def _memories(config: AiServices) -> Memories | None:
    if config.chat_memory is not None:
        return Memories.shared(config.chat_memory)
    return None if config.chat_memory_provider is None else Memories(config.chat_memory_provider)


def _collect(problems: list[str], make: Callable[[], T]) -> T | None:
    """What `make` gives, or `None` and its problems added to the list."""
    try:
        return make()
    except ConfigurationError as error:
        problems.extend(error.problems)
        return None


def _refuse_unknown(options: Mapping[str, Any]) -> None:
    known = {item.name for item in fields(AiServices)}
    unknown = [name for name in options if name not in known]
    if unknown:
        raise ConfigurationError(
            f"unknown option {name!r}: {listing(name, sorted(known))}" for name in unknown
        )
