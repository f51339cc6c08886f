"""Tools described by a JSON Schema instead of a signature: remote ones, and those made at run time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from outputparsers import OutputParser, OutputParsingError, Problem, output_parser

from ..errors import ConfigurationError
from ..messages import ToolSpec
from .annotations import injected_type, parameters_of, resolved
from .signatures import NO_PARAMETERS_SCHEMA, Signature

_DATA: Final = ("const", "default", "enum", "examples")
"""What stands under these keys of a schema is no schema."""


def dynamic_signature(spec: ToolSpec, execute: Callable[..., Any]) -> Signature:
    """The signature of a tool whose arguments fit `spec.parameters` and are given to `execute` by name.

    Only parameters annotated as `ToolContext` or `InvocationParameters` are read of `execute`, and given
    these. Raises `ConfigurationError` for what is no JSON Schema.
    """
    schema = spec.parameters or NO_PARAMETERS_SCHEMA
    return Signature(
        spec.name,
        spec.description,
        schema,
        SchemaArguments(schema, _validator(spec.name, schema)),
        strict=spec.strict,
        injected=dict(_injected(execute)),
        hints=dict.fromkeys(schema.get("properties", ()), Any),
    )


@dataclass(frozen=True, slots=True)
class SchemaArguments:
    """Arguments checked against a JSON Schema, and otherwise left as the model sent them."""

    schema: Mapping[str, Any]
    validator: Any

    def parse(self, text: str) -> Mapping[str, Any]:
        from referencing.exceptions import Unresolvable

        parsed = _mapping().parse(text)
        try:
            errors = sorted(self.validator.iter_errors(parsed), key=lambda error: list(map(str, error.path)))
        except Unresolvable as error:
            problem = Problem("", f"the tool's own schema refers to {error.ref!r}, which is not in it")
            raise OutputParsingError(text, "tool arguments", [problem]) from error
        if errors:
            raise OutputParsingError(text, "tool arguments", [_problem(error) for error in errors])
        return parsed


@cache
def _mapping() -> OutputParser[dict[str, Any]]:
    return output_parser(dict[str, Any])


def _problem(error: Any) -> Problem:
    return Problem(error.json_path.removeprefix("$").lstrip("."), error.message)


def _validator(name: str, schema: Mapping[str, Any]) -> Any:
    """What checks arguments. Nothing is ever fetched: a reference is within the schema, or wrong."""
    from jsonschema import Draft202012Validator, SchemaError
    from jsonschema.validators import validator_for
    from referencing import Registry
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012

    plain = plain_json(schema)
    kind = validator_for(plain, default=Draft202012Validator)
    try:
        kind.check_schema(plain)
    except SchemaError as error:
        raise ConfigurationError(
            f"tool {name!r}: its parameters are no JSON Schema: {error.json_path}: {error.message}"
        ) from error
    if "object" not in (kinds := plain.get("type", "object")):
        raise ConfigurationError(f"tool {name!r}: its parameters are of type {kinds!r}, not an object")
    root = DRAFT202012.create_resource(plain)
    resolver = Registry().with_resource("", root).resolver_with_root(root)
    for reference in _local_references(plain):
        try:
            resolver.lookup(reference)
        except Unresolvable as error:
            raise ConfigurationError(
                f"tool {name!r}: its parameters refer to {reference!r}, which is not in them"
            ) from error
    return kind(plain, registry=Registry())


def plain_json(value: Any) -> Any:
    """Mappings and sequences of any kind as dictionaries and lists, as `jsonschema` wants them."""
    if isinstance(value, Mapping):
        return {key: plain_json(part) for key, part in value.items()}
    return [plain_json(part) for part in value] if isinstance(value, list | tuple) else value


def _local_references(schema: Any) -> Iterator[str]:
    """The references to a place in the schema itself; a part with an id has places of its own."""
    if isinstance(schema, list):
        for part in schema:
            yield from _local_references(part)
    if not isinstance(schema, dict) or "$id" in schema:
        return
    if isinstance(reference := schema.get("$ref"), str) and reference.startswith("#"):
        yield reference
    for key, part in schema.items():
        if key not in _DATA:
            yield from _local_references(part)


def _injected(execute: Callable[..., Any]) -> Iterator[tuple[str, type]]:
    try:
        parameters = parameters_of(execute)
    except (TypeError, ValueError):
        return
    for parameter in parameters:
        if parameter.annotation is not parameter.empty:
            try:
                kind = injected_type(resolved(parameter.annotation, execute, parameter.name))
            except ConfigurationError:  # of no interest: only its name and the schema count
                continue
            if kind is not None:
                yield parameter.name, kind
