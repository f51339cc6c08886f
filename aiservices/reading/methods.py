"""Reading one method: its parameters, its messages, its answer."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, Final, TypeAlias, TypeVar

from outputparsers import OutputParser

from ..declaring import TemplateSource, declared_on
from ..templates import CLOCK, Template, TemplateError, compile_template, read_resource
from .answers import Answer, read_answer
from .complaints import Complaint, Complaints
from .hints import UnresolvedNameError, annotations_of, resolve, substitute
from .parameters import Parameter, Role, check_together, read_parameter
from .specs import TEMPLATE_PART, MessageSource, MethodSpec, Part

Given: TypeAlias = str | MessageSource | None
"""A message as an option gives it: template text, a callable of the context, or nothing."""

T = TypeVar("T")
_SINGLE_BRACES: Final = re.compile(r"(?<!\{)\{(\w+)\}(?!\})")
_MISSING: Final = inspect.Parameter.empty


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a Protocol's methods are read with: type variables, names, the defaults of their messages.

    `parsers` holds those of return types met so far: methods that return the same type share one.
    """

    service: str
    bound: Mapping[Any, Any]
    names: Mapping[str, Any]
    class_system: TemplateSource | None
    system: Given
    user: Given
    parsers: dict[Any, OutputParser[Any]] = field(default_factory=dict)


def read_method(
    owner: type, function: FunctionType, around: Surroundings, complaints: Complaints
) -> MethodSpec | None:
    """Read a stub method; `None` when something is wrong with it or, before `create`, still unknown."""
    where = f"{around.service}.{function.__name__}"
    before = len(complaints)
    parameters = _read_parameters(owner, function, around, complaints, where)
    answer = _read_answer(owner, function, around, complaints, where)
    with complaints.at(where):
        check_together(parameters)
    if len(complaints) > before:
        return None
    reader = _MessageReader(owner, function, around, parameters)
    return _complaining(lambda: reader.read(answer, complaints), complaints, where) if answer else None


def _complaining(read: Callable[[], T], complaints: Complaints, where: str) -> T | None:
    try:
        return read()
    except Complaint as complaint:
        complaints.add(where, complaint)
        return None


def _read_parameters(
    owner: type, function: FunctionType, around: Surroundings, complaints: Complaints, where: str
) -> list[Parameter]:
    found = []
    raw = annotations_of(function)
    for parameter in list(inspect.signature(function).parameters.values())[1:]:
        place = f"{where}, parameter {parameter.name!r}"
        with complaints.at(place):
            if parameter.name not in raw and parameter.kind not in _VARYING:
                raise Complaint("it has no annotation: say what it is, as in `text: str`")
            hint = _resolved(raw.get(parameter.name), owner, function, around, complaints)
            if hint is not _MISSING:
                found.append(read_parameter(parameter, hint))
    return found


_VARYING: Final = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _read_answer(
    owner: type, function: FunctionType, around: Surroundings, complaints: Complaints, where: str
) -> Answer | None:
    raw = annotations_of(function)

    def read() -> Answer | None:
        if "return" not in raw:
            raise Complaint("it has no return annotation: say what it returns, as in `-> str`")
        hint = _resolved(raw["return"], owner, function, around, complaints)
        return None if hint is _MISSING else read_answer(hint, around.parsers)

    return _complaining(read, complaints, where)


def _resolved(
    raw: Any, owner: type, function: FunctionType, around: Surroundings, complaints: Complaints
) -> Any:
    try:
        return substitute(resolve(raw, owner, function, around.names), around.bound)
    except UnresolvedNameError as error:
        if not complaints.final:
            return _MISSING
        raise Complaint(
            f"the annotation {raw!r} names {error.name!r}, which cannot be found in the module, the class or "
            "where create was called: define or import it before (an import under TYPE_CHECKING does not run)"
        ) from error


