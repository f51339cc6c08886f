"""What each parameter of a method is for."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from types import UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin

from typing_extensions import TypeAliasType

from ..context import InvocationParameters, MemoryId, UserName, UserText, V, Variables
from ..messages import ChatMessage, ChatRequestParameters, Content
from .complaints import Complaint


class Role(Enum):
    """What the pipeline does with an argument."""

    FREE = "free"
    VARIABLE = "variable"
    TEXT = "user message"
    CONTENT = "content"
    USER_NAME = "user name"
    MEMORY_ID = "memory id"
    VARIABLES = "variables"
    INVOCATION_PARAMETERS = "invocation parameters"
    REQUEST_PARAMETERS = "request parameters"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter, its role, its name in templates, and its resolved annotation."""

    name: str
    role: Role
    template_name: str
    hint: Any = None


_MARKERS: Final = {
    MemoryId: Role.MEMORY_ID,
    UserText: Role.TEXT,
    UserName: Role.USER_NAME,
    Variables: Role.VARIABLES,
}
_ONCE: Final = (
    Role.TEXT,
    Role.USER_NAME,
    Role.MEMORY_ID,
    Role.INVOCATION_PARAMETERS,
    Role.REQUEST_PARAMETERS,
)
_IN_TEMPLATES: Final = (Role.FREE, Role.VARIABLE, Role.TEXT, Role.USER_NAME, Role.MEMORY_ID)
_CONTENTS: Final = frozenset(get_args(Content))
_MESSAGES: Final = frozenset(get_args(ChatMessage))
_UNTEMPLATED: Final = frozenset((bytes, bytearray, memoryview))


def read_parameter(parameter: inspect.Parameter, hint: Any) -> Parameter:
    """Read one parameter with its resolved annotation. Raises `Complaint` saying what to write instead."""
    if parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
        raise Complaint(
            "a prompt has no place for a varying number of arguments: "
            "name each one, or take a dict marked Annotated[dict[str, Any], Variables]"
        )
    kinds, marks = _kinds_of(hint)
    roles = [role for role in map(_role_of_mark, marks) if role is not None]
    names = [mark.name for mark in marks if isinstance(mark, V)]
    if len(roles) + len(names) > 1:
        raise Complaint("it carries several markers: an argument has one use, so keep one of them")
    role = roles[0] if roles else Role.VARIABLE if names else _role_of_kinds(kinds)
    _check(kinds, role)
    return Parameter(parameter.name, role, names[0] if names else parameter.name, hint)


def check_together(parameters: list[Parameter], complain: Callable[[str], None]) -> None:
    """Complain of parameters that claim what only one can be."""
    for role in _ONCE:
        names = [parameter.name for parameter in parameters if parameter.role is role]
        if len(names) > 1:
            complain(f"the parameters {_listed(names)} are each the {role.value}: keep one of them")
    seen: dict[str, str] = {}
    for parameter in parameters:
        if parameter.role not in _IN_TEMPLATES:
            continue
        other = seen.setdefault(parameter.template_name, parameter.name)
        if other != parameter.name:
            complain(
                f"the parameters {other!r} and {parameter.name!r} are both called "
                f"{parameter.template_name!r} in templates: rename one"
            )


def _kinds_of(hint: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The types an argument may have but for `None`, and the markers, wherever in a union they stand."""
    origin = get_origin(hint)
    if isinstance(hint, TypeAliasType):
        return _kinds_of(hint.__value__)
    if origin is Annotated:
        plain, *marks = get_args(hint)
        kinds, inner = _kinds_of(plain)
        return kinds, (*inner, *marks)
    if origin in (Union, UnionType):
        members = [_kinds_of(member) for member in get_args(hint) if member is not type(None)]
        return (
            tuple(kind for kinds, _ in members for kind in kinds),
            tuple(mark for _, marks in members for mark in marks),
        )
    return (hint,), ()


def _role_of_mark(mark: Any) -> Role | None:
    for marker, role in _MARKERS.items():
        if mark is marker or isinstance(mark, marker):
            return role
    return None


def _role_of_kinds(kinds: tuple[Any, ...]) -> Role:
    for kind, role in _BY_TYPE.items():
        if all(item is kind for item in kinds):
            return role
    if kinds and all(_are_contents(_items_of(kind)) for kind in kinds):
        return Role.CONTENT
    return Role.FREE


_BY_TYPE: Final = {
    InvocationParameters: Role.INVOCATION_PARAMETERS,
    ChatRequestParameters: Role.REQUEST_PARAMETERS,
}


def _items_of(kind: Any) -> tuple[Any, ...]:
    """What the items of a list or a tuple may be; for any other type, the type itself."""
    if get_origin(kind) in (list, tuple, Sequence):
        return tuple(
            item for argument in get_args(kind) for item in _kinds_of(argument)[0] if item is not ...
        )
    return (kind,)


def _are_contents(items: tuple[Any, ...]) -> bool:
    return bool(items) and all(_among([item], _CONTENTS) for item in items)


def _check(kinds: tuple[Any, ...], role: Role) -> None:
    items = [item for kind in kinds for item in _items_of(kind)]
    if role in (Role.FREE, Role.VARIABLE, Role.TEXT):
        if _among(items, _UNTEMPLATED):
            raise Complaint(
                "bytes have no text form for a prompt: take a str, or a content such as ImageContent"
            )
        if _among(items, _MESSAGES):
            raise Complaint("messages cannot be passed as an argument: pass the text, or a content")
    if role is Role.VARIABLES and not all(_is_mapping(kind) for kind in kinds):
        raise Complaint("only a dict[str, ...] can be marked Variables")
    if role in (Role.TEXT, Role.USER_NAME) and str not in kinds:
        raise Complaint(f"the {role.value} is text: annotate it as str")


def _among(items: list[Any], types: frozenset[type]) -> bool:
    return any(item is kind for item in items for kind in types)


def _is_mapping(plain: Any) -> bool:
    kind = get_origin(plain) or plain
    return isinstance(kind, type) and issubclass(kind, Mapping)


def _listed(names: list[str]) -> str:
    return ", ".join(map(repr, names[:-1])) + f" and {names[-1]!r}"
