"""The inverse of parsing: the JSON a model would send for a value."""

from __future__ import annotations

import dataclasses
from enum import Enum
from typing import Any

from pydantic import AliasChoices, BaseModel, RootModel
from pydantic.fields import FieldInfo
from pydantic_core import to_jsonable_python

from .labels import enum_wire, wire_text


def wire_value(value: Any) -> Any:
    """`value` as JSON data: field names as the schema shows them, labels for enum members, lists for sets."""
    match value:
        case None | bool():
            return value
        case Enum():
            return enum_wire(value)
        case str() | int() | float():
            return value
        case RootModel():
            return wire_value(value.root)
        case BaseModel():
            return _model(value)
        case dict():
            return {_key(key): wire_value(part) for key, part in value.items()}
        case tuple() if names := getattr(value, "_fields", None):
            return {name: wire_value(getattr(value, name)) for name in names}
        case list() | tuple() | set() | frozenset():
            return [wire_value(part) for part in value]
        case _ if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return _dataclass(value)
        case _:
            return to_jsonable_python(value)


def _model(model: BaseModel) -> dict[str, Any]:
    fields = type(model).model_fields
    shown = {_alias(name, field): wire_value(getattr(model, name)) for name, field in fields.items()}
    extra = {name: wire_value(part) for name, part in (model.model_extra or {}).items()}
    return shown | extra


def _dataclass(value: Any) -> dict[str, Any]:
    described: dict[str, FieldInfo] = getattr(value, "__pydantic_fields__", {})
    return {
        _alias(field.name, described.get(field.name) or field.default): wire_value(getattr(value, field.name))
        for field in dataclasses.fields(value)
        if field.init
    }


def _alias(name: str, field: object) -> str:
    alias = field.validation_alias if isinstance(field, FieldInfo) else None
    if isinstance(alias, AliasChoices):
        return next((choice for choice in alias.choices if isinstance(choice, str)), name)
    return alias if isinstance(alias, str) else name


def _key(key: Any) -> str:
    return wire_text(wire_value(key))
