"""The conversation so far on the way down, and what really happened into memory on the way up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..events import MemoryRepaired
from ..invocation import Invocation, Proceed, changed
from ..memory import LOCKS, ChatMemory, enter, leave, repaired
from ..messages import AiMessage, ChatMessage, SystemMessage
from ..results import Result


async def remember(call: Invocation, proceed: Proceed) -> Result[Any]:
    """Load the conversation and, when the call is over, keep its turn whole or not at all."""
    recall = call.setup.recall
    assert recall is not None
    memory = recall(call.context.memory_id)
    token = enter(memory)
    try:
        async with call.driver.lock(LOCKS, memory.lock_key):
            return await _remembered(memory, call, proceed)
    finally:
        leave(token)


async def _remembered(memory: ChatMemory, call: Invocation, proceed: Proceed) -> Result[Any]:
    journal = call.journal
    journal.user = call.user
    call = changed(call, history=await _history(memory, call))
    try:
        result = await proceed(call)
    except BaseException:
        if journal.ledger.rounds:  # what tools did is part of the conversation, whatever came after
            await call.driver.finish(_keep(memory, call, _turn(call)))
        raise
    await call.driver.finish(_keep(memory, call, (*_turn(call), *_answer(result, call))))
    return result


async def _history(memory: ChatMemory, call: Invocation) -> tuple[ChatMessage, ...]:
    """What was said before, as far as it fits into the memory beside what is said now."""
    loaded = await call.driver.twin(memory.messages, memory.amessages)
    mended = repaired(loaded)
    if mended.repairs:
        call.notify(MemoryRepaired, mended.repairs)
    old = [message for message in mended.messages if not isinstance(message, SystemMessage)]
    system = [call.system] if call.system is not None else []
    user = [call.user] if call.user is not None else []
    fitting = memory.fitting((*system, *old, *user))
    return tuple(fitting[len(system) : len(fitting) - len(user)])


def _turn(call: Invocation) -> tuple[ChatMessage, ...]:
    """The user message as the guardrails left it, and the finished tool rounds."""
    system, user = call.system, call.journal.user
    said = [message for message in (system, user) if message is not None]
    return (*said, *(message for entry in call.journal.ledger.rounds for message in entry.messages))


def _answer(result: Result[Any], call: Invocation) -> tuple[AiMessage, ...]:
    """The accepted answer, or the model's first one where memory is to hold that."""
    if result.immediate:
        return ()
    message = result.message
    if call.setup.remember_raw:
        answers = (response.message for response in call.journal.responses)
        message = next((answer for answer in answers if not answer.tool_calls), message)
    return (message,) if message is not None and (message.text or message.attributes) else ()


async def _keep(memory: ChatMemory, call: Invocation, turn: Sequence[ChatMessage]) -> None:
    await call.driver.twin(memory.add, memory.aadd, *turn)
