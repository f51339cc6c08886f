"""The object a user calls: a generated class with real methods."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import Any, TypeVar, cast

from .reading import MethodSpec, ServiceSpec

T = TypeVar("T")


def make_proxy(spec: ServiceSpec, invokers: dict[str, Callable[[dict[str, Any]], Any]]) -> Any:
    """An instance of a new subclass of the Protocol whose methods hand their arguments to the invokers."""
    methods = {method.name: _method(method, spec, invokers[method.name]) for method in spec.methods}
    namespace: dict[str, Any] = {
        "__module__": spec.protocol.__module__,
        "__qualname__": spec.protocol.__qualname__,
        "__doc__": spec.protocol.__doc__,
        "__init__": _init,
        "__repr__": lambda self: f"<AI service {spec.name}>",
        "__reduce_ex__": _refuse_pickling,
        "__copy__": _itself,
        "__deepcopy__": _itself,
        **methods,
    }
    cls = types.new_class(spec.name, (spec.protocol,), {}, lambda body: body.update(namespace))
    return cls()


def _init(self: object) -> None:
    """A Protocol's own __init__ may want arguments; a service needs none."""


def _itself(self: T, memo: object = None) -> T:
    """A service has no state of its own: a copy of it is the same service."""
    return self


def _refuse_pickling(self: object, protocol: object) -> Any:
    raise TypeError(f"the AI service {type(self).__name__} cannot be pickled: create it where it is used")


def _method(method: MethodSpec, spec: ServiceSpec, invoke: Callable[[dict[str, Any]], Any]) -> Any:
    """Compile the method a careful person would have written: same signature, same errors for wrong calls."""
    parameters = list(method.signature.parameters.values())
    defaults = {f"_default_{p.name}": p.default for p in parameters if p.default is not p.empty}
    arguments = ", ".join(f"{p.name!r}: {p.name}" for p in parameters[1:])
    awaiting = ("async ", "await ") if method.asynchronous else ("", "")
    source = (
        f"{awaiting[0]}def {method.name}({_parameter_list(parameters)}):\n"
        f"    return {awaiting[1]}_invoke({{{arguments}}})\n"
    )
    namespace: dict[str, Any] = {"_invoke": invoke, **defaults}
    exec(compile(source, f"<{method.where}>", "exec"), namespace)
    function = cast("types.FunctionType", namespace[method.name])
    original = inspect.getattr_static(spec.protocol, method.name)
    function.__doc__ = original.__doc__
    function.__module__ = original.__module__
    function.__qualname__ = original.__qualname__
    function.__annotations__ = dict(getattr(original, "__annotations__", {}))
    function.__wrapped__ = original  # type: ignore[attr-defined]  # where its annotations are resolved
    return function


def _parameter_list(parameters: list[inspect.Parameter]) -> str:
    pieces: list[str] = []
    for index, parameter in enumerate(parameters):
        kind = parameter.kind
        following = parameters[index + 1].kind if index + 1 < len(parameters) else None
        if kind is parameter.KEYWORD_ONLY and (index == 0 or parameters[index - 1].kind is not kind):
            pieces.append("*")
        default = "" if parameter.default is parameter.empty else f"=_default_{parameter.name}"
        pieces.append(parameter.name + default)
        if kind is parameter.POSITIONAL_ONLY and following is not kind:
            pieces.append("/")
    return ", ".join(pieces)
