"""A system of agents behind a Protocol with one method: typed inputs, a typed value."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from ..context import MemoryId
from ..declaring import NOTHING_DECLARED, declared_on
from ..errors import AgentError, ConfigurationError
from ..reading.complaints import Complaint
from ..reading.decorated import stub_under
from ..reading.hints import UnresolvedNameError, annotations_of, is_written_by_user, resolve
from ..tools.annotations import injected_type
from .agents import Agent
from .fitting import fits, named, read_as

_RESERVED: Final = "memory_id"  # names the run wherever agents are invoked
AGENT: Final = "__aiservices_agent_behind__"


@dataclass(frozen=True, slots=True)
class Face:
    """The one method of a façade, read once."""

    name: str
    signature: inspect.Signature
    hints: Mapping[str, Any]
    returns: Any
    asynchronous: bool
    memory_id: str | None


def facade(protocol: Any, agent: Agent, names: Mapping[str, Any]) -> Any:
    """An object of the Protocol whose method runs the agent. What else an agent has, it has too.

    Raises `ConfigurationError` when the Protocol does not have exactly one method, or does not fit the agent.
    """
    face, stub = _read(protocol, names)
    _check(face, protocol, agent)
    method = _amethod(face, agent) if face.asynchronous else _method(face, agent)
    functools.update_wrapper(method, stub)
    namespace = {
        "__module__": protocol.__module__,
        "__qualname__": protocol.__qualname__,
        "__doc__": protocol.__doc__,
        "__repr__": lambda self: f"<agent {agent.name} as {protocol.__name__}>",
        "__getattr__": lambda self, name: _attribute(agent, name),
        "__tools__": lambda self: agent.__tools__(),
        AGENT: agent,
        face.name: method,
    }
    cls: Any = types.new_class(protocol.__name__, (protocol,), {}, lambda body: body.update(namespace))
    cls.__abstractmethods__ = frozenset()
    return object.__new__(cls)


def agent_behind(given: object) -> Agent | None:
    """The agent that a façade stands for."""
    found = getattr(type(given), AGENT, None)
    return found if isinstance(found, Agent) else None


def _attribute(agent: Agent, name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(agent, name)


def _method(face: Face, agent: Agent) -> Any:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        memory_id, inputs = _inputs(face, self, args, kwargs)
        return _typed(face, agent, agent.invoke(memory_id=memory_id, **inputs))

    return method


def _amethod(face: Face, agent: Agent) -> Any:
    async def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        memory_id, inputs = _inputs(face, self, args, kwargs)
        return _typed(face, agent, await agent.ainvoke(memory_id=memory_id, **inputs))

    return method


def _inputs(
    face: Face, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, dict[str, Any]]:
    bound = face.signature.bind(instance, *args, **kwargs)
    bound.apply_defaults()
    inputs = dict(list(bound.arguments.items())[1:])
    memory_id = inputs.pop(face.memory_id) if face.memory_id is not None else None
    return memory_id, inputs


def _typed(face: Face, agent: Agent, value: Any) -> Any:
    if face.returns is types.NoneType:
        return None
    try:
        return read_as(face.returns, value)
    except ValueError as error:
        raise AgentError(
            f"{agent.name} gave a {type(value).__name__}, but {face.name} returns {named(face.returns)}: "
            f"{error}",
            agent=agent.name,
        ) from error


def _read(protocol: Any, names: Mapping[str, Any]) -> tuple[Face, Any]:
    shown = getattr(protocol, "__name__", repr(protocol))
    if not (inspect.isclass(protocol) and getattr(protocol, "_is_protocol", False)):
        raise ConfigurationError(f"service={shown} is not a typing.Protocol: give one with one method")
    members = {
        name: (owner, member)
        for owner in reversed(protocol.__mro__)
        if is_written_by_user(owner)
        for name, member in vars(owner).items()
    }
    stubs = {name: stub for name, (_, member) in members.items() if (stub := _stub(name, member)) is not None}
    if len(stubs) != 1:
        raise ConfigurationError(
            f"{shown} has {len(stubs)} methods ({', '.join(stubs) or 'none'}): a system of agents is behind "
            "exactly one"
        )
    ((name, stub),) = stubs.items()
    return _face(f"{shown}.{name}", name, stub, members[name][0], names), stub


def _stub(name: str, member: Any) -> Any:
    return None if name.startswith("__") and name != "__call__" else stub_under(member)


def _face(where: str, name: str, stub: Any, owner: type, names: Mapping[str, Any]) -> Face:
    signature = inspect.signature(stub)
    hints = {key: _hint(where, raw, owner, stub, names) for key, raw in annotations_of(stub).items()}
    marked = [key for key, hint in hints.items() if injected_type(hint) is MemoryId]
    if not marked and _RESERVED in signature.parameters:
        marked = [_RESERVED]
    return Face(
        name,
        signature,
        hints,
        hints.pop("return", Any),
        inspect.iscoroutinefunction(stub),
        marked[0] if marked else None,
    )


def _hint(where: str, raw: Any, owner: type, stub: Any, names: Mapping[str, Any]) -> Any:
    try:
        return resolve(raw, owner, stub, names)
    except UnresolvedNameError as error:
        raise ConfigurationError(
            f"{where}: the annotation {raw!r} names {error.name!r}, which is unknown"
        ) from error
    except Complaint as complaint:
        raise ConfigurationError(f"{where}: {complaint}") from complaint


def _check(face: Face, protocol: Any, agent: Agent) -> None:
    where, problems = f"{protocol.__name__}.{face.name}", []
    said = (declared_on(protocol), declared_on(inspect.unwrap(getattr(protocol, face.name))))
    if any(each != NOTHING_DECLARED for each in said):
        problems.append(
            f"{where}: messages, guardrails and other marks of services are not supported on a system of "
            "agents: declare them on the services whose models are asked"
        )
    given = [name for name in face.signature.parameters if name != face.memory_id][1:]
    for need in agent.needs:
        if need.required and need.key not in given:
            problems.append(
                f"{where}: {agent.name} needs {need.key!r}, which no agent writes: add a parameter so named"
            )
        elif need.key in given and not fits(face.hints.get(need.key, Any), need.hint):
            problems.append(
                f"{where}: {need.key!r} is {named(face.hints[need.key])} here and {named(need.hint)} for the "
                "agent that reads it: make the types agree"
            )
    if face.returns is not types.NoneType and not fits(agent.output_type, face.returns):
        problems.append(
            f"{where}: it returns {named(face.returns)}, and {agent.name} gives {named(agent.output_type)}"
        )
    if problems:
        raise ConfigurationError(problems)
