"""From a method and the options to everything its calls will need."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeAlias

import outputparsers
from guardrails import DEFAULT_CONFIG, Link, links
from outputparsers import OutputParser

from .events import hearing
from .invocation import Setup
from .memory import ChatMemory, ChatMemoryAccess, Memories
from .messages import ResponseFormat
from .models import Capability, ChatModel
from .options import items_of, with_context
from .rag.augmentor import RetrievalAugmentor, augmentor_of
from .reading import AnswerForm, Delivery, MethodSpec, Needs, ServiceSpec
from .skills import SkillShelf, SkillTools
from .tools import Assortment, CompensationMode, Policies, ReturnBehavior, Tool, Toolbox, ToolRegistry

Chains: TypeAlias = tuple[tuple[Link[Any], ...], tuple[Link[Any], ...]]
"""The guardrails of what goes in and of what comes out."""

_FINAL: Final = (Delivery.PARTS, Delivery.ITEMS)
"""What was handed over in these ways cannot be taken back by asking again."""


def misfits(service: ServiceSpec, registry: ToolRegistry, skills: SkillShelf, config: Any) -> list[str]:
    """Everything about a service and its methods that does not fit the options."""
    problems = [problem for needs in service.needs for problem in _unmet(needs, config)]
    tools = [*registry.values(), *skills.tools_of(skills)]
    for method in service.all_methods:
        problems += [
            *_immediate_problems(method, tools),
            *_empty_problems(method, config.retrieval_augmentor),
        ]
    if config.compensation_log is not None:
        problems += _undo_problems(tools)
    remembers = config.chat_memory is not None or config.chat_memory_provider is not None
    if not remembers and ChatMemoryAccess in service.protocol.__mro__:
        problems.append(f"{service.name}: ChatMemoryAccess needs a chat_memory or a chat_memory_provider")
    return problems


def chains_of(method: MethodSpec, config: Any, problems: list[str]) -> Chains:
    """The guardrails of a method, made; one that cannot be is added to the problems."""
    guards = method.guards
    return (
        _chain(config.input_guardrails, guards.input, method, problems),
        _chain(config.output_guardrails, guards.output, method, problems),
    )


def assemble(
    method: MethodSpec,
    model: ChatModel,
    registry: ToolRegistry,
    skills: SkillShelf,
    memories: Memories | None,
    chains: Chains,
    config: Any,
) -> Setup:
    """The setup of a method that fits the options."""
    tools = [*registry.values(), *skills.tools_of(skills)]
    guards = method.guards
    providers = (*config.tool_providers, *((SkillTools(skills),) if skills else ()))
    assortment = Assortment(registry=registry, providers=providers, search=config.tool_search)
    response_format, instructions = format_for(method.answer.parser, model, has_tools=bool(assortment))
    return Setup(
        method=method,
        model=model,
        parameters=config.parameters,
        response_format=response_format,
        instructions=instructions,
        parse_retries=0 if method.answer.delivery in _FINAL else config.parse_retries,
        system_message_transformer=with_context(config.system_message_transformer),
        chat_request_transformer=with_context(config.chat_request_transformer),
        listeners=tuple(hearing(listener) for listener in config.listeners),
        assortment=assortment,
        skills=skills,
        toolbox=Toolbox(
            executor=config.tool_executor,
            interceptors=tuple(config.interceptors),
            limits=config.limits,
            policies=Policies(config.on_unknown_tool, config.on_tool_argument_error, config.on_tool_error),
            parallel=config.parallel_tools,
        ),
        compensation=_compensation(tools, config),
        compensation_log=config.compensation_log,
        recall=_recall(method, memories, config),
        remember_raw=config.remember == "raw",
        input_chain=chains[0],
        output_chain=chains[1],
        output_config=config.output_guardrails_config or guards.output_config or DEFAULT_CONFIG,
        moderation_model=config.moderation_model if guards.moderate else None,
        augmentor=_augmentor(config),
        store_retrieved_content=config.store_retrieved_content,
    )


def _chain(option: Any, declared: Any, method: MethodSpec, problems: list[str]) -> tuple[Link[Any], ...]:
    """The guardrails of an option, which replace those of the declaration.

    What is wrong with an option is told once: no method is at fault.
    """
    where = f"{method.where}: " if option is None else ""
    try:
        return links(*(declared or () if option is None else items_of(option)))
    except TypeError as error:
        if (problem := f"{where}{error}") not in problems:
            problems.append(problem)
        return ()


def _recall(method: MethodSpec, memories: Memories | None, config: Any) -> Callable[[Any], ChatMemory] | None:
    if memories is None or method.stateless:
        return None
    shared = config.chat_memory
    return memories.get if shared is None else lambda _: shared


def _augmentor(config: Any) -> RetrievalAugmentor | None:
    augmentor: RetrievalAugmentor | None = config.retrieval_augmentor
    return augmentor if config.content_retriever is None else augmentor_of(config.content_retriever)


def _empty_problems(method: MethodSpec, augmentor: Any) -> Iterator[str]:
    """The answer without the model is read as the model's would be, and not first when nothing is found."""
    text, answer = getattr(augmentor, "on_empty", None), method.answer
    if text is not None and answer.form in (AnswerForm.IMAGE, AnswerForm.IMAGES):
        yield f"{method.where}: on_empty of the retrieval_augmentor is a text, and no image to return"
    if text is None or answer.form is not AnswerForm.VALUE or answer.parser is None:
        return
    try:
        answer.parser.parse(text)
    except outputparsers.OutputParsingError as error:
        yield f"{method.where}: on_empty of the retrieval_augmentor is no answer of this method: {error}"


