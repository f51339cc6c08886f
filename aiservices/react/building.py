"""From options to an executor, with every mistake in one error."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from ..errors import ConfigurationError
from ..messages import SystemMessage
from ..models import ChatModel, resolve_chat_model
from ..options import items_of
from ..skills import NO_SKILLS, SkillInjector, SkillSource, shelved
from ..stores import Store
from ..tools import (
    DEFAULT_LIMITS,
    NO_TOOLS,
    Assortment,
    Interceptor,
    Limits,
    Toolbox,
    ToolExecutor,
    ToolLike,
    ToolProvider,
    ToolRegistry,
)
from .answers import AnswerType, read_format
from .channels import Channels, Given
from .checking import approval_problems, option_problems
from .executor import AgentExecutor
from .forms import CheckpointForm
from .process_threads import ProcessThreads
from .records import Threads
from .setup import Approval, ConversationPolicy, Setup
from .stored_threads import StoredThreads

T = TypeVar("T")
_LIMITS: Final = replace(DEFAULT_LIMITS, max_round_trips=None)
"""How often the model may be asked is what `max_steps` says."""


def react(
    *,
    chat_model: ChatModel | str,
    tools: Sequence[ToolLike] = (),
    tool_providers: Sequence[ToolProvider] = (),
    tool_executor: ToolExecutor | None = None,
    interceptors: Sequence[Interceptor] = (),
    system_message: str | SystemMessage | None = None,
    max_steps: int | None = 20,
    limits: Limits | None = None,
    parallel_tools: bool = True,
    checkpointer: Store | None = None,
    release_thread: bool = False,
    call_model_hooks: Sequence[Any] = (),
    execute_tools_hooks: Sequence[Any] = (),
    conversation_policy: ConversationPolicy | None = None,
    approvals: Mapping[str, Approval] | None = None,
    skill_injector: SkillInjector | None = None,
    skills: SkillSource | None = None,
    response_format: Any = None,
    channels: Given | None = None,
    name: str = "agent",
    description: str = "",
) -> AgentExecutor:
    """Make an agent that asks the model and runs tools in turn until there is an answer.

    - `chat_model`: a `ChatModel`, or a name such as `openai:gpt-5-mini` or `local`.
    - `tools`, `tool_providers`, `tool_executor`, `interceptors`, `limits`, `parallel_tools`: as for services,
      but the default limits do not bound the rounds.
    - `max_steps`: how often one run may ask the model; the run then ends with `StopReason.MAX_STEPS`, after
      the tools of the last answer. `None` is no bound.
    - `checkpointer`: a `Store` that keeps threads, with a checkpoint after each node; without one they live
      in the process. `release_thread`: whether a thread is forgotten when a run of it has ended normally.
    - `call_model_hooks`, `execute_tools_hooks`: objects with any of `before(state)`, `after(state, update)`
      and `around(state, proceed)`, sync or async, around the nodes; the first is outermost.
    - `conversation_policy`: a function of messages and state that gives the messages of a request.
    - `approvals`: by tool, `True` or a function of call and state: which calls wait for a decision.
    - `skills`: a folder or a list of skills that the model opens itself; `skill_injector`: skills that tools
      unlock.
    - `response_format`: a `ResponseFormat`, or a type; the final response is then also `state.value`.
    - `channels`: more parts of the state, by name: a `Channel`, a reducer, or `None`.
    - `name`, `description`: as events, errors and other agents know it.

    Raises `ConfigurationError` with everything that is wrong.
    """
    problems = option_problems(locals())  # nothing but the options is local so far
    model = _collect(problems, lambda: resolve_chat_model(chat_model))
    shelf = _collect(problems, lambda: shelved(skills)) or NO_SKILLS
    registry = _collect(problems, lambda: ToolRegistry([*items_of(tools), *shelf.openers()])) or NO_TOOLS
    user_channels = _collect(problems, lambda: Channels(_entries(channels))) or Channels(None)
    injected = skill_injector.shelf if isinstance(skill_injector, SkillInjector) else NO_SKILLS
    guarded = _entries(approvals)
    problems += approval_problems(guarded, registry, [shelf, injected], open_ended=bool(tool_providers))
    form = _collect(problems, lambda: read_format(response_format))
    if problems or model is None:
        raise ConfigurationError(problems)
    answers = AnswerType(form, model, has_tools=bool(registry) or bool(tool_providers))
    policy: Any = conversation_policy
    agent_hooks, action_hooks = tuple(call_model_hooks), tuple(execute_tools_hooks)
    if skill_injector is not None:  # innermost, so that other hooks see what it has done
        agent_hooks = (*agent_hooks, skill_injector.call_model_hook)
        action_hooks = (*action_hooks, skill_injector.execute_tools_hook)
        policy = skill_injector.conversation_policy(conversation_policy, besides=shelf)
    setup = Setup(
        name=name,
        model=model,
        system=SystemMessage(system_message) if isinstance(system_message, str) else system_message,
        assortment=Assortment(registry=registry, providers=tuple(tool_providers)),
        toolbox=Toolbox(
            executor=tool_executor,
            interceptors=tuple(interceptors),
            limits=limits or _LIMITS,
            parallel=parallel_tools,
        ),
        max_steps=max_steps,
        agent_hooks=agent_hooks,
        action_hooks=action_hooks,
        policy=policy,
        approvals=dict(guarded),
        shelf=shelf,
        unlocked=injected,
        answers=answers,
        channels=user_channels,
        threads=_threads(checkpointer, user_channels, answers),
        release_thread=release_thread,
    )
    return AgentExecutor(setup, description)


def _threads(checkpointer: Store | None, channels: Channels, answers: AnswerType) -> Threads:
    if checkpointer is None:
        return ProcessThreads(channels)
    return StoredThreads(checkpointer, channels, CheckpointForm(channels, answers))


def _entries(given: Any) -> Mapping[str, Any]:
    """The entries of an option; none where it is not what it should be, which is told already."""
    return given if isinstance(given, Mapping) else {}


def _collect(problems: list[str], make: Callable[[], T]) -> T | None:
    """What `make` gives, or `None` and its problems added to the list."""
    try:
        return make()
    except ConfigurationError as error:
        problems.extend(error.problems)
        return None
