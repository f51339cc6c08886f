"""The skills of a service: their catalogue, and what the active ones say, in each request."""

from __future__ import annotations

from typing import Any

from ..invocation import Invocation, Proceed, changed
from ..results import Result
from ..skills import activated_in, told_after


async def use_skills(call: Invocation, proceed: Proceed) -> Result[Any]:
    """Tell of the skills after the system message, which memory keeps without that.

    A skill is active as long as the conversation shows that the model has activated it.
    """
    shelf = call.setup.skills
    active = [id for id in activated_in((*call.history, *call.exchange)) if id in shelf]
    system = told_after(call.system, shelf.catalogue, *(shelf.body(id) for id in active))
    return await proceed(changed(call, system=system))
