"""Reading what was declared to judge a method's input and answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from guardrails import GuardrailLike, link

from ..declaring import Declared
from .specs import Guards


def read_guards(method: Declared, classes: tuple[Declared, ...], complain: Callable[[object], None]) -> Guards:
    """The method's own declarations, else those of the nearest class that has some.

    Guardrails that are given as classes are not made here: an option may replace them.
    """
    declared = (method, *classes)
    nearest = next((item for item in declared if item.output_guardrails is not None), method)
    guards = Guards(
        moderate=any(item.moderate for item in declared),
        input=next((item.input_guardrails for item in declared if item.input_guardrails is not None), None),
        output=nearest.output_guardrails,
        output_config=nearest.output_config,
    )
    for name, chain in (("input_guardrails", guards.input), ("output_guardrails", guards.output)):
        for guardrail in chain or ():
            _check(guardrail, lambda problem, name=name: complain(f"{name}: {problem}"))
    return guards


def _check(guardrail: GuardrailLike[Any], complain: Callable[[object], None]) -> None:
    if isinstance(guardrail, type) and hasattr(guardrail, "validate"):
        return
    try:
        link(guardrail)
    except TypeError as error:
        complain(error)
