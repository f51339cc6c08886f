"""Reading a Protocol: which of its methods call the model, and which run as they are written."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import FunctionType
from typing import Any, get_args, get_origin

from ..declaring import declared_on, forgotten_brackets
from ..errors import ConfigurationError
from .complaints import Complaint, Complaints
from .decorated import calls_super, stub_under
from .hints import annotations_of, is_written_by_user, type_variables_of
from .methods import Surroundings, read_method
from .prompts import Given
from .specs import MethodSpec, Needs, Stub


@dataclass(frozen=True, slots=True)
class ServiceSpec:
    """A Protocol and its methods that call the model.

    `needs` has one entry for each of them, `methods` only those with which nothing is wrong. `overridden`
    are methods of parents that can still be reached by way of `super()`, and `calls_super` tells whether
    any method looks there.
    """

    name: str
    protocol: type
    methods: tuple[MethodSpec, ...]
    needs: tuple[Needs, ...] = ()
    overridden: tuple[MethodSpec, ...] = ()
    calls_super: bool = False

    @property
    def all_methods(self) -> tuple[MethodSpec, ...]:
        """Those that callers see, and those that are overridden."""
        return *self.methods, *self.overridden


def read_service(
    service: Any,
    *,
    system: Given = None,
    user: Given = None,
    names: Mapping[str, Any] | None = None,
    final: bool = True,
) -> ServiceSpec:
    """Read a Protocol, see `read_whole_service`. Raises `ConfigurationError` with all that is wrong."""
    spec, problems = read_whole_service(service, system=system, user=user, names=names, final=final)
    if problems:
        raise ConfigurationError(problems)
    return spec


def read_whole_service(
    service: Any,
    *,
    system: Given = None,
    user: Given = None,
    names: Mapping[str, Any] | None = None,
    final: bool = True,
) -> tuple[ServiceSpec, tuple[str, ...]]:
    """What could be read of a Protocol, and everything that is wrong with it.

    `system` and `user` are the messages of methods that declare none. `names` are the caller's, for
    annotations. `final` is false when a class is only declared: what may still come is then no mistake.
    Raises `ConfigurationError` for what is no Protocol.
    """
    complaints = Complaints(final=final)
    protocol = get_origin(service) or service
    _check_protocol(protocol, complaints)
    name = declared_on(protocol).service_name or protocol.__name__
    bound = complaints.collected(name, lambda: type_variables_of(protocol, get_args(service)))
    around = Surroundings(
        service=name,
        bound=bound or {},
        names=names or {},
        classes=tuple(declared_on(cls) for cls in protocol.__mro__),
        system=system,
        user=user,
    )
    stubs = _stubs(name, protocol, complaints)
    overridden = _overridden_stubs(name, protocol, complaints)
    beneath = [read_method(stub, around, complaints) for stub in overridden]
    read = [read_method(stub, around, complaints) for stub in stubs]
    if final and not (stubs or overridden or complaints):
        complaints.add(
            name,
            "it has no method for a model to answer: declare one, "
            "as in `def ask(self, text: str) -> str: ...`",
        )
    spec = ServiceSpec(
        name,
        protocol,
        tuple(method for _, method in read if method is not None),
        tuple(needs for needs, _ in (*read, *beneath)),
        tuple(method for _, method in beneath if method is not None),
        calls_super=any(map(calls_super, _all_members(protocol))),
    )
    return spec, complaints.problems


def _check_protocol(protocol: Any, complaints: Complaints) -> None:
    if not (inspect.isclass(protocol) and getattr(protocol, "_is_protocol", False)):
        shown = protocol.__name__ if inspect.isclass(protocol) else repr(protocol)
        advice = (
            f"write `class {shown}(Protocol):`" if inspect.isclass(protocol) else "give the Protocol class"
        )
        complaints.add(shown, f"it is not a typing.Protocol: {advice}")
    complaints.raise_any()


def _stubs(name: str, protocol: type, complaints: Complaints) -> list[Stub]:
    """The methods that call the model, those of parents first."""
    members = _members(protocol)
    for key in sorted(_fields(protocol) - members.keys()):
        complaints.add(f"{name}.{key}", "it is no method: a service has methods, and constants with a value")
    found = []
    for key, (owner, member) in members.items():
        stub = complaints.collected(f"{name}.{key}", partial(_stub, key, member))
        if stub is not None:
            found.append(Stub(owner, key, member, stub))
    return found


def _overridden_stubs(name: str, protocol: type, complaints: Complaints) -> list[Stub]:
    """Stubs of parents that what overrides them calls by `super()`; to nobody else they matter."""
    found = []
    owners = _owners(protocol)
    for place, owner in enumerate(owners):
        for key, member in vars(owner).items():
            overriding = [vars(child)[key] for child in owners[:place] if key in vars(child)]
            if any(map(calls_super, overriding)):
                stub = complaints.collected(f"{name}.{key}", partial(_stub, key, member))
                if stub is not None:
                    found.append(Stub(owner, key, member, stub))
    return found


def _owners(protocol: type) -> list[type]:
    """The class and its parents, as they are written, in the order in which Python looks."""
    return [owner for owner in protocol.__mro__ if is_written_by_user(owner)]


def _all_members(protocol: type) -> Iterator[Any]:
    for owner in _owners(protocol):
        yield from vars(owner).values()


def _members(protocol: type) -> dict[str, tuple[type, Any]]:
    """What the class and its parents define, each name as the class sees it."""
    return {
        key: (owner, member) for owner in reversed(_owners(protocol)) for key, member in vars(owner).items()
    }


def _fields(protocol: type) -> set[str]:
    return {key for owner in _owners(protocol) for key in annotations_of(owner)}


def _stub(key: str, member: Any) -> FunctionType | None:
    """The function of a member that calls the model; `None` for one that runs as written."""
    if key == "__init__":
        return None
    decorator = forgotten_brackets(member)
    if decorator is not None:
        raise Complaint(f"write @{decorator}(...) with the guardrails in brackets, not @{decorator} alone")
    stub = stub_under(member)
    if stub is None:
        return None
    if _is_overloaded(stub):
        raise Complaint("an @overload has no single return type: declare a method for each")
    if key.startswith("__") and key.endswith("__") and key != "__call__":
        raise Complaint("a special method cannot call the model: give it a body, or another name")
    if not _has_self(stub):
        raise Complaint("it has no self: write `def name(self, ...)`")
    return stub


def _has_self(stub: FunctionType) -> bool:
    """Whether there is a first parameter for the service: one that is annotated as another is an argument."""
    first = next(iter(inspect.signature(stub).parameters.values()), None)
    if first is None or first.kind not in (first.POSITIONAL_ONLY, first.POSITIONAL_OR_KEYWORD):
        return False
    return first.name == "self" or first.name not in annotations_of(stub)


def _is_overloaded(stub: FunctionType) -> bool:
    """Whether a stub has overloads. Python never forgets any: those of an older class do not count."""
    file, line = stub.__code__.co_filename, stub.__code__.co_firstlineno
    codes = [other.__code__ for other in typing.get_overloads(stub)]
    return stub.__qualname__ == "_overload_dummy" or any(
        code.co_filename == file and code.co_firstlineno < line for code in codes
    )
