"""Judging what is to be sent, before anything is."""

from __future__ import annotations

from typing import Any

import guardrails

from ..errors import InputGuardrailError
from ..invocation import Invocation, Proceed
from ..results import Result
from ._augment import kept
from ._guards import UserWording, guardrail_request, observing


async def guard_input(call: Invocation, proceed: Proceed) -> Result[Any]:
    """Accept, rewrite or refuse the user message."""
    user = call.user
    if user is None:
        return await proceed(call)
    wording = UserWording(call)
    try:
        passed = await guardrails.enforce_input(
            call.setup.input_chain,
            guardrail_request(await call.augmented(user), user.text, call, ()),
            wording=wording,
            call=call.driver.call,
            observe=observing(call),
        )
    except guardrails.InputGuardrailError as error:
        raise InputGuardrailError(error.failures) from error.__cause__
    call = wording.call
    call.journal.findings.extend(passed.findings)
    call.journal.user = await kept(call)
    return await proceed(call)
