"""What each parameter of a method is for."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin

from ..context import InvocationParameters, UserName, UserText, V, Variables
from ..messages import ChatMessage, ChatRequestParameters, Content
from .complaints import Complaint


class Role(Enum):
    """What the pipeline does with an argument."""

    FREE = "free"
    VARIABLE = "variable"
    TEXT = "text"
    CONTENT = "content"
    USER_NAME = "user name"
    VARIABLES = "variables"
    INVOCATION_PARAMETERS = "invocation parameters"
    REQUEST_PARAMETERS = "request parameters"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter, its role, and its name in templates."""

    name: str
    role: Role
    template_name: str


_MARKERS: Final = {UserText: Role.TEXT, UserName: Role.USER_NAME, Variables: Role.VARIABLES}
_ONCE: Final = (Role.TEXT, Role.USER_NAME, Role.INVOCATION_PARAMETERS, Role.REQUEST_PARAMETERS)
_CONTENTS: Final = frozenset(get_args(Content))
_UNTEMPLATED: Final = (bytes, bytearray, memoryview)


def read_parameter(parameter: inspect.Parameter, hint: Any) -> Parameter:
    """Read one parameter with its resolved annotation. Raises `Complaint` saying what to write instead."""
    if parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
        raise Complaint(
            "a prompt has no place for a varying number of arguments: "
            "name each one, or take a dict marked Annotated[dict[str, Any], Variables]"
        )
    plain, marks = _split(hint)
    roles = [role for role in map(_role_of_mark, marks) if role is not None]
    names = [mark.name for mark in marks if isinstance(mark, V)]
    if len(roles) + len(names) > 1:
        raise Complaint("it carries several markers: an argument has one use, so keep one of them")
    role = roles[0] if roles else Role.VARIABLE if names else _role_of_type(plain)
    _check(plain, role)
    return Parameter(parameter.name, role, names[0] if names else parameter.name)


def check_together(parameters: list[Parameter]) -> None:
    """Raises `Complaint` when two parameters claim what only one can be."""
    for role in _ONCE:
        names = [parameter.name for parameter in parameters if parameter.role is role]
        if len(names) > 1:
            raise Complaint(f"the parameters {_listed(names)} are each the {role.value}: keep one of them")
    seen: dict[str, str] = {}
    for parameter in parameters:
        other = seen.setdefault(parameter.template_name, parameter.name)
        if other != parameter.name:
            raise Complaint(
                f"the parameters {other!r} and {parameter.name!r} are both called "
                f"{parameter.template_name!r} in templates: rename one"
            )


def _split(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    if get_origin(hint) is Annotated:
        plain, *marks = get_args(hint)
        return plain, tuple(marks)
    return hint, ()


def _role_of_mark(mark: Any) -> Role | None:
    for marker, role in _MARKERS.items():
        if mark is marker or isinstance(mark, marker):
            return role
    return None


def _role_of_type(plain: Any) -> Role:
    kinds = _members(plain)
    if kinds == {InvocationParameters}:
        return Role.INVOCATION_PARAMETERS
    if kinds == {ChatRequestParameters}:
        return Role.REQUEST_PARAMETERS
    if kinds and kinds <= _CONTENTS:
        return Role.CONTENT
    arguments = get_args(plain)
    if get_origin(plain) in (list, tuple) and arguments and _members(arguments[0]) <= _CONTENTS:
        return Role.CONTENT
    return Role.FREE


def _members(hint: Any) -> frozenset[Any]:
    """The members of a union but for `None`, or the hint itself."""
    if get_origin(hint) in (Union, UnionType):
        return frozenset(item for item in get_args(hint) if item is not type(None))
    try:
        return frozenset((hint,))
    except TypeError:
        return frozenset()


def _check(plain: Any, role: Role) -> None:
    kinds = _members(plain)
    if role in (Role.FREE, Role.VARIABLE, Role.TEXT):
        if any(kind in _UNTEMPLATED for kind in kinds):
            raise Complaint(
                "bytes have no text form for a prompt: take a str, or a content such as ImageContent"
            )
        item = get_args(plain)[0] if get_origin(plain) in (list, tuple) and get_args(plain) else plain
        if _members(item) & frozenset(get_args(ChatMessage)):
            raise Complaint("messages cannot be passed as an argument: pass the text, or a content")
    if role is Role.VARIABLES and not _is_mapping(plain):
        raise Complaint("only a dict[str, ...] can be marked Variables")
    if role in (Role.TEXT, Role.USER_NAME) and str not in kinds:
        raise Complaint(f"the {role.value} is text: annotate it as str")


def _is_mapping(plain: Any) -> bool:
    kind = get_origin(plain) or plain
    return isinstance(kind, type) and issubclass(kind, Mapping)


def _listed(names: list[str]) -> str:
    return ", ".join(map(repr, names[:-1])) + f" and {names[-1]!r}"
