"""The conversation so far on the way down, and what really happened into memory on the way up."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any, Final

from ..driving import WouldWaitForItselfError
from ..errors import MemoryInUseError
from ..events import MemoryRepaired
from ..invocation import Invocation, Proceed, changed
from ..memory import LOCKS, ChatMemory, repaired, says_nothing
from ..messages import AiMessage, ChatMessage, SystemMessage
from ..results import Result

_log: Final = logging.getLogger("aiservices")


async def remember(call: Invocation, proceed: Proceed) -> Result[Any]:
    """Load the conversation and, when the call is over, keep its turn whole or not at all."""
    recall = call.setup.recall
    assert recall is not None
    memory = recall(call.context.memory_id)
    if call.is_streamed:  # a slow reader must not keep others waiting: the commit at the end is checked
        return await _remembered(memory, call, proceed)
    async with AsyncExitStack() as line:
        try:
            await line.enter_async_context(call.driver.lock(LOCKS, memory.lock_key))
        except WouldWaitForItselfError:
            raise MemoryInUseError(
                f"{call.method.where}: the memory {memory.id!r} is in use by the call that this one is made "
                "from, or by one that waits for it: call with another memory id, or afterwards"
            ) from None
        return await _remembered(memory, call, proceed)


async def _remembered(memory: ChatMemory, call: Invocation, proceed: Proceed) -> Result[Any]:
    journal = call.journal
    journal.user = call.user
    call = await _with_history(memory, call)
    try:
        result = await proceed(call)
    except BaseException as error:
        if any(entered.begun for entered in journal.ledger.rounds):
            await call.driver.finish(_keep_in_spite_of(error, memory, call))
        raise
    await call.driver.finish(_keep(memory, call, (*_turn(call), *_answer(result, call))))
    return result


async def _with_history(memory: ChatMemory, call: Invocation) -> Invocation:
    """The call after what was said before, as far as it fits into the memory beside what is said now."""
    mended = repaired(await call.driver.twin(memory.messages, memory.amessages))
    if mended.repairs:
        _log.warning("%s: a conversation was repaired for this call: %s", call.method.where, mended.repairs)
        call.notify(MemoryRepaired, mended.repairs)
    before = mended.messages
    system = call.system
    if before and isinstance(before[0], SystemMessage):
        system, before = system or before[0], before[1:]
    fitting = memory.fitting((*_some(system), *before, *_some(call.user)))
    history = tuple(message for message in fitting if message is not system and message is not call.user)
    return changed(call, system=system, history=history)


def _turn(call: Invocation) -> tuple[ChatMessage, ...]:
    """The user message as the guardrails left it, and the tool rounds; not one that a limit forbade."""
    said = (*_some(call.system), *_some(call.journal.user))
    rounds = [entered for entered in call.journal.ledger.rounds if entered.begun]
    return (*said, *(message for entered in rounds for message in entered.messages))


def _some(message: ChatMessage | None) -> tuple[ChatMessage, ...]:
    return () if message is None else (message,)


def _answer(result: Result[Any], call: Invocation) -> tuple[AiMessage, ...]:
    """The accepted answer, or the model's first one where memory is to hold that.

    Calls of tools that nobody has run are left out: without results they would spoil the conversation.
    """
    message = result.message
    if result.immediate or message is None:
        return ()
    if call.setup.remember_raw:
        answers = (response.message for response in call.journal.responses)
        message = next((answer for answer in answers if not answer.tool_calls), message)
    if message.tool_calls:
        message = replace(message, tool_calls=())
    return () if says_nothing(message) else (message,)


async def _keep(memory: ChatMemory, call: Invocation, turn: Sequence[ChatMessage]) -> None:
    await call.driver.twin(memory.add, memory.aadd, *turn)


async def _keep_in_spite_of(error: BaseException, memory: ChatMemory, call: Invocation) -> None:
    """Keep the turn of a call that failed; that this fails too must not hide why the call did."""
    try:
        await _keep(memory, call, _turn(call))
    except Exception as second:
        error.add_note(f"What its tools did could not be kept in memory: {type(second).__name__}: {second}")
        _log.warning("%s: a turn could not be kept in memory", call.method.where, exc_info=True)
