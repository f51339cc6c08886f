"""What is wrong with the options of an executor, one sentence each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ..messages import SystemMessage
from ..options import check_interceptor, check_provider, kind_problems, sequence_problems, takes
from ..skills import SkillInjector, SkillShelf
from ..stores import Store
from ..tools import Limits, ToolExecutor, ToolRegistry
from .hooks import check_hooks

_KINDS: Final[Mapping[str, tuple[Any, str]]] = {
    "system_message": (str | SystemMessage | None, "a text or a SystemMessage"),
    "tool_executor": (ToolExecutor | None, "an object of a subclass of ToolExecutor"),
    "limits": (Limits | None, "Limits(...)"),
    "parallel_tools": (bool, "True or False"),
    "checkpointer": (Store | None, "a Store, such as SqlStore('agents.db')"),
    "release_thread": (bool, "True or False"),
    "approvals": (Mapping | None, "a mapping from names of tools to True or a function"),
    "skill_injector": (SkillInjector | None, "SkillInjector(...)"),
    "channels": (Mapping | None, "a mapping from names to Channel(...), a reducer or None"),
    "description": (str, "a text"),
}


def option_problems(given: Mapping[str, Any]) -> list[str]:
    """What is wrong with options by themselves."""
    problems = kind_problems(_KINDS, given)
    problems += sequence_problems("tools", given["tools"], lambda item: None)
    problems += sequence_problems("tool_providers", given["tool_providers"], check_provider)
    problems += sequence_problems("interceptors", given["interceptors"], check_interceptor)
    for option in ("call_model_hooks", "execute_tools_hooks"):
        problems += check_hooks(option, given[option])
    return [*problems, *_value_problems(given["max_steps"], given["conversation_policy"], given["name"])]


def _value_problems(max_steps: object, policy: object, name: object) -> Iterator[str]:
    whole = isinstance(max_steps, int) and not isinstance(max_steps, bool)
    if max_steps is not None and not (whole and isinstance(max_steps, int) and max_steps > 0):
        yield f"max_steps is {max_steps!r}: give 1 or more, or None for no limit"
    if isinstance(policy, type):
        yield f"conversation_policy is the class {policy.__name__}: give an object of it"
    elif policy is not None and not callable(getattr(policy, "drive", policy)):
        yield f"conversation_policy is a {type(policy).__name__}: give a function of messages and state"
    elif callable(policy) and not hasattr(policy, "drive") and not takes(policy, 2):
        yield "conversation_policy cannot be called with messages and state"
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name):
        yield f"name is {name!r}: give 1 to 64 letters, digits, _ and -"


def approval_problems(
    approvals: Mapping[str, Any],
    registry: ToolRegistry,
    shelves: Sequence[SkillShelf],
    *,
    open_ended: bool,
) -> Iterator[str]:
    """What is wrong with `approvals`; with `open_ended` there may be more tools later."""
    unlocked = {tool.name for shelf in shelves for tool in shelf.tools_of(shelf)}
    for name, policy in approvals.items():
        if not open_ended and name not in registry and name not in unlocked:
            yield f"approvals: there is no tool {name!r}; there are: {', '.join(registry) or 'none'}"
        if not isinstance(policy, bool) and not callable(policy):
            yield f"approvals: {name!r} is {policy!r}: give True or a function of the call and the state"
        elif not isinstance(policy, bool) and not takes(policy, 2):
            yield f"approvals: the function of {name!r} cannot be called with the call and the state"
