"""From a method and the options to everything its calls will need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from guardrails import DEFAULT_CONFIG, Link, OutputGuardrailsConfig, links

from .errors import ConfigurationError
from .events import hearing
from .invocation import Setup
from .memory import ChatMemory, Memories
from .messages import ResponseFormat
from .models import Capability, ChatModel
from .reading import MethodSpec
from .tools import Assortment, CompensationMode, Policies, ReturnBehavior, Toolbox, ToolRegistry


def assemble(
    method: MethodSpec, model: ChatModel, registry: ToolRegistry, memories: Memories | None, config: Any
) -> Setup:
    """The setup of a method. Raises `ConfigurationError` where method, model and options do not fit."""
    _check_memory(method, config)
    if method.guards.moderate and config.moderation_model is None:
        raise ConfigurationError(f"{method.where}: @moderate needs the option moderation_model")
    _check_immediate(method, registry)
    if config.compensation_log is not None:
        _check_undos(registry)
    assortment = Assortment(
        registry=registry, providers=tuple(config.tool_providers), search=config.tool_search
    )
    response_format, instructions = _format(method, model, has_tools=bool(assortment))
    return Setup(
        method=method,
        model=model,
        parameters=config.parameters,
        response_format=response_format,
        instructions=instructions,
        parse_retries=config.parse_retries,
        system_message_transformer=config.system_message_transformer,
        chat_request_transformer=config.chat_request_transformer,
        listeners=tuple(hearing(listener) for listener in config.listeners),
        assortment=assortment,
        toolbox=Toolbox(
            executor=config.tool_executor,
            interceptors=tuple(config.interceptors),
            limits=config.limits,
            policies=Policies(config.on_unknown_tool, config.on_tool_argument_error, config.on_tool_error),
            parallel=config.parallel_tools,
        ),
        compensation=_compensation(registry, config),
        compensation_log=config.compensation_log,
        recall=_recall(method, memories, config),
        remember_raw=config.remember == "raw",
        input_chain=_chain(config.input_guardrails, method.guards.input),
        output_chain=_chain(config.output_guardrails, method.guards.output),
        output_config=_output_config(method, config),
        moderation_model=config.moderation_model if method.guards.moderate else None,
    )


def _chain(option: Any, declared: Any) -> tuple[Link[Any], ...]:
    """The guardrails of an option, which replace those of the declaration."""
    try:
        return links(*(option if option is not None else declared or ()))
    except TypeError as error:
        raise ConfigurationError(str(error)) from error


def _output_config(method: MethodSpec, config: Any) -> OutputGuardrailsConfig:
    if config.output_guardrails_config is not None:
        return cast("OutputGuardrailsConfig", config.output_guardrails_config)
    retries = method.guards.output_retries
    return DEFAULT_CONFIG if retries is None else OutputGuardrailsConfig(retries)


def _recall(method: MethodSpec, memories: Memories | None, config: Any) -> Callable[[Any], ChatMemory] | None:
    if memories is None or method.stateless:
        return None
    shared = config.chat_memory
    return memories.get if shared is None else lambda _: shared


def _check_memory(method: MethodSpec, config: Any) -> None:
    where, marked = method.where, method.memory_id
    if marked is not None and config.chat_memory_provider is None:
        advice = "one memory for all ids would mix their conversations: give chat_memory_provider"
        if config.chat_memory is None:
            advice = "the service has no memory: give chat_memory_provider=lambda id: ..."
        raise ConfigurationError(f"{where}: the parameter {marked!r} is a MemoryId, but {advice}")
    if config.chat_memory_provider is not None and marked is None and not method.stateless:
        raise ConfigurationError(
            f"{where}: there is a chat_memory_provider, but the method does not say whose conversation "
            "it belongs to: mark a parameter Annotated[str, MemoryId], or decorate it with @stateless"
        )


def _format(method: MethodSpec, model: ChatModel, *, has_tools: bool) -> tuple[ResponseFormat | None, str]:
    """The schema where the model takes one (beside tools, if there are any), else the instructions."""
    parser = method.answer.parser
    if parser is None:
        return None, ""
    schema = parser.json_schema()
    needed = {Capability.JSON_SCHEMA} | ({Capability.JSON_SCHEMA_WITH_TOOLS} if has_tools else set())
    if schema is not None and needed <= model.capabilities:
        return ResponseFormat(parser.schema_name, schema, parser.strict), ""
    return None, parser.format_instructions()


def _compensation(registry: ToolRegistry, config: Any) -> CompensationMode:
    if not config.tool_providers and not any(tool.undo is not None for tool in registry.values()):
        return CompensationMode.OFF
    return CompensationMode(config.compensation or CompensationMode.INVOCATION_FAILURE)


def _check_undos(registry: ToolRegistry) -> None:
    """A call that died before its outcome was logged has no result, and its undo must know that."""
    problems = [
        f"the compensation of tool {tool.name!r} takes a result that is not None: with a compensation_log "
        "there may be none after a crash, so annotate it as in `result: Booking | None`"
        for tool in registry.values()
        if tool.undo is not None and tool.undo.needs_result
    ]
    if problems:
        raise ConfigurationError(problems)


def _check_immediate(method: MethodSpec, registry: ToolRegistry) -> None:
    if method.answer.wrapped:
        return
    for tool in registry.values():
        given = tool.signature.returns
        if tool.returns is not ReturnBehavior.TO_MODEL and not method.answer.may_be(given):
            raise ConfigurationError(
                f"{method.where}: the immediate tool {tool.name!r} returns {given!r}, the method does not: "
                "declare -> Result[...] and read .tool_executions, or let the method return the same"
            )
