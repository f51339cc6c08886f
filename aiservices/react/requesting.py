"""The agent node: the request as state, policy and skills make it, and what its answer means."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final

from ..context import NO_PARAMETERS, InvocationContext
from ..driving import Driver
from ..events import Restarted
from ..invocation import correction_of, with_instructions
from ..messages import (
    ChatMessage,
    ChatRequest,
    ChatResponse,
    FinishReason,
    ModelEvent,
    SystemMessage,
    UserMessage,
)
from ..models.asking import ask
from ..skills import told_after
from ..skills.injecting import shaped
from ..tools import Offering, ToolRegistry, ToolRequest, ids_in, in_time, remaining, with_unique_ids
from .records import AGENT
from .setup import Setup
from .state import AgentState, StopReason

RETRIES: Final = 1
"""As often as services ask again by default for an answer that cannot be read."""
_CUT_OFF = {FinishReason.LENGTH: StopReason.LENGTH, FinishReason.CONTENT_FILTER: StopReason.CONTENT_FILTER}


class Requesting:
    """Asks the model, one step of a run after the other.

    `registry` is what it was offered for the answer at hand, `None` before, with the `skills` active then.
    """

    registry: ToolRegistry | None = None
    skills: tuple[str, ...] = ()

    def __init__(
        self,
        setup: Setup,
        driver: Driver,
        run_id: str,
        deadline: float | None,
        *,
        show: Callable[[ModelEvent | Restarted], Awaitable[None]] | None,
    ) -> None:
        self.responses: list[ChatResponse] = []
        self._setup = setup
        self._run_id = run_id
        self._driver = driver
        self._deadline = deadline
        self._show = show
        self._offering = Offering(setup.assortment, driver)

    async def ask(self, most: int | None, state: AgentState) -> dict[str, Any]:
        """One request, and the update that its answer makes.

        An answer that cannot be read is asked for again, unless that is more than `most` requests. Of such
        an answer the state knows nothing.
        """
        setup = self._setup
        if self.registry is not None:  # a hook proceeds again
            await self._begin_again(state)
        said = state.messages if setup.policy is None else await self._shaped(state)
        messages = self._messages(said, state)
        tools = await self.offer(state, messages)
        response = await self._response(messages, tools)
        for _ in range(RETRIES if most is None else min(RETRIES, most - 1)):
            wrong = setup.answers.wrong(response)
            if wrong is None:
                break
            await self._begin_again(state)
            corrected = (*messages, response.message, UserMessage(correction_of(wrong)))
            response = await self._response(corrected, tools)
        return self._update(response, state)

    async def _begin_again(self, state: AgentState) -> None:
        """Let whoever reads the answer know that it is asked for again."""
        if self._show is not None:
            name, now = self._setup.name, datetime.now().astimezone()
            told = InvocationContext(self._run_id, name, AGENT, now, {}, memory_id=state.thread_id)
            await self._show(Restarted(told))

    async def _response(self, messages: Sequence[ChatMessage], tools: ToolRegistry) -> ChatResponse:
        setup, driver, show = self._setup, self._driver, self._show
        request = ChatRequest(messages, tools.specs, response_format=setup.answers.format)
        asking = partial(ask, driver, setup.model, request, where=setup.name, show=show)
        deadline = self._deadline
        if show is not None:  # whoever reads it may take their time
            remaining(deadline)
            deadline = None
        response = await in_time(driver, deadline, asking)
        self.responses.append(response)
        return response

    async def offer(self, state: AgentState, messages: Sequence[ChatMessage]) -> ToolRegistry:
        """The tools for the next request, those of active skills among them."""
        setup, self.skills = self._setup, state.active_skills
        offered = self._offering.fixed
        if offered is None:
            request = ToolRequest(tuple(messages), state.thread_id, NO_PARAMETERS)
            offered = await self._offering.next(request)
        if not state.active_skills:
            self.registry = offered
            return offered
        unlocked = [*setup.shelf.tools_of(state.active_skills), *setup.unlocked.tools_of(state.active_skills)]
        more = {tool.name: tool for tool in unlocked}
        self.registry = offered.including([tool for name, tool in more.items() if name not in offered])
        return self.registry

    async def offer_again(self, state: AgentState) -> ToolRegistry:
        """The tools of the request that the last message answers; no policy is asked again for that."""
        return await self.offer(state, self._messages(state.messages[:-1], state))

    async def _shaped(self, state: AgentState) -> Sequence[ChatMessage]:
        """The conversation as the policy leaves it, which sees no system messages."""
        systems, others = _parted(state.messages)
        return [*systems, *await shaped(self._driver, self._setup.policy, others, state)]

    def _messages(self, said: Sequence[ChatMessage], state: AgentState) -> Sequence[ChatMessage]:
        """One system message at most, first: the agent's, the catalogue of skills, what active ones say."""
        setup = self._setup
        told, rest = _parted(said)
        own = [setup.shelf.body(id) for id in state.active_skills if id in setup.shelf]
        system = told_after(setup.system, setup.shelf.catalogue, *own, *[message.text for message in told])
        if setup.answers.instructions:
            rest = _instructed(rest, setup.answers.instructions)
        return rest if system is None else (system, *rest)

    def _update(self, response: ChatResponse, state: AgentState) -> dict[str, Any]:
        message, reason = response.message, _CUT_OFF.get(response.finish_reason)
        if not message.tool_calls:
            text = message.text or message.refusal or ""
            reason = reason or StopReason.FINAL
            return {"messages": (message,), "final_response": text, "stop_reason": reason}
        message = with_unique_ids(message, ids_in(state.messages))
        if reason is None:
            return {"messages": (message,)}
        return {"messages": (message,), "final_response": message.text, "stop_reason": reason}


def _parted(messages: Sequence[ChatMessage]) -> tuple[list[SystemMessage], Sequence[ChatMessage]]:
    """The system messages, and the others."""
    systems = [message for message in messages if isinstance(message, SystemMessage)]
    if not systems:
        return systems, messages
    return systems, [message for message in messages if not isinstance(message, SystemMessage)]


def _instructed(messages: Sequence[ChatMessage], instructions: str) -> Sequence[ChatMessage]:
    """The messages with the instructions at the end of what the user said last."""
    for index in reversed(range(len(messages))):
        message = messages[index]
        if isinstance(message, UserMessage):
            return [*messages[:index], with_instructions(message, instructions), *messages[index + 1 :]]
    return messages
