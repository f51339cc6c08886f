"""Agents that do the work themselves: methods of AI services and of other objects, and functions."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, get_args, get_origin

from ..context import InvocationParameters
from ..context import MemoryId as MemoryIdMark
from ..driving import Driver
from ..errors import ConfigurationError
from ..guessing import kind_of
from ..memory import MEMORIES
from ..proxying import methods_of
from ..reading import AnswerForm, Delivery, MethodSpec
from ..results import Result
from ..tools.annotations import NO_NAMES, docstring_of, injected_type, parameters_of, resolved, return_type
from .agents import Agent
from .attempting import missing_memory_id
from .marking import Mark, mark_of, marked_methods
from .needs import Need
from .node import Here
from .scope import AgenticScope

_VARYING: Final = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a function takes: keys of the scope, and by the type of a parameter what is no key.

    `given` maps parameters to `AgenticScope`, `InvocationParameters` or `MemoryId`.
    """

    needs: tuple[Need, ...]
    given: Mapping[str, type]
    output_type: Any
    positional: tuple[str, ...] = ()
    delivery: Delivery = Delivery.WHOLE
    asynchronous: bool = False


class Leaf(Agent):
    """An agent that is a function, or a method of an AI service or of another object."""

    def __init__(self, source: Any, function: Callable[..., Any], reading: Reading, mark: Mark) -> None:
        super().__init__(
            name=mark.name or str(getattr(function, "__name__", type(function).__name__)),
            description=docstring_of(function) if mark.description is None else mark.description,
            output_key=mark.output_key,
        )
        self.optional = mark.optional
        self.background = mark.background
        self.output_type = reading.output_type
        self.source = source
        self._function = function
        self._reading = reading
        self.reads_scope = AgenticScope in reading.given.values()
        self.wants_memory_id = MemoryIdMark in reading.given.values()
        self.remembers = _remembers(source, function)

    @property
    def needs(self) -> tuple[Need, ...]:
        return self._reading.needs

    def is_given(self, source: object) -> bool:
        return source is self or source is self.source or source == self._function

    async def perform(self, here: Here, inputs: Mapping[str, Any]) -> Any:
        arguments = dict(inputs)
        for name, kind in self._reading.given.items():
            arguments[name] = self._given(kind, here)
        driver = here.run.driver
        if here.deadline is None:
            return await self._call(driver, arguments)
        left = here.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError(f"{here.place.path}: the time was over before it began")
        return await driver.within(left, self._call(driver, arguments))

    async def _call(self, driver: Driver, arguments: dict[str, Any]) -> Any:
        positional = [arguments.pop(name) for name in self._reading.positional if name in arguments]
        if self._reading.delivery is not Delivery.WHOLE:
            return await self._read_stream(driver, positional, arguments)
        value = await driver.call(partial(self._function, *positional, **arguments))
        return value.content if isinstance(value, Result) else value

    async def _read_stream(self, driver: Driver, positional: list[Any], named: dict[str, Any]) -> Any:
        """A stream is read to its end: who comes after this agent waits for its value."""
        delivery, function = self._reading.delivery, self._function

        def read() -> Any:
            answer = function(*positional, **named)
            return answer.result() if delivery is Delivery.HANDLE else list(answer)

        async def aread() -> Any:
            answer = function(*positional, **named)
            return await answer.result() if delivery is Delivery.HANDLE else [each async for each in answer]

        value = await driver.call(aread if self._reading.asynchronous else read)
        if delivery is Delivery.HANDLE:
            return value.content
        return "".join(value) if delivery is Delivery.PARTS else value

    def _given(self, kind: type, here: Here) -> Any:
        if kind is AgenticScope:
            return here.scope
        if kind is InvocationParameters:
            return here.run.parameters
        if here.run.memory_id is None:
            raise missing_memory_id(self.name)
        return here.run.memory_id