def _unmet(needs: Needs, config: Any) -> Iterator[str]:
    where, marked = needs.where, needs.memory_id
    if needs.moderation and config.moderation_model is None:
        yield f"{where}: @moderate needs the option moderation_model"
    if marked is not None and config.chat_memory_provider is None:
        advice = "one memory for all ids would mix their conversations: give chat_memory_provider"
        if config.chat_memory is None:
            advice = "the service has no memory: give chat_memory_provider=lambda id: ..."
        yield f"{where}: the parameter {marked!r} is a MemoryId, but {advice}"
    if config.chat_memory_provider is not None and needs.names_no_memory:
        yield (
            f"{where}: there is a chat_memory_provider, but the method does not say whose conversation "
            "it belongs to: mark a parameter Annotated[str, MemoryId], or decorate it with @stateless"
        )


def format_for(
    parser: OutputParser[Any] | None, model: ChatModel, *, has_tools: bool
) -> tuple[ResponseFormat | None, str]:
    """The schema where the model takes one (beside tools, if there are any), else the instructions."""
    if parser is None:
        return None, ""
    schema = parser.json_schema()
    needed = {Capability.JSON_SCHEMA} | ({Capability.JSON_SCHEMA_WITH_TOOLS} if has_tools else set())
    if schema is not None and needed <= model.capabilities:
        return ResponseFormat(parser.schema_name, schema, parser.strict), ""
    return None, parser.format_instructions()


def _compensation(tools: Sequence[Tool[..., Any]], config: Any) -> CompensationMode:
    if not config.tool_providers and not any(tool.undo is not None for tool in tools):
        return CompensationMode.OFF
    return CompensationMode(config.compensation or CompensationMode.INVOCATION_FAILURE)


def _undo_problems(tools: Sequence[Tool[..., Any]]) -> list[str]:
    """A call that died before its outcome was logged has no result, and its undo must know that."""
    return [
        f"the compensation of tool {tool.name!r} takes a result that is not None: with a compensation_log "
        "there may be none after a crash, so annotate it as in `result: Booking | None`"
        for tool in tools
        if tool.undo is not None and tool.undo.needs_result
    ]


def _immediate_problems(method: MethodSpec, tools: Sequence[Tool[..., Any]]) -> Iterator[str]:
    if method.answer.wrapped:
        return
    for tool in tools:
        given = tool.signature.returns
        if tool.returns is not ReturnBehavior.TO_MODEL and not method.answer.may_be(given):
            yield (
                f"{method.where}: the immediate tool {tool.name!r} returns {given!r}, the method does not: "
                "declare -> Result[...] and read .tool_executions, or let the method return the same"
            )
