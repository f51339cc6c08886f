"""The action node: which calls may run, which wait for somebody, and the result of each."""

from __future__ import annotations

from collections import deque
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from typing import Any, Final

from ..context import NO_PARAMETERS
from ..driving import Driver
from ..errors import StoreError, ToolArgumentsError
from ..messages import AiMessage, ToolCall, ToolResultMessage
from ..tools import (
    Caller,
    Done,
    Ledger,
    ToolRegistry,
    check_calls,
    check_tokens,
    refuse_calls,
    run_calls,
)
from .channels import messages_of
from .decisions import decided
from .paths import PATH
from .records import ACTION, AGENT, Progress, Threads, results_of
from .setup import Setup
from .state import AgentState


class Acting:
    """Runs the calls of a run, round after round.

    `ledger` tells what was done, `notes` what has ended of a round that is not over.
    """

    def __init__(
        self, setup: Setup, driver: Driver, thread_id: str, run_id: str, deadline: float | None
    ) -> None:
        self.ledger = Ledger()
        self._setup = setup
        self._driver = driver
        self.notes = notes = Notes(setup.threads, driver, thread_id, run_id)
        self._caller = Caller(
            driver=driver,
            service=setup.name,
            invocation_id=run_id,
            parameters=NO_PARAMETERS,
            memory_id=thread_id,
            deadline=deadline,
            finished=notes.add,
            flush=notes.write,
        )

    async def guarded(self, message: AiMessage, tools: ToolRegistry, state: AgentState) -> tuple[str, ...]:
        """The calls that somebody has to decide on. Those that could not run anyhow are put to nobody."""
        approvals = self._setup.approvals
        if not approvals:
            return ()
        found = []
        for call in message.tool_calls:
            policy = approvals.get(call.name, False)
            if policy is False or not _is_valid(call, tools):
                continue
            if policy is True or await self._asks(policy, call, state):
                found.append(call.id)
        return tuple(found)

    async def _asks(self, policy: Any, call: ToolCall, state: AgentState) -> bool:
        try:
            return bool(await self._driver.call(policy, call, state))
        except Exception as error:
            error.add_note(f"raised by what approvals give for {call.name!r}")
            raise

    def check(self, message: AiMessage, progress: Progress) -> dict[str, int]:
        """The calls so far by tool. Raises `LimitExceededError` when those of this answer may not run."""
        counts = dict(progress.counts)
        check_tokens(self._setup.limits, progress.usage)
        check_calls(self._setup.limits, message, progress.rounds, counts)
        return counts

    def refuse(
        self, calls: Sequence[ToolCall], tools: ToolRegistry, error: Exception
    ) -> tuple[ToolResultMessage, ...]:
        """Results for calls that do not run."""
        done = refuse_calls(calls, tools, self._setup.toolbox, self._caller, self.ledger, error=error)
        return tuple(item.result for item in done)

    async def act(self, message: AiMessage, tools: ToolRegistry, progress: Progress) -> dict[str, Any]:
        """Run what may run. The update of a whole round has a result for each call, in their order.

        Calls that have ended do not run again. While decisions are missing nothing that was decided runs,
        and the update is empty. Raises `LimitExceededError`; the results are noted all the same.
        """
        results = dict(self.notes.ended)
        waits = bool(progress.undecided)
        to_run: list[ToolCall] = []
        for call in message.tool_calls:
            if call.id in results or (waits and call.id in progress.guarded):
                continue
            told = decided(call, progress.decisions[call.id]) if call.id in progress.guarded else call
            if isinstance(told, ToolCall):
                to_run.append(told)
            else:
                results[call.id] = ToolResultMessage(call.id, call.name, told, is_error=True)
        if to_run:
            path = PATH.get()
            PATH.set(path or (self._setup.name,))  # if no agent has called this one, it is the first
            try:
                done = await run_calls(to_run, tools, self._setup.toolbox, self._caller, self.ledger)
            finally:
                PATH.set(path)
            results |= {item.call.id: item.result for item in done}
        return {} if waits else {"messages": tuple(results[call.id] for call in message.tool_calls)}


class Notes:
    """What has ended of a round that is not over; not a part of `Acting`, which would then be a circle."""

    def __init__(self, threads: Threads, driver: Driver, thread_id: str, run_id: str) -> None:
        self.ended: dict[str, ToolResultMessage] = {}
        self._threads = threads
        self._driver = driver
        self._place = (thread_id, run_id)
        self._unwritten: deque[ToolResultMessage] = deque()

    async def learn(self, calls: Sequence[ToolCall], progress: Progress) -> None:
        """Learn what has ended of a round that another run has begun."""
        self.ended |= await results_of(self._threads, self._driver, self._place[0], progress, calls)

    def add(self, done: Done) -> None:
        if done.whole:  # a call that was broken off may have done its work: it runs again, with its key
            self.ended[done.call.id] = done.result
            self._unwritten.append(done.result)

    async def write(self) -> None:
        """Write what was added; calls that run side by side all come here."""
        while self._unwritten:
            try:
                result = self._unwritten.popleft()
            except IndexError:  # another was quicker
                return
            try:
                await self._threads.note(self._driver, *self._place, result)
            except BaseException:
                self._unwritten.appendleft(result)
                raise

    async def rescue(self, error: BaseException) -> None:
        """Write what could not be written when the round was broken off; the error matters more."""
        if self._unwritten:
            try:
                await self._driver.finish(self.write())
            except StoreError as failure:
                error.add_note(f"what has ended of the round could not be noted: {failure}")

    def forget(self, calls: Iterable[ToolCall]) -> Coroutine[Any, Any, None]:
        """Forget a round whose results are in the state."""
        self.ended.clear()
        self._unwritten.clear()
        return self._threads.forget(self._driver, *self._place, [call.id for call in calls])


UPDATES: Final = {node: f"the update of the node {node!r}" for node in (AGENT, ACTION)}
"""What errors call the update of a node."""


def completed(update: Mapping[str, Any], message: AiMessage) -> dict[str, Any]:
    """The update of a round with a result for each call, in their order, whatever hooks have made of it."""
    given = messages_of(update.get("messages", ()), UPDATES[ACTION])
    results = {item.tool_call_id: item for item in given if isinstance(item, ToolResultMessage)}
    ordered = [results.get(call.id) or _left_out(call) for call in message.tool_calls]
    others = [item for item in given if not isinstance(item, ToolResultMessage)]
    return {**update, "messages": (*ordered, *others)}


def _left_out(call: ToolCall) -> ToolResultMessage:
    told = "The call did not run: a hook left it out."
    return ToolResultMessage(call.id, call.name, told, is_error=True)


def _is_valid(call: ToolCall, tools: ToolRegistry) -> bool:
    tool = tools.get(call.name)
    if tool is None:
        return False
    try:
        tool.signature.read(call.arguments)
    except ToolArgumentsError:
        return False
    return True
