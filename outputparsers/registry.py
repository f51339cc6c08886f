"""Types users add: by the type itself, by a class it descends from, or by a predicate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

from .contract import OutputParser

Factory: TypeAlias = Callable[[Any], OutputParser[Any]]
Predicate: TypeAlias = Callable[[Any], bool]

# Weak, so that a class made and registered inside a function can go when the function is done with it.
_classes: WeakKeyDictionary[type, Factory] = WeakKeyDictionary()
_predicates: list[tuple[Predicate, Factory]] = []


def register_parser(type_or_predicate: type | Predicate, factory: Factory) -> None:
    """Use `factory(type)` to build the parser of a type.

    A class stands for itself and its subclasses, the nearest registered class winning; a predicate is asked
    for every type no class was registered for, newest first. What is registered wins over what is built in,
    at the root of an answer; within fields and collections a type is pydantic's business
    (`__get_pydantic_core_schema__`). Registering again replaces.
    """
    if isinstance(type_or_predicate, type):
        _classes[type_or_predicate] = factory
    else:
        _predicates.insert(0, (type_or_predicate, factory))


def registered_factory(type_: Any) -> Factory | None:
    """The factory for `type_`: exact type, then class hierarchy, then predicates."""
    if _classes and isinstance(type_, type):
        for ancestor in type_.__mro__:
            if (factory := _classes.get(ancestor)) is not None:
                return factory
    return next((factory for predicate, factory in _predicates if predicate(type_)), None)
