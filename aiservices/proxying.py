"""The object a user calls: a generated class with real methods."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar, cast

from .memory import MEMORIES, Memories
from .reading import Delivery, MethodSpec, ServiceSpec, Stub, is_written_by_user, refilled
from .results import Result
from .tools import Tool, tool

T = TypeVar("T")


METHODS: Final = "__aiservices_methods__"


def methods_of(service: object) -> Mapping[str, MethodSpec] | None:
    """What was declared of the methods of a service, by name; `None` for an object that is no service."""
    methods: Mapping[str, MethodSpec] | None = getattr(type(service), METHODS, None)
    return methods


def make_proxy(
    spec: ServiceSpec, invokers: dict[Stub, Callable[[dict[str, Any]], Any]], memories: Memories | None
) -> Any:
    """An instance of a new subclass of the Protocol whose methods hand their arguments to the invokers."""
    protocol = spec.protocol
    namespace: dict[str, Any] = {
        "__repr__": lambda self: f"<AI service {spec.name}>",
        "__reduce_ex__": _refuse_pickling,
        "__copy__": _itself,
        "__deepcopy__": _itself,
    }
    written = {key for owner in protocol.__mro__ if is_written_by_user(owner) for key in vars(owner)}
    namespace = {key: value for key, value in namespace.items() if key not in written}
    namespace |= {
        "__module__": protocol.__module__,
        "__qualname__": protocol.__qualname__,
        "__doc__": protocol.__doc__,
        MEMORIES: memories,
        METHODS: {method.name: method for method in spec.methods},
    }
    filled = {method.stub: _filled(method, invokers[method.stub]) for method in spec.all_methods}
    namespace |= {method.name: filled[method.stub] for method in spec.methods}
    namespace["__tools__"] = lambda self: [
        _as_tool(getattr(self, method.name), method) for method in spec.methods
    ]
    bases = (protocol, *_filled_parents(spec, filled)) if spec.calls_super else (protocol,)
    cls: Any = _subclass(spec.name, bases, namespace)
    cls.__abstractmethods__ = frozenset()  # what still is abstract has a body, and runs as it is written
    return object.__new__(cls)  # a Protocol's own constructor may want arguments; a service needs none


def _filled_parents(spec: ServiceSpec, filled: Mapping[Stub, types.FunctionType]) -> list[type]:
    """For each parent with stubs a subclass that fills them: `super()` meets it just before the parent."""
    found: list[type] = []
    for owner in spec.protocol.__mro__[1:]:
        stubs = {stub.name: method for stub, method in filled.items() if stub.owner is owner}
        if stubs:
            found.append(_subclass(owner.__name__, (owner,), stubs))
    return found


def _subclass(name: str, bases: tuple[type, ...], namespace: Mapping[str, Any]) -> type:
    return types.new_class(name, bases, {}, lambda body: body.update(namespace))


def _itself(self: T, memo: object = None) -> T:
    """A service has no state of its own: a copy of it is the same service."""
    return self


def _as_tool(method: Callable[..., Any], spec: MethodSpec) -> Tool[..., Any]:
    """A service's method as a tool of another service, which gets the value and not what is known of it.

    A stream is read to its end: who asks for a tool waits for its value.
    """
    later = spec.asynchronous or spec.answer.asynchronous
    ask: Any = (_asking_later if later else _asking)(method, spec.answer.delivery)
    # The annotations were resolved when the service was created, by names that are out of reach here.
    parameters = list(spec.signature.parameters.values())[1:]
    ask.__signature__ = inspect.Signature(
        [parameter.replace(annotation=spec.hints[parameter.name]) for parameter in parameters]
    )
    return tool(ask)


def _asking(method: Callable[..., Any], delivery: Delivery) -> Callable[..., Any]:
    @functools.wraps(method)
    def ask(*args: Any, **kwargs: Any) -> Any:
        answer = method(*args, **kwargs)
        match delivery:
            case Delivery.PARTS:
                return "".join(answer)
            case Delivery.ITEMS:
                return list(answer)
            case Delivery.HANDLE:
                return _value(answer.result())
        return _value(answer)

    return ask


def _asking_later(method: Callable[..., Any], delivery: Delivery) -> Callable[..., Any]:
    @functools.wraps(method)
    async def ask(*args: Any, **kwargs: Any) -> Any:
        answer = method(*args, **kwargs)
        match delivery:
            case Delivery.PARTS:
                return "".join([piece async for piece in answer])
            case Delivery.ITEMS:
                return [item async for item in answer]
            case Delivery.HANDLE:
                return _value(await answer.result())
        return _value(await answer)

    return ask


def _value(answer: object) -> object:
    return answer.content if isinstance(answer, Result) else answer


def _refuse_pickling(self: object, protocol: object) -> Any:
    raise TypeError(f"the AI service {type(self).__name__} cannot be pickled: create it where it is used")


def _filled(method: MethodSpec, invoke: Callable[[dict[str, Any]], Any]) -> types.FunctionType:
    return refilled(method.stub.member, method.stub.function, _method(method, invoke))


def _method(method: MethodSpec, invoke: Callable[[dict[str, Any]], Any]) -> types.FunctionType:
    """Compile the method a careful person would have written: same signature, same errors for wrong calls."""
    original = method.stub.function
    parameters = list(method.signature.parameters.values())
    defaults = {_default(p): p.default for p in parameters if p.default is not p.empty}
    arguments = ", ".join(f"{p.name!r}: {p.name}" for p in parameters[1:])
    awaiting = ("async ", "await ") if method.asynchronous else ("", "")
    source = (
        f"{awaiting[0]}def {_OURS}method({_parameter_list(parameters)}):\n"
        f"    return {awaiting[1]}{_OURS}invoke({{{arguments}}})\n"
    )
    namespace: dict[str, Any] = {f"{_OURS}invoke": invoke, **defaults}
    exec(compile(source, f"<{method.where}>", "exec"), namespace)
    function = cast("types.FunctionType", namespace[f"{_OURS}method"])
    # `__wrapped__` stays: it is where the annotations are resolved, without evaluating deferred ones here.
    return cast("types.FunctionType", functools.update_wrapper(function, original))


_OURS: Final = "__aiservices_"
"""Begins the names in a generated method that must differ from those of its parameters."""


def _default(parameter: inspect.Parameter) -> str:
    return f"{_OURS}default_{parameter.name}"


def _parameter_list(parameters: list[inspect.Parameter]) -> str:
    pieces: list[str] = []
    for index, parameter in enumerate(parameters):
        kind = parameter.kind
        following = parameters[index + 1].kind if index + 1 < len(parameters) else None
        if kind is parameter.KEYWORD_ONLY and (index == 0 or parameters[index - 1].kind is not kind):
            pieces.append("*")
        default = "" if parameter.default is parameter.empty else f"={_default(parameter)}"
        pieces.append(parameter.name + default)
        if kind is parameter.POSITIONAL_ONLY and following is not kind:
            pieces.append("/")
    return ", ".join(pieces)
