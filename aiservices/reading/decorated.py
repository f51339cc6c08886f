"""Stubs under decorators: `functools.wraps` keeps the stub within reach, so that it can be filled."""

from __future__ import annotations

import dis
import functools
import inspect
from collections.abc import Callable
from types import CellType, FunctionType
from typing import Any, Final

from .complaints import Complaint


def stub_under(member: Any) -> FunctionType | None:
    """The stub that a method, or what decorators made of it, comes down to; `None` if it runs as written.

    Raises `Complaint` for a stub that cannot be filled.
    """
    stub = innermost(member)
    if stub is None or not is_stub(stub):
        return None
    if not isinstance(member, FunctionType):
        raise Complaint(f"a {type(member).__name__} cannot call the model: write a method with self")
    wrapper: Any = member
    while hasattr(wrapper, "__wrapped__"):
        if not _reaches(wrapper, wrapper.__wrapped__):
            raise Complaint(
                f"a decorator, {_name_of(wrapper)}, keeps the stub out of reach: "
                "decorate a method with a body, and let that call the stub"
            )
        wrapper = wrapper.__wrapped__
    return stub


def refilled(member: Any, stub: Callable[..., Any], method: FunctionType) -> FunctionType:
    """The member with `method` where its decorators call the stub; the original stays as it is."""
    if member is stub:
        return method
    inner = refilled(member.__wrapped__, stub, method)
    closure = tuple(
        CellType(inner) if _holds(cell, member.__wrapped__) else cell for cell in member.__closure__
    )
    copy = FunctionType(member.__code__, member.__globals__, member.__name__, member.__defaults__, closure)
    copy.__kwdefaults__ = member.__kwdefaults__
    functools.update_wrapper(copy, member)
    copy.__dict__["__wrapped__"] = inner
    return copy


def innermost(member: Any) -> FunctionType | None:
    """The function within a static method, a property, a partial method, or decorators."""
    if not hasattr(type(member), "__get__"):
        return None  # Python makes no method of it
    for attribute in ("__wrapped__", "__func__", "fget", "func"):
        inner = getattr(member, attribute, None)
        if inner is not None:
            return innermost(inner)
    return member if inspect.isfunction(member) else None


def _reaches(wrapper: Any, inner: object) -> bool:
    """Whether a wrapper is a function that has the inner one at hand, where a copy can have another."""
    cells = wrapper.__closure__ if isinstance(wrapper, FunctionType) else None
    return any(_holds(cell, inner) for cell in cells or ())


def _name_of(wrapper: Any) -> str:
    if not inspect.isfunction(wrapper):
        return type(wrapper).__name__
    inside, _, _ = wrapper.__code__.co_qualname.rpartition(".<locals>.")
    return inside.rpartition(".<locals>.")[2]


def _holds(cell: CellType, value: object) -> bool:
    try:
        return cell.cell_contents is value
    except ValueError:  # the cell is still empty
        return False


def calls_super(member: Any) -> bool:
    """Whether the code of a method speaks of its parents' methods."""
    function = innermost(member)
    code = None if function is None else function.__code__
    return code is not None and ("__class__" in code.co_freevars or "super" in code.co_names)


_PREPARING: Final = frozenset(
    (
        "RESUME",
        "NOP",
        "CACHE",
        "RETURN_GENERATOR",
        "POP_TOP",
        "COPY_FREE_VARS",
        "MAKE_CELL",
        "PUSH_NULL",
        "PRECALL",
    )
)
_NAMES: Final = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_COMMON_CONSTANT")


def is_stub(function: Callable[..., Any]) -> bool:
    """Whether a body is a docstring, `...`, `pass` or `raise NotImplementedError`, read from its bytecode."""
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        return False
    raises = False
    for step in dis.get_instructions(function):
        if step.opname in _PREPARING or (raises and step.opname in ("CALL", "LOAD_CONST")):
            continue
        if step.opname in _NAMES and step.argval == "NotImplementedError":
            raises = True
        elif step.opname == "RAISE_VARARGS":
            return raises
        elif step.opname in ("LOAD_CONST", "RETURN_CONST") and step.argval is None:
            if step.opname == "RETURN_CONST":
                return True
        else:
            return step.opname == "RETURN_VALUE" and not raises
    return False
