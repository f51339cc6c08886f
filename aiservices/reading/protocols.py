"""Reading a Protocol: which of its methods call the model, and which run as they are written."""

from __future__ import annotations

import dis
import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any, Final, get_args, get_origin

from ..declaring import declared_on
from .complaints import Complaint, Complaints
from .hints import type_variables_of
from .methods import Given, Surroundings, read_method
from .specs import MethodSpec


@dataclass(frozen=True, slots=True)
class ServiceSpec:
    """A Protocol and its methods that call the model."""

    name: str
    protocol: type
    methods: tuple[MethodSpec, ...]


def read_service(
    service: Any,
    *,
    system: Given = None,
    user: Given = None,
    names: Mapping[str, Any] | None = None,
    final: bool = True,
) -> ServiceSpec:
    """Read a Protocol. Raises `ConfigurationError` with everything that is wrong.

    `system` and `user` are the messages of methods that declare none. `names` are the caller's, for
    annotations. `final` is false when a class is only declared: what may still be supplied is then no mistake.
    """
    complaints = Complaints(final=final)
    protocol = get_origin(service) or service
    _check_protocol(protocol, complaints)
    name = declared_on(protocol).service_name or protocol.__name__
    given = dict(zip(getattr(protocol, "__parameters__", ()), get_args(service), strict=False))
    with complaints.at(name):
        bound = type_variables_of(protocol, given)
    complaints.raise_any()
    sources = (declared_on(cls).system_message for cls in protocol.__mro__)
    around = Surroundings(
        service=name,
        bound=bound,
        names=names or {},
        class_system=next((source for source in sources if source is not None), None),
        system=system,
        user=user,
    )
    methods = [
        read_method(owner, function, around, complaints)
        for owner, function in _stubs(name, protocol, complaints)
    ]
    complaints.raise_any()
    if final and not methods:
        complaints.add(
            name,
            "it has no method for a model to answer: declare one, as in `def ask(self, text: str) -> str: ...`",
        )
    complaints.raise_any()
    return ServiceSpec(name, protocol, tuple(method for method in methods if method is not None))


def _check_protocol(protocol: Any, complaints: Complaints) -> None:
    if not (inspect.isclass(protocol) and getattr(protocol, "_is_protocol", False)):
        shown = protocol.__name__ if inspect.isclass(protocol) else repr(protocol)
        advice = (
            f"write `class {shown}(Protocol):`" if inspect.isclass(protocol) else "give the Protocol class"
        )
        complaints.add(shown, f"it is not a typing.Protocol: {advice}")
    complaints.raise_any()


def _stubs(name: str, protocol: type, complaints: Complaints) -> list[tuple[type, FunctionType]]:
    """The methods without a body, each with the class that defines it, in the order of declaration."""
    found: dict[str, tuple[type, FunctionType]] = {}
    for owner in reversed(protocol.__mro__):
        if owner in (object, typing.Protocol, typing.Generic) or not _is_ours(owner):
            continue
        for key, member in vars(owner).items():
            if key == "__call__" or not (key.startswith("__") and key.endswith("__")):
                found.pop(key, None)
                with complaints.at(f"{name}.{key}"):
                    function = _stub(member)
                    if function is not None:
                        found[key] = (owner, function)
        with complaints.at(name):
            _check_fields(owner)
    return list(found.values())


def _is_ours(owner: type) -> bool:
    return owner.__module__ not in ("typing", "typing_extensions", "abc")


def _stub(member: object) -> FunctionType | None:
    """The function of a member that calls the model; `None` for one that runs as written."""
    if isinstance(member, staticmethod | classmethod):
        if is_stub(inspect.unwrap(member.__func__)):
            raise Complaint("a static or class method cannot call the model: write a method with self")
        return None
    if isinstance(member, property):
        if member.fget is not None and is_stub(member.fget):
            raise Complaint("a property cannot call the model: write a method")
        return None
    if not inspect.isfunction(member):
        return None
    if member.__qualname__ == "_overload_dummy" or typing.get_overloads(member):
        raise Complaint("an @overload has no single return type: declare a method for each")
    if not is_stub(member):
        return None
    if not inspect.signature(member).parameters:
        raise Complaint("it has no self: write `def name(self, ...)`")
    return member


def _check_fields(owner: type) -> None:
    for key in vars(owner).get("__annotations__", {}):
        if key not in vars(owner) and not key.startswith("_abc_"):
            raise Complaint(
                f"the member {key!r} is no method: a service has methods, and constants with a value"
            )


_PREPARING: Final = frozenset(
    (
        "RESUME",
        "NOP",
        "CACHE",
        "RETURN_GENERATOR",
        "POP_TOP",
        "COPY_FREE_VARS",
        "MAKE_CELL",
        "PUSH_NULL",
        "PRECALL",
    )
)
_NAMES: Final = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_COMMON_CONSTANT")


def is_stub(function: Callable[..., Any]) -> bool:
    """Whether a body is a docstring, `...`, `pass` or `raise NotImplementedError`, read from its bytecode."""
    code = function.__code__
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        return False
    raises = False
    for step in dis.get_instructions(code):
        if step.opname in _PREPARING or (raises and step.opname in ("CALL", "LOAD_CONST")):
            continue
        if step.opname in _NAMES and "NotImplementedError" in str(step.argrepr):
            raises = True
        elif step.opname == "RAISE_VARARGS":
            return raises
        elif step.opname in ("LOAD_CONST", "RETURN_CONST") and step.argval is None:
            if step.opname == "RETURN_CONST":
                return True
        else:
            return step.opname == "RETURN_VALUE" and not raises
    return False