class _MessageReader:
    """Works out where a method's messages come from and what their variables are."""

    def __init__(
        self, owner: type, function: FunctionType, around: Surroundings, parameters: list[Parameter]
    ) -> None:
        self._module = function.__module__ or owner.__module__
        self._function = function
        self._around = around
        self._parameters = parameters

    def read(self, answer: Answer, complaints: Complaints) -> MethodSpec | None:
        declared = declared_on(self._function)
        system = self._source(
            declared.system_message or self._around.class_system or self._around.system, "system message"
        )
        user = self._source(declared.user_message, "user message")
        text = self._text_parameter(user, system)
        if user is None and text is None:
            user = self._source(self._around.user, "user message")
        parts = self._parts(user, text)
        if not parts:
            if complaints.final:
                raise Complaint(self._no_message())
            return None
        variables = self._variables()
        for source in (system, user):
            self._check_variables(source, variables)
        self._check_all_used(system, user, text)
        return MethodSpec(
            service=self._around.service,
            name=self._function.__name__,
            signature=inspect.signature(self._function),
            asynchronous=inspect.iscoroutinefunction(self._function),
            answer=answer,
            system=system,
            user=user,
            parts=parts,
            variables=variables,
            spread=tuple(self._named(Role.VARIABLES)),
            user_name=self._only(Role.USER_NAME),
            invocation_parameters=self._only(Role.INVOCATION_PARAMETERS),
            request_parameters=self._only(Role.REQUEST_PARAMETERS),
        )

    def _named(self, *roles: Role) -> list[str]:
        return [parameter.name for parameter in self._parameters if parameter.role in roles]

    def _only(self, role: Role) -> str | None:
        return next(iter(self._named(role)), None)

    def _source(self, given: TemplateSource | Given, what: str) -> MessageSource | None:
        if given is None or isinstance(given, Template):
            return given
        if isinstance(given, str):
            given = TemplateSource(given)
        if not isinstance(given, TemplateSource):
            return given
        try:
            text = given.text
            if text is None:
                text = read_resource(self._module, given.resource or "")
            if not text.strip():
                raise TemplateError("the text is empty")
            return compile_template(text)
        except TemplateError as error:
            raise Complaint(f"{what}: {error}") from error

    def _text_parameter(self, user: MessageSource | None, system: MessageSource | None) -> str | None:
        """The argument that is the user message: a marked one, or the only free one."""
        marked = self._only(Role.TEXT)
        if marked is not None:
            if user is not None:
                raise Complaint(
                    f"it has two user messages: the template and the parameter {marked!r} "
                    "marked UserText; keep one of them"
                )
            return marked
        if user is not None:
            return None
        free = self._named(Role.FREE)
        if len(free) > 1 and isinstance(system, Template):
            free = [name for name in free if name not in system.variables]
        return free[0] if len(free) == 1 else None

    def _parts(self, user: MessageSource | None, text: str | None) -> tuple[Part, ...]:
        parts = [Part(p.name) for p in self._parameters if p.role is Role.CONTENT or p.name == text]
        return (TEMPLATE_PART, *parts) if user is not None else tuple(parts)

    def _variables(self) -> dict[str, str]:
        usable = (Role.FREE, Role.VARIABLE, Role.TEXT, Role.USER_NAME)
        found = {p.template_name: p.name for p in self._parameters if p.role in usable}
        single = self._named(Role.FREE, Role.VARIABLE, Role.TEXT)
        if len(single) == 1:
            found.setdefault("it", single[0])
        return found

    def _check_variables(self, source: MessageSource | None, variables: Mapping[str, str]) -> None:
        if not isinstance(source, Template) or self._named(Role.VARIABLES):
            return
        unknown = sorted(source.variables - variables.keys() - CLOCK.keys())
        if unknown:
            known = ", ".join(sorted(variables)) or "none"
            raise Complaint(
                f"the template uses {', '.join(map(repr, unknown))}, which no parameter supplies "
                f"(known: {known}); to write braces literally, use {{% raw %}}...{{% endraw %}}"
            )

    def _check_all_used(
        self, system: MessageSource | None, user: MessageSource | None, text: str | None
    ) -> None:
        sources = [source for source in (system, user) if source is not None]
        if not all(isinstance(source, Template) for source in sources):
            return  # a callable of the context may use any argument
        templates = [source for source in sources if isinstance(source, Template)]
        used = {name for template in templates for name in template.variables}
        by_name = {p.name: {p.template_name} for p in self._parameters}
        variables = self._variables()
        for name in self._named(Role.FREE, Role.VARIABLE):
            aliases = by_name[name] | ({"it"} if variables.get("it") == name else set())
            if name != text and not aliases & used:
                raise Complaint(self._unused(name, templates))

    def _unused(self, name: str, templates: list[Template]) -> str:
        for template in templates:
            if name in _SINGLE_BRACES.findall(template.source):
                return f"the template writes {{{name}}} with single braces: write {{{{ {name} }}}}"
        return (
            f"the parameter {name!r} is used nowhere: use it in a template as {{{{ {name} }}}}, "
            "or take it as InvocationParameters if the model is not to see it"
        )

    def _no_message(self) -> str:
        free = self._named(Role.FREE, Role.VARIABLE)
        hint = f", or mark one of {', '.join(map(repr, free))} as Annotated[str, UserText]" if free else ""
        return f'it has no user message: decorate it with @user_message("..."){hint}'
