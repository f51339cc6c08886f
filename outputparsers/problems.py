"""Turning pydantic's errors into problems a model can act on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic_core import to_json

from .errors import Problem, shortened
from .tolerating import ARM

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pydantic_core import ErrorDetails, ValidationError

_SHOWN_INPUT = 60
_UNKNOWN_KEY = frozenset({"extra_forbidden", "unexpected_keyword_argument"})
_UNQUOTED = _UNKNOWN_KEY | {"missing", "json_invalid"}


def problems_of(error: ValidationError, data: Any) -> tuple[Problem, ...]:
    """The problems of an answer; within unions those of the arm that fits best.

    `data` is the JSON value that was validated: it tells keys from the tags pydantic adds to locations.
    """
    details = error.errors(include_url=False)
    kept = {id(detail) for detail in _best(details, 0)}
    in_order = [detail for detail in details if id(detail) in kept]
    problems = [Problem(_path(detail["loc"], data), _message(detail)) for detail in in_order]
    return tuple(dict.fromkeys(problems))


def _best(details: Iterable[ErrorDetails], depth: int) -> list[ErrorDetails]:
    """Errors whose location holds no arm beyond `depth`, and of each union those of its best arm."""
    kept: list[ErrorDetails] = []
    unions: dict[tuple[int | str, ...], dict[str, list[ErrorDetails]]] = {}
    for detail in details:
        at = _arm_position(detail["loc"], depth)
        if at is None:
            kept.append(detail)
        else:
            arm = str(detail["loc"][at])
            unions.setdefault(detail["loc"][:at], {}).setdefault(arm, []).append(detail)
    for place, arms in unions.items():
        kept += _of_best_arm(list(arms.values()), len(place))
    return kept


def _of_best_arm(arms: list[list[ErrorDetails]], position: int) -> list[ErrorDetails]:
    ranked = [(_distance(arm, position), arm) for arm in arms]
    nearest = min(distance for distance, _ in ranked)
    if nearest[0]:  # no arm even has the right kind: say what each of them wants
        return [detail for arm in arms for detail in _best(arm, position + 1)]
    best = next(arm for distance, arm in ranked if distance == nearest)
    return _best(best, position + 1)


def _distance(arm: list[ErrorDetails], position: int) -> tuple[bool, int, int]:
    """Wrong kind of value, then keys the arm does not know, then anything else."""
    whole = any(_is_whole(detail["loc"], position) and detail["type"].endswith("_type") for detail in arm)
    unknown = sum(detail["type"] in _UNKNOWN_KEY for detail in arm)
    return whole, unknown, len(arm)


def _is_whole(location: tuple[int | str, ...], position: int) -> bool:
    return all(str(element).startswith(ARM) for element in location[position:])


def _arm_position(location: tuple[int | str, ...], depth: int) -> int | None:
    for index in range(depth, len(location)):
        element = location[index]
        if isinstance(element, str) and element.startswith(ARM):
            return index
    return None


def _path(location: tuple[int | str, ...], data: Any) -> str:
    path = ""
    here = data
    for index, element in enumerate(location):
        last = index == len(location) - 1
        if isinstance(element, int):
            path += f"[{element}]"
            here = here[element] if isinstance(here, list) and element < len(here) else None
        elif isinstance(here, dict) and element in here:
            path += f".{element}" if path else element
            here = here[element]
        elif last and not element.startswith((ARM, "[")):
            path += f".{element}" if path else element
    return path


def _message(detail: ErrorDetails) -> str:
    if detail["type"] in _UNKNOWN_KEY:
        return "no such key here"
    raised = detail.get("ctx", {}).get("error")
    message = str(raised) if isinstance(raised, Exception) else detail["msg"]
    if raised is not None or detail["type"] in _UNQUOTED or isinstance(detail["input"], dict | list):
        return message
    return f"{message}, got {_shown(detail['input'])}"


def _shown(value: object) -> str:
    text = to_json(value, inf_nan_mode="constants", fallback=lambda other: type(other).__name__).decode()
    return shortened(text, _SHOWN_INPUT)
