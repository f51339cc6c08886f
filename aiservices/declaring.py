"""The decorators of a declaration. They only note what was declared; `reading` makes sense of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from inspect import isclass, isfunction
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from guardrails import DEFAULT_MAX_RETRIES, GuardrailLike, OutputGuardrailsConfig

from .errors import ConfigurationError

Target = TypeVar("Target", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class TemplateSource:
    """A template as it was declared: its text, or the resource beside `module` that holds the text."""

    text: str | None = None
    resource: str | None = None
    module: str = ""


@dataclass(frozen=True, slots=True)
class Declared:
    """What decorators said about one class or one method."""

    system_message: TemplateSource | None = None
    user_message: TemplateSource | None = None
    service_name: str | None = None
    stateless: bool = False
    moderate: bool = False
    input_guardrails: tuple[GuardrailLike[Any], ...] | None = None
    output_guardrails: tuple[GuardrailLike[Any], ...] | None = None
    output_config: OutputGuardrailsConfig | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


NOTHING_DECLARED = Declared()
_classes: WeakKeyDictionary[type, Declared] = WeakKeyDictionary()
"""Kept beside the classes: an attribute would become a member of a runtime-checkable Protocol."""
_ATTRIBUTE = "__aiservices_declared__"
_WAITING = "__aiservices_waiting__"
"""Marks what a decorator without brackets leaves in the place of a method."""


def declared_on(target: object) -> Declared:
    """What was declared on this class or function itself, not on what it inherits."""
    if isclass(target):
        return _classes.get(target, NOTHING_DECLARED)
    return getattr(target, _ATTRIBUTE, NOTHING_DECLARED)


def declare(target: object, **changes: Any) -> None:
    """Note something about a class or function. Raises `TypeError` for anything else."""
    noted = replace(declared_on(target), **changes)
    if isclass(target):
        _classes[target] = noted
    elif isfunction(target):
        target.__dict__[_ATTRIBUTE] = noted
    else:
        raise TypeError(f"declare this on a Protocol or on one of its methods, not on {target!r}")


def forgotten_brackets(member: object) -> str | None:
    """The decorator that was written without brackets, which then took the method for its argument."""
    name: str | None = getattr(member, _WAITING, None)
    return name


def system_message(template: str | None = None, *, resource: str | None = None) -> Callable[[Target], Target]:
    """Declare the system message of a method, or of all methods of a Protocol.

    `template` is Jinja2 text; `resource` names a UTF-8 file beside the declaring module instead. A method's
    own message replaces its class's, which replaces the `system_message` option.
    """
    return _declaring("system_message", TemplateSource(template, resource))


def user_message(template: str | None = None, *, resource: str | None = None) -> Callable[[Target], Target]:
    """Declare the user message of a method.

    `template` is Jinja2 text; `resource` names a UTF-8 file beside the declaring module instead. Without
    this decorator the method's only free parameter is the user message, taken as it is.
    """
    return _declaring("user_message", TemplateSource(template, resource))


def stateless(method: Target) -> Target:
    """Declare that a method runs without memory, in a service whose other methods have one."""
    declare(method, stateless=True)
    return method


def moderate(target: Target) -> Target:
    """Declare that a method, or every method of a Protocol, has its user message moderated."""
    declare(target, moderate=True)
    return target


def input_guardrails(*guardrails: GuardrailLike[Any]) -> Callable[[Target], Target]:
    """Declare what judges the user message of a method, or of all methods of a Protocol, before it is sent.

    Guardrails are instances, classes or functions. A method's replace its class's; the option of the same
    name replaces both.
    """
    return _guarding("input_guardrails", guardrails)


def output_guardrails(
    *guardrails: GuardrailLike[Any], max_retries: int = DEFAULT_MAX_RETRIES
) -> Callable[[Target], Target]:
    """Declare what judges the answer before anyone sees it; see `input_guardrails`.

    `max_retries` counts the answers that are judged, the first one included: 2 allows to ask once more.
    """
    config = OutputGuardrailsConfig(max_retries)
    if not guardrails and max_retries != DEFAULT_MAX_RETRIES:
        raise TypeError("output_guardrails(max_retries=...) names no guardrails, and would replace others")
    return _guarding("output_guardrails", guardrails, output_config=config)


def _guarding(
    name: str, guardrails: tuple[GuardrailLike[Any], ...], **more: Any
) -> Callable[[Target], Target]:
    if len(guardrails) == 1 and getattr(guardrails[0], "_is_protocol", False):
        raise TypeError(f"write @{name}(...) with the guardrails in brackets, not @{name} alone")

    def decorate(target: Target) -> Target:
        _refuse_second(target, name)
        declare(target, **{name: guardrails}, **more)
        return target

    setattr(decorate, _WAITING, name)
    return decorate


def _refuse_second(target: Any, name: str) -> None:
    if getattr(declared_on(target), name) is not None:
        raise ConfigurationError(f"{target.__qualname__}: it has two {name} decorators: keep one of them")


def _declaring(name: str, source: TemplateSource) -> Callable[[Target], Target]:
    if (source.text is None) == (source.resource is None):
        raise TypeError(f"{name} takes a template or resource=, one of the two")
    if callable(source.text):
        raise TypeError(f'write @{name}("...") with the template in brackets, not @{name} alone')
    given = source.text if source.resource is None else source.resource
    if not given or not isinstance(given, str):
        raise TypeError(f"{name} takes text, not {given!r}")

    def decorate(target: Target) -> Target:
        if name == "user_message" and isclass(target):
            raise TypeError("declare user_message on a method: a Protocol's methods differ in what they ask")
        _refuse_second(target, name)
        declare(target, **{name: replace(source, module=getattr(target, "__module__", ""))})
        return target

    return decorate
