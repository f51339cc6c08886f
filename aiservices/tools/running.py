"""One call of an answer, from its beginning to its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..context import ToolContext
from ..errors import LimitExceededError, StoreError, ToolFailedError, UnknownToolError
from ..messages import ToolCall, ToolResultMessage
from .attempts import Attempt
from .execution import intercepted, ready_executor, ready_tool
from .functions import Tool
from .ledger import Done, Ledger
from .limits import remaining
from .outcomes import ToolOutcome, error_outcome, shortened
from .policies import Raised, settle
from .toolbox import Caller, Toolbox


class CallRun:
    """A call while it runs. `done` is set when it has ended; `raised` is what is to end the invocation."""

    def __init__(
        self,
        call: ToolCall,
        key: str,
        tools: Mapping[str, Tool[..., Any]],
        toolbox: Toolbox,
        caller: Caller,
        ledger: Ledger,
    ) -> None:
        self.call = call
        self.done: Done | None = None
        self.raised: BaseException | None = None
        self.has_begun = False
        self._key = key
        self._tools = tools
        self._toolbox = toolbox
        self._caller = caller
        self._ledger = ledger
        self._context = caller.context(call)
        self._attempts: list[Attempt] = []
        self._ended: dict[str, Done] = {}

    async def run(self) -> None:
        """Run the call. Raises only what is no `Exception`, as a cancellation is none."""
        self.has_begun = True
        self._caller.started(self.call)
        try:
            await self._caller.flush()
            done = await self._done()
        except BaseException as error:
            self.end(self.broken_off(error))
            raise
        self.end(done)
        await self._caller.flush()

    def end(self, done: Done) -> None:
        """Be done with the call, unless it is done already: its thread and its round may both say so."""
        if self._ended.setdefault("by", done) is not done:
            return
        self.done = done
        for attempt in self._attempts:
            self._leave(attempt, done)
        if self.has_begun:
            self._caller.finished(done)

    def broken_off(self, error: BaseException | None) -> Done:
        """The end of a call that had none of its own."""
        what = "did not end" if self.has_begun else "did not run"
        reason = f"the call {what}: the invocation failed ({type(error).__name__})"
        told = self._told(error_outcome(ToolFailedError(reason, call=self.call), self.call))
        return replace(told, begun=self.has_begun, whole=False)

    async def _done(self) -> Done:
        try:
            if self.call.name not in self._tools:
                raise self._unknown(self.call)
            interceptors = self._toolbox.interceptors
            run = intercepted(self._caller.driver, interceptors, self._execute, self._context)
            return self._told(await run(self.call))  # what no message can hold is a failure
        except Exception as error:
            return self._told(await self._settled(error))

    async def _settled(self, error: Exception) -> ToolOutcome:
        if self.raised is not None:
            return error_outcome(error, self.call)
        calls = (self.call, *(attempt.ran for attempt in self._attempts))
        policies = self._toolbox.policies
        settled = await settle(self._caller.driver, policies, error, calls, self._context)
        if isinstance(settled, Raised):
            self.raised = settled.error
            return settled.outcome
        return settled

    async def _execute(self, asked: ToolCall) -> ToolOutcome:
        context = self._context if asked is self.call else replace(self._context, call=asked)
        attempt = self._attempt(asked, context)
        driver, executor = self._caller.driver, self._toolbox.executor
        if executor is None:
            ready = ready_tool(attempt.tool, asked, context, attempt.watch)
        else:
            ready = ready_executor(executor, asked, context, attempt.watch)
        left = await self._permit(attempt)
        try:
            running = ready(driver)
            outcome = await (running if left is None else driver.cut_off(left, running))
        except Exception as error:
            await self._log(attempt)
            if isinstance(error, TimeoutError | LimitExceededError):  # or of a service that the tool asks
                self._time_left(context)
            raise
        if attempt.tool.undo is not None:
            if attempt.effect is not None:
                attempt.effect.text = outcome.text
            await self._log(attempt)
        return outcome

    def _attempt(self, asked: ToolCall, context: ToolContext) -> Attempt:
        if self.raised is not None:
            raise self.raised
        tool = self._tools.get(asked.name)
        if tool is None:
            raise self._unknown(asked)
        attempt = Attempt(
            tool,
            asked,
            context,
            f"{self._key}.{len(self._attempts)}",
            self._ledger,
            late=self._caller.late,
            doubted=self._caller.log is not None,
        )
        self._attempts.append(attempt)
        if (done := self._ended.get("by")) is not None:  # an interceptor goes on although it was given up
            self._leave(attempt, done)
            raise ToolFailedError("nobody waits for this call any more", call=asked)
        return attempt

    async def _permit(self, attempt: Attempt) -> float | None:
        """Let a run begin, and give the seconds it has, `None` without bound.

        What forbids it ends the invocation, whoever catches it on its way.
        """
        log = self._caller.log
        left = self._time_left(attempt.context)
        if log is None or attempt.tool.undo is None:
            return left
        try:
            await log.intend(attempt.key, attempt.ran, attempt.context.idempotency_key)
        except StoreError as error:
            self.raised = error
            raise
        return self._time_left(attempt.context)  # writing took some of it

    def _time_left(self, context: ToolContext) -> float | None:
        try:
            return remaining(context.deadline)
        except LimitExceededError as error:
            self.raised = error
            raise

    async def _log(self, attempt: Attempt) -> None:
        if self._caller.log is None or attempt.tool.undo is None:
            return
        try:
            if attempt.effect is not None:
                await self._caller.log.ended(attempt.effect)
            elif attempt.is_over:  # one that was given up may still do its work
                await self._caller.log.forget(attempt.key)
        except StoreError as error:  # it did run, and what it did can still be undone from here
            self.raised = error

    def _leave(self, attempt: Attempt, done: Done) -> None:
        """Wait no more for a run; the log is kept open for one that goes on."""
        attempt.done, log = done, self._caller.log
        if log is not None:
            log.hold(attempt.key)
        if attempt.watch.leave():
            return
        if attempt.effect is not None and attempt.effect not in done.effects:
            done.effects.append(attempt.effect)
        if log is not None:
            log.let_go(attempt.key)

    def _told(self, outcome: ToolOutcome) -> Done:
        call, limit = self.call, self._toolbox.limits.max_tool_result_chars
        contents = outcome.contents if limit is None else shortened(outcome.contents, limit)
        result = ToolResultMessage(call.id, call.name, contents, outcome.is_error, outcome.attributes)
        return Done(call, outcome, result)

    def _unknown(self, asked: ToolCall) -> UnknownToolError:
        known = ", ".join(self._tools) or "none"
        return UnknownToolError(f"there is no tool {asked.name!r}; there are: {known}", call=asked)
