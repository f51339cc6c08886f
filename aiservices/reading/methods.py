"""Reading one method: its parameters, its messages, its answer."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from outputparsers import OutputParser

from ..declaring import Declared, declared_on
from .answers import Answer, Delivery, read_answer
from .complaints import Complaint, Complaints
from .guards import read_guards
from .hints import UnresolvedNameError, annotations_of, resolve, substitute
from .parameters import Parameter, Role, check_together, read_parameter
from .prompts import Given, PromptReader
from .specs import MethodSpec, Needs, Stub

_PENDING: Final = object()


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a Protocol's methods are read with: type variables, names, the defaults of their messages.

    `parsers` holds those of return types met so far: methods that return the same type share one.
    """

    service: str
    bound: Mapping[type, Mapping[Any, Any]]
    names: Mapping[str, Any]
    classes: tuple[Declared, ...]
    system: Given
    user: Given
    parsers: dict[Any, OutputParser[Any]] = field(default_factory=dict)


def read_method(stub: Stub, around: Surroundings, complaints: Complaints) -> tuple[Needs, MethodSpec | None]:
    """Read a stub method; `None` when something is wrong with it or, before `create`, still unknown."""
    return _MethodReader(stub, around, complaints).read()


class _MethodReader:
    """Reads every part of a method, also when another part is wrong, so that all complaints come at once."""

    def __init__(self, stub: Stub, around: Surroundings, complaints: Complaints) -> None:
        self._stub = stub
        self._around = around
        self._complaints = complaints
        self._where = f"{around.service}.{stub.name}"
        self._raw = annotations_of(stub.function)

    def read(self) -> tuple[Needs, MethodSpec | None]:
        before, said = len(self._complaints), declared_on(self._stub.member)
        signature = inspect.signature(self._stub.function)
        declared = list(signature.parameters.values())[1:]
        read = [
            self._complaints.collected(
                f"{self._where}, parameter {item.name!r}", partial(self._parameter, item)
            )
            for item in declared
        ]
        parameters = [parameter for parameter in read if parameter is not None]
        answer = self._complaints.collected(self._where, self._answer)
        guards = read_guards(said, self._around.classes, self._complain)
        check_together(parameters, self._complain)
        reader = PromptReader(parameters, self._complaints, self._where)
        around = self._around
        systems = (item.system_message for item in around.classes)
        class_system = next((item for item in systems if item is not None), None)
        sources = reader.sources(said.system_message or class_system or around.system, said.user_message)
        memory_id, whole = _only(parameters, Role.MEMORY_ID), len(parameters) == len(declared)
        needs = Needs(
            self._where,
            memory_id,
            names_no_memory=whole and memory_id is None and not said.stateless,
            moderation=guards.moderate,
        )
        if sources is None or not whole:
            return needs, None
        prompt = reader.prompt(*sources, default=around.user)
        if prompt is None or answer is None or len(self._complaints) > before:
            return needs, None
        return needs, MethodSpec(
            service=around.service,
            name=self._stub.name,
            stub=self._stub,
            signature=signature,
            asynchronous=inspect.iscoroutinefunction(self._stub.function),
            answer=answer,
            system=prompt.system,
            user=prompt.user,
            parts=prompt.parts,
            variables=prompt.variables,
            spread=tuple(p.name for p in parameters if p.role is Role.VARIABLES),
            user_name=_only(parameters, Role.USER_NAME),
            memory_id=memory_id,
            stateless=said.stateless,
            guards=guards,
            invocation_parameters=_only(parameters, Role.INVOCATION_PARAMETERS),
            request_parameters=_only(parameters, Role.REQUEST_PARAMETERS),
            hints={parameter.name: parameter.hint for parameter in parameters},
        )

    def _complain(self, problem: object) -> None:
        self._complaints.add(self._where, problem)

    def _parameter(self, parameter: inspect.Parameter) -> Parameter | None:
        if parameter.name not in self._raw and parameter.kind not in _VARYING:
            raise Complaint("it has no annotation: say what it is, as in `text: str`")
        hint = self._resolved(self._raw.get(parameter.name))
        return None if hint is _PENDING else read_parameter(parameter, hint)

    def _answer(self) -> Answer | None:
        if "return" not in self._raw:
            raise Complaint("it has no return annotation: say what it returns, as in `-> str`")
        hint = self._resolved(self._raw["return"])
        if hint is _PENDING:
            return None
        answer = read_answer(hint, self._around.parsers)
        if answer.delivery is not Delivery.WHOLE and inspect.iscoroutinefunction(self._stub.function):
            raise Complaint("a stream is returned at once, not awaited: write `def` without async")
        return answer

    def _resolved(self, raw: Any) -> Any:
        stub, names = self._stub, self._around.names
        bound = self._around.bound.get(stub.owner, {})
        try:
            hint = resolve(raw, stub.owner, stub.function, names)
            # What a subclass gave for a type variable may be a forward reference of its own.
            return resolve(substitute(hint, bound), stub.owner, stub.function, names)
        except UnresolvedNameError as error:
            if not self._complaints.final:
                return _PENDING
            raise Complaint(
                f"the annotation {raw!r} names {error.name!r}, which cannot be found in the module, "
                "the class or where create was called: define or import it before "
                "(an import under TYPE_CHECKING does not run)"
            ) from error


def _only(parameters: list[Parameter], role: Role) -> str | None:
    return next((parameter.name for parameter in parameters if parameter.role is role), None)


_VARYING: Final = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
