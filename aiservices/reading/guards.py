"""Reading what was declared to judge a method's input and answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from guardrails import GuardrailLike, link

from ..declaring import Declared
from ..tools.annotations import signature_of
from .specs import Guards


def read_guards(
    method: Declared, classes: tuple[Declared, ...], complain: Callable[[object], None]
) -> Guards:
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
            try:
                _check(guardrail)
            except TypeError as error:
                complain(f"{name}: {error}")
    return guards


def _check(guardrail: GuardrailLike[Any]) -> None:
    """Raise `TypeError` for what is no guardrail."""
    if not isinstance(guardrail, type) or not hasattr(guardrail, "validate"):
        link(guardrail)
        return
    try:
        signature_of(guardrail).bind()
    except ValueError:  # a class that does not tell
        return
    except TypeError as error:
        name = guardrail.__name__
        raise TypeError(f"the guardrail {name} needs arguments, give an instance: {error}") from error
