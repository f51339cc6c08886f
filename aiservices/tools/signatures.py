"""From a function's signature to what a model is asked for, and from what it sends to arguments."""

from __future__ import annotations

import copy
import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Annotated, Any, Final, NotRequired, Protocol, get_args, get_origin

from pydantic import ConfigDict
from pydantic.fields import FieldInfo
from typing_extensions import TypedDict

from outputparsers import OutputParser, OutputParsingError, UnsupportedTypeError, output_parser

from ..context import InvocationParameters, ToolContext
from ..errors import ConfigurationError, ToolArgumentsError
from ..messages import ToolSpec
from .docstrings import Documentation, read_docstring

_EMPTY: Final = inspect.Parameter.empty
_VARYING: Final = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
NO_PARAMETERS_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {},
    "additionalProperties": False,
}


class UnresolvedAnnotationError(ConfigurationError):
    """An annotation names something that does not exist yet."""


class Arguments(Protocol):
    """Reads the JSON text of a call. Raises `OutputParsingError` saying what does not fit."""

    def parse(self, text: str) -> Mapping[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Signature:
    """How a tool is called.

    `injected` maps the parameters that no model sees to the type they want. `defaults` are those of the
    parameters a model may leave out. `needs_self` tells that the function is a method not yet bound.
    `hints` are the parameters' annotations, `returns` is the one of its value.
    """

    name: str
    description: str
    schema: Mapping[str, Any]
    arguments: Arguments
    injected: Mapping[str, type] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    positional: tuple[str, ...] = ()
    needs_self: bool = False
    hints: Mapping[str, Any] = field(default_factory=dict)
    returns: Any = Any

    def read(self, text: str | None) -> dict[str, Any]:
        """The arguments of a call, typed, with defaults. Raises `ToolArgumentsError` with every problem."""
        try:
            given = self.arguments.parse(text if text and text.strip() not in _NOTHING else "{}")
        except OutputParsingError as error:
            problems = tuple(map(str, error.problems)) or (str(error),)
            raise ToolArgumentsError(
                f"the arguments of tool {self.name!r} do not fit: {'; '.join(problems)}", problems=problems
            ) from error
        missing = {name: _fresh(default) for name, default in self.defaults.items() if name not in given}
        return {**given, **missing}

    def call(
        self, function: Callable[..., Any], arguments: Mapping[str, Any], context: ToolContext
    ) -> Callable[[], Any]:
        """The function with its arguments, and with what it wants injected."""
        named = dict(arguments)
        for name, kind in self.injected.items():
            named[name] = context if kind is ToolContext else context.parameters
        positional = [named.pop(name) for name in self.positional]
        return partial(function, *positional, **named)


_NOTHING: Final = ("", "null", '""')


def read_signature(
    function: Callable[..., Any], *, name: str | None = None, description: str | None = None
) -> Signature:
    """Read a function, method, partial or callable object.

    Raises `ConfigurationError` naming tool and parameter, `UnresolvedAnnotationError` where it may help to
    read again later.
    """
    plain = function.__func__ if isinstance(function, staticmethod | classmethod) else function
    shown = str(name or getattr(plain, "__name__", type(plain).__name__))
    documentation = read_docstring(inspect.getdoc(plain) or "")
    parameters, needs_self = _parameters(function, plain)
    hints = _hints(plain, parameters, shown)
    reader = _Reader(shown, documentation, hints)
    visible = {p.name: reader.read(p) for p in parameters if p.name not in reader.injected(parameters)}
    arguments = reader.parser(visible, {p.name for p in parameters if p.default is not _EMPTY})
    documentation.warn_of_unknown(shown, {p.name for p in parameters})
    return Signature(
        name=shown,
        description=documentation.summary if description is None else description,
        schema=arguments.json_schema() or NO_PARAMETERS_SCHEMA,
        arguments=arguments,
        injected=reader.injected(parameters),
        defaults={p.name: p.default for p in parameters if p.name in visible and p.default is not _EMPTY},
        positional=tuple(p.name for p in parameters if p.kind is p.POSITIONAL_ONLY),
        needs_self=needs_self,
        hints={p.name: hints[p.name] for p in parameters},
        returns=hints.get("return", Any),
    )


def dynamic_signature(spec: ToolSpec, execute: Callable[..., Any]) -> Signature:
    """The signature of a tool that is described by a JSON Schema."""
    try:
        hints = typing.get_type_hints(execute)
    except (NameError, TypeError):
        hints = {}
    injected = {name: kind for name, hint in hints.items() if (kind := _injected(hint)) is not None}
    schema = spec.parameters or NO_PARAMETERS_SCHEMA
    return Signature(spec.name, spec.description, schema, SchemaArguments(schema), injected=injected)


@dataclass(frozen=True)
class SchemaArguments:
    """Arguments checked against a JSON Schema, and otherwise left as the model sent them."""

    schema: Mapping[str, Any]

    @cached_property
    def _validator(self) -> Any:
        from jsonschema import Draft202012Validator

        return Draft202012Validator(self.schema)

    def parse(self, text: str) -> Mapping[str, Any]:
        from outputparsers import Problem

        parsed: Any = _mapping_parser().parse(text)
        errors = sorted(self._validator.iter_errors(parsed), key=lambda error: list(map(str, error.path)))
        if errors:
            problems = [
                Problem(error.json_path.removeprefix("$").lstrip("."), error.message) for error in errors
            ]
            raise OutputParsingError(text, "tool arguments", problems)
        return typing.cast("Mapping[str, Any]", parsed)


def _mapping_parser() -> OutputParser[dict[str, Any]]:
    return output_parser(dict[str, Any])


class _Reader:
    """Reads the parameters of one function."""

    def __init__(self, name: str, documentation: Documentation, hints: Mapping[str, Any]) -> None:
        self._name = name
        self._documentation = documentation
        self._hints = hints

    def injected(self, parameters: list[inspect.Parameter]) -> dict[str, type]:
        found = {p.name: kind for p in parameters if (kind := _injected(self._hints.get(p.name))) is not None}
        for kind in set(found.values()):
            names = [name for name, other in found.items() if other is kind]
            if len(names) > 1:
                raise self._error(names[1], f"{names[0]!r} is a {kind.__name__} already: keep one")
        return found

    def read(self, parameter: inspect.Parameter) -> Any:
        """The parameter's type with its description. Raises `ConfigurationError` when it has none."""
        if parameter.kind in _VARYING:
            raise self._error(
                parameter.name, "a model cannot send a varying number of arguments: name each one"
            )
        if parameter.name not in self._hints:
            raise self._error(parameter.name, "it has no annotation: say what it is, as in `city: str`")
        hint = self._hints[parameter.name]
        described = self._documentation.parameters.get(parameter.name)
        if described and not _has_description(hint):
            hint = Annotated[hint, FieldInfo(description=described)]
        return hint

    def parser(self, visible: Mapping[str, Any], optional: set[str]) -> OutputParser[Any]:
        fields = {name: NotRequired[hint] if name in optional else hint for name, hint in visible.items()}
        kind = TypedDict("arguments", fields)  # type: ignore[misc]
        kind.__pydantic_config__ = ConfigDict(extra="forbid", arbitrary_types_allowed=False)  # type: ignore[attr-defined]
        try:
            return output_parser(kind)
        except UnsupportedTypeError as error:
            self._blame(visible)
            raise ConfigurationError(f"tool {self._name!r}: {error}") from error

    def _blame(self, visible: Mapping[str, Any]) -> None:
        for name, hint in visible.items():
            try:
                output_parser(hint)
            except UnsupportedTypeError as error:
                raise self._error(name, f"a model cannot be asked for it: {error}") from error

    def _error(self, parameter: str, problem: str) -> ConfigurationError:
        return ConfigurationError(f"tool {self._name!r}, parameter {parameter!r}: {problem}")


def _parameters(function: Any, plain: Any) -> tuple[list[inspect.Parameter], bool]:
    """The parameters without `self` or `cls`, and whether one of these still has to be bound."""
    parameters = list(inspect.signature(plain).parameters.values())
    if isinstance(function, classmethod):
        return parameters[1:], True
    if isinstance(function, staticmethod) or not inspect.isfunction(plain):
        return parameters, False
    outer = plain.__qualname__.rpartition(".")[0]
    if outer and not outer.endswith("<locals>") and parameters and parameters[0].name in ("self", "cls"):
        return parameters[1:], True
    return parameters, False


def _hints(plain: Any, parameters: list[inspect.Parameter], name: str) -> dict[str, Any]:
    carrier = plain
    if not inspect.isroutine(plain):
        carrier = getattr(plain, "func", None) or type(plain).__call__
    try:
        return typing.get_type_hints(inspect.unwrap(carrier), include_extras=True)
    except NameError as error:
        at_fault = [p.name for p in parameters if error.name and error.name in str(p.annotation)]
        raise UnresolvedAnnotationError(
            f"tool {name!r}, parameter {(at_fault or ['return'])[0]!r}: the annotation names {error.name!r}, "
            "which cannot be found: define or import it (an import under TYPE_CHECKING does not run)"
        ) from error


def _injected(hint: Any) -> type | None:
    if get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    kinds = [kind for kind in (get_args(hint) or (hint,)) if kind is not type(None)]
    return kinds[0] if len(kinds) == 1 and kinds[0] in (ToolContext, InvocationParameters) else None


def _has_description(hint: Any) -> bool:
    marks = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    return any(isinstance(mark, FieldInfo) and mark.description for mark in marks)


def _fresh(default: Any) -> Any:
    """A default of its own for each call, so that a tool which changes it changes nobody else's."""
    return copy.deepcopy(default) if isinstance(default, list | dict | set) else default
