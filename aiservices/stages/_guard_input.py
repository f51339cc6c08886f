"""Judging what is to be sent, before anything is."""

from __future__ import annotations

from typing import Any

import guardrails

from ..errors import InputGuardrailError
from ..invocation import Invocation, Proceed, changed
from ..results import Result
from ._guards import USER_WORDING, guardrail_request, observing


async def guard_input(call: Invocation, proceed: Proceed) -> Result[Any]:
    """Accept, rewrite or refuse the user message."""
    user = call.user
    if user is None:
        return await proceed(call)
    try:
        passed = await guardrails.enforce_input(
            call.setup.input_chain,
            guardrail_request(user, user.text, call, ()),
            wording=USER_WORDING,
            call=call.driver.call,
            observe=observing(call),
        )
    except guardrails.InputGuardrailError as error:
        raise InputGuardrailError(error.failures) from error.__cause__
    call.journal.findings.extend(passed.findings)
    call.journal.user = passed.subject
    return await proceed(changed(call, user=passed.subject) if passed.rewritten else call)