def leaf_of(source: Any, names: Mapping[str, Any] = NO_NAMES) -> Leaf:
    """The agent that a service, an object or a function is. Raises `ConfigurationError` saying what to give.

    `names` are those that its annotations may use beside its module's.
    """
    if inspect.isclass(source):
        raise ConfigurationError(
            f"{source.__name__} is a class: give an object of it, or a service made of it"
        )
    mark = mark_of(source)
    if mark is None and not inspect.isroutine(source) and (marked := marked_methods(source)):
        return _method_of(source, marked, names)
    if methods_of(source) is not None:
        raise ConfigurationError(
            f"{source!r} has no method decorated with @agent: decorate the one that is the agent"
        )
    if isinstance(source, list | tuple):
        raise ConfigurationError(
            f"one of the agents is {kind_of(source)}: give its items one by one, as in *items"
        )
    if not callable(source):
        raise ConfigurationError(
            f"{source!r} is no agent: give a function, a service with an @agent method, or another agent"
        )
    return _checked(Leaf(source, source, _read_function(source, names), mark or Mark()))


def _method_of(source: Any, marked: list[str], names: Mapping[str, Any]) -> Leaf:
    if len(marked) > 1:
        raise ConfigurationError(
            f"{type(source).__name__} has several @agent methods ({', '.join(marked)}): keep one"
        )
    method = getattr(source, marked[0])
    mark = mark_of(method) or Mark()
    spec = (methods_of(source) or {}).get(marked[0])
    reading = _read_function(method, names) if spec is None else _read_method(spec)
    return _checked(Leaf(source, method, reading, mark))


def _checked(leaf: Leaf) -> Leaf:
    if leaf.name == "<lambda>":
        raise ConfigurationError("a lambda has no name: declare it with agent(name=...)(lambda ...: ...)")
    return leaf


def _read_method(spec: MethodSpec) -> Reading:
    special = {spec.memory_id: MemoryIdMark, spec.invocation_parameters: InvocationParameters}
    given = {name: kind for name, kind in special.items() if name is not None}
    parameters = list(spec.signature.parameters.values())[1:]
    needs = [
        _need(each, spec.hints[each.name])
        for each in parameters
        if each.name not in given and each.name != spec.request_parameters
    ]
    answer = spec.answer
    output_type = type(None) if answer.form is AnswerForm.NOTHING else answer.type
    return Reading(
        tuple(needs),
        given,
        output_type,
        tuple(each.name for each in parameters if each.kind is each.POSITIONAL_ONLY),
        answer.delivery,
        spec.asynchronous or answer.asynchronous,
    )


def _read_function(function: Any, names: Mapping[str, Any]) -> Reading:
    names = {**names, **(mark.names if (mark := mark_of(function)) is not None else {})}
    needs, given, positional = [], {}, []
    try:
        parameters = parameters_of(function)
    except (TypeError, ValueError) as error:
        raise ConfigurationError(f"{function!r} cannot be an agent: {error}") from error
    for each in parameters:
        if each.kind in _VARYING:
            continue
        where = f"agent {getattr(function, '__name__', function)!r}, parameter {each.name!r}"
        hint = Any if each.annotation is each.empty else resolved(each.annotation, function, where, names)
        kind = AgenticScope if hint is AgenticScope else injected_type(hint)
        if kind in (AgenticScope, InvocationParameters, MemoryIdMark):
            given[each.name] = kind
        else:
            needs.append(_need(each, hint))
        if each.kind is each.POSITIONAL_ONLY:
            positional.append(each.name)
    return Reading(tuple(needs), given, _unwrapped(return_type(function, names)), tuple(positional))


def _need(parameter: inspect.Parameter, hint: Any) -> Need:
    if parameter.default is parameter.empty:
        return Need(parameter.name, hint)
    return Need(parameter.name, hint, required=False, default=parameter.default)


def _unwrapped(hint: Any) -> Any:
    if get_origin(hint) is Result:
        return get_args(hint)[0]
    return type(None) if hint is None else hint


def _remembers(source: Any, function: Callable[..., Any]) -> bool:
    """Whether it is a method of a service that keeps conversations."""
    spec = (methods_of(source) or {}).get(getattr(function, "__name__", ""))
    return spec is not None and not spec.stateless and getattr(source, MEMORIES, None) is not None
