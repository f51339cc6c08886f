"""From a function's signature to what a model is asked for, and from what it sends to arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any, Final, NotRequired, Protocol, get_args, get_origin

from pydantic import ConfigDict
from pydantic.fields import FieldInfo
from typing_extensions import TypedDict

from outputparsers import OutputParser, OutputParsingError, UnsupportedTypeError, output_parser

from ..context import ToolContext
from ..errors import ConfigurationError, ToolArgumentsError
from .annotations import NO_NAMES, class_docstring_of, docstring_of, injected_value, return_type
from .docstrings import Documentation, read_docstring
from .parameters import REQUIRED, ToolParameter, check_injected, fresh, read_parameter, to_be_sent

NO_PARAMETERS_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {},
    "additionalProperties": False,
}


class Arguments(Protocol):
    """Reads the JSON text of a call. Raises `OutputParsingError` saying what does not fit."""

    def parse(self, text: str) -> Mapping[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Signature:
    """How a tool is called.

    `injected` maps the parameters that no model sees to the type they want. `defaults` are those of the
    parameters a model may leave out. `needs_self` tells that the function is a method not yet bound.
    `hints` are the parameters' annotations, `returns` is the one of its value. `strict` tells that the
    schema is within the subset that providers can enforce.
    """

    name: str
    description: str
    schema: Mapping[str, Any]
    arguments: Arguments
    strict: bool = False
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
        missing = {name: fresh(default) for name, default in self.defaults.items() if name not in given}
        return {**given, **missing}

    def call(
        self, function: Callable[..., Any], arguments: Mapping[str, Any], context: ToolContext
    ) -> Callable[[], Any]:
        """The function with its arguments, and with what it wants injected."""
        named = dict(arguments)
        for name, kind in self.injected.items():
            named[name] = injected_value(kind, context)
        positional = [named.pop(name) for name in self.positional]
        return partial(function, *positional, **named)


_NOTHING: Final = ("", "null", '""')


def read_signature(
    function: Callable[..., Any],
    *,
    name: str | None = None,
    description: str | None = None,
    names: Mapping[str, Any] = NO_NAMES,
) -> Signature:
    """Read a function, method, partial or callable object; `names` are those of the place it is defined at.

    Raises `ConfigurationError` naming tool and parameter, `UnresolvedAnnotationError` where it may help to
    read again later.
    """
    shown = name or name_of(function)
    documentation = _documentation(function)
    declared, needs_self = to_be_sent(function, shown)
    read = [read_parameter(parameter, function, shown, names) for parameter in declared]
    parameters = [parameter for parameter in read if parameter is not None]
    check_injected(parameters, shown)
    visible = [parameter for parameter in parameters if parameter.injected is None]
    arguments = _parser(shown, visible, documentation, names)
    documentation.warn_of_unknown(shown, {parameter.name for parameter in declared})
    return Signature(
        name=shown,
        description=documentation.summary if description is None else description,
        schema=arguments.json_schema() or NO_PARAMETERS_SCHEMA,
        arguments=arguments,
        strict=arguments.strict,
        injected={p.name: p.injected for p in parameters if p.injected is not None},
        defaults={p.name: p.default for p in visible if p.default is not REQUIRED},
        positional=tuple(p.name for p in parameters if p.positional),
        needs_self=needs_self,
        hints={p.name: p.hint for p in parameters},
        returns=return_type(function, names),
    )


def name_of(function: Any) -> str:
    """The name of what somebody wrote: of a partial's function, of an object's class."""
    if isinstance(function, partial):
        return name_of(function.func)
    return str(getattr(function, "__name__", type(function).__name__))


def _documentation(function: Any) -> Documentation:
    if document := docstring_of(function):
        return read_docstring(document)
    # What a class says of parameters is said of those of its constructor.
    return Documentation(read_docstring(class_docstring_of(function)).summary, {})


def _parser(
    tool: str, visible: list[ToolParameter], documentation: Documentation, names: Mapping[str, Any]
) -> OutputParser[Any]:
    fields = {p.name: _described(p, documentation.parameters.get(p.name)) for p in visible}
    try:
        return _arguments(fields, names)
    except UnsupportedTypeError as error:
        for name, kind in fields.items():
            _blame(tool, name, kind, names)
        raise ConfigurationError(f"tool {tool!r}: {error}") from error


def _arguments(fields: dict[str, Any], names: Mapping[str, Any]) -> OutputParser[Any]:
    kind = TypedDict("arguments", fields)  # type: ignore[misc]
    kind.__pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[attr-defined]
    return output_parser(kind, namespace=names)


def _blame(tool: str, parameter: str, kind: Any, names: Mapping[str, Any]) -> None:
    """Raise `ConfigurationError` when this parameter is one that no model can be asked for."""
    try:
        _arguments({parameter: kind}, names)
    except UnsupportedTypeError as error:
        reason = error
    else:
        return
    try:  # alone its type may be said more plainly
        output_parser(get_args(kind)[0] if get_origin(kind) is NotRequired else kind, namespace=names)
    except UnsupportedTypeError as error:
        reason = error
    raise ConfigurationError(
        f"tool {tool!r}, parameter {parameter!r}: a model cannot be asked for it: {reason}"
    ) from reason


def _described(parameter: ToolParameter, text: str | None) -> Any:
    """The parameter's type, with what the docstring says of it unless the annotation says more."""
    hint = parameter.hint
    marks = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    if text and not any(isinstance(mark, FieldInfo) and mark.description for mark in marks):
        hint = Annotated[hint, FieldInfo(description=text)]
    return hint if parameter.default is REQUIRED else NotRequired[hint]
