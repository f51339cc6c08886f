"""One round: the calls of an answer are run, and every one of them gets a result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ..context import InvocationParameters, ToolContext
from ..driving import Driver
from ..errors import LimitExceededError, StoreError, ToolFailedError, UnknownToolError
from ..messages import NO_USAGE, AiMessage, TokenUsage, ToolCall, ToolResultMessage
from .attempts import Attempt
from .execution import Interceptor, ToolExecutor, intercepted, run_custom, run_tool
from .functions import Tool
from .identifying import with_unique_ids
from .ledger import Done, Ledger, Round
from .limits import DEFAULT_LIMITS, Limits, check_calls, check_tokens, remaining
from .log import CompensationLog
from .outcomes import ToolOutcome, error_outcome, shortened
from .policies import Policies, Raised, settle


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolbox:
    """How an invocation runs tools: decided when the service was created."""

    executor: ToolExecutor | None = None
    interceptors: tuple[Interceptor, ...] = ()
    limits: Limits = DEFAULT_LIMITS
    policies: Policies = field(default_factory=Policies)
    parallel: bool = True


DEFAULT_TOOLBOX: Final = Toolbox()


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """On whose behalf tools are run.

    `started` and `finished` are told of each call, in the thread that runs it. `late` is told of a run that
    went on when nobody waited for it any more; without it nothing is ever undone.
    """

    driver: Driver
    service: str
    invocation_id: str
    parameters: InvocationParameters
    deadline: float | None
    memory_id: Any = None
    log: CompensationLog | None = None
    started: Callable[[ToolCall], None] = lambda call: None
    finished: Callable[[Done], None] = lambda done: None
    late: Callable[[Attempt], None] | None = None

    def context(self, call: ToolCall) -> ToolContext:
        return ToolContext(
            call=call,
            service=self.service,
            parameters=self.parameters,
            memory_id=self.memory_id,
            deadline=self.deadline,
            idempotency_key=f"{self.invocation_id}:{call.id}",
        )


async def run_round(
    message: AiMessage,
    tools: Mapping[str, Tool[..., Any]],
    toolbox: Toolbox,
    caller: Caller,
    ledger: Ledger,
    *,
    usage: TokenUsage = NO_USAGE,
    taken: Iterable[str] = (),
) -> Round:
    """Run the calls of an answer and enter the round in the ledger.

    `taken` are ids of earlier conversation. Raises what a policy raises, and `LimitExceededError`; the
    round is entered all the same, each call with a result, also when the invocation is cancelled meanwhile.
    """
    message = with_unique_ids(message, {*taken, *(done.call.id for done in ledger.requested)})
    runner = _Runner(message, tools, toolbox, caller, ledger)
    try:
        check_tokens(toolbox.limits, usage)
        check_calls(toolbox.limits, message, len(ledger.rounds), ledger.counts)
        await runner.run()
    except BaseException as error:
        runner.close(error)
        raise
    ending = runner.raised[min(runner.raised)] if runner.raised else None
    entered = runner.close(ending)
    if ending is not None:
        raise ending
    return entered


class _Runner:
    """The state of one round while it runs. Calls are told apart by their position, never by id."""

    def __init__(
        self,
        message: AiMessage,
        tools: Mapping[str, Tool[..., Any]],
        toolbox: Toolbox,
        caller: Caller,
        ledger: Ledger,
    ) -> None:
        self.message = message
        self.tools = tools
        self.toolbox = toolbox
        self.caller = caller
        self.ledger = ledger
        self.begins = len(ledger.requested)
        self.limit = toolbox.limits.max_parallel_tools if toolbox.parallel else 1
        self.attempts: dict[int, list[Attempt]] = {}
        self.done: dict[int, Done] = {}
        self.raised: dict[int, BaseException] = {}

    async def run(self) -> None:
        calls = enumerate(self.message.tool_calls)
        await self.caller.driver.gather([self._run(index, call) for index, call in calls], limit=self.limit)

    async def _run(self, index: int, call: ToolCall) -> None:
        if self.raised and self.limit is not None and index >= self.limit:
            return  # it waited in line, and the invocation is to end
        self.attempts[index] = []
        self.caller.started(call)
        try:
            done = await self._done(index, call)
        except BaseException as error:
            self._end(index, self._broken_off(call, "did not end", error))
            raise
        self._end(index, done)

    def _end(self, index: int, done: Done) -> None:
        if self.done.setdefault(index, done) is not done:
            return  # the round was closed over a call that could not be stopped
        for attempt in self.attempts[index]:
            self._leave(attempt, done)
        self.caller.finished(done)

    def _leave(self, attempt: Attempt, done: Done) -> None:
        """Wait no more for a run; the log is kept open for one that goes on."""
        attempt.done, log = done, self.caller.log
        if log is not None:
            log.hold(attempt.key)
        if attempt.watch.leave():
            return
        if attempt.effect is not None:
            done.effects.append(attempt.effect)
        if log is not None:
            log.let_go(attempt.key)

    async def _done(self, index: int, call: ToolCall) -> Done:
        context = self.caller.context(call)
        try:
            if call.name not in self.tools:
                raise UnknownToolError(self._unknown(call.name), call=call)
            execute = self._executing(index, call, context)
            run = intercepted(self.caller.driver, self.toolbox.interceptors, execute, context)
            return self._told(call, await run(call))  # what no message can hold is a failure
        except Exception as error:
            return self._told(call, await self._settled(index, call, context, error))

    def _told(self, call: ToolCall, outcome: ToolOutcome) -> Done:
        limit = self.toolbox.limits.max_tool_result_chars
        contents = outcome.contents if limit is None else shortened(outcome.contents, limit)
        result = ToolResultMessage(call.id, call.name, contents, outcome.is_error, outcome.attributes)
        return Done(call, outcome, result)

    def _broken_off(self, call: ToolCall, what: str, error: BaseException | None) -> Done:
        kind = type(error).__name__
        reason = ToolFailedError(f"the call {what}: the invocation failed ({kind})", call=call)
        return self._told(call, error_outcome(reason, call))

    async def _settled(
        self, index: int, call: ToolCall, context: ToolContext, error: Exception
    ) -> ToolOutcome:
        if index in self.raised:
            return error_outcome(error, call)
        calls = (call, *(attempt.ran for attempt in self.attempts[index]))
        settled = await settle(self.caller.driver, self.toolbox.policies, error, calls, context)
        if isinstance(settled, Raised):
            self.raised[index] = settled.error
            return settled.outcome
        return settled

    def _executing(self, index: int, call: ToolCall, context: ToolContext) -> Callable[[ToolCall], Any]:
        async def execute(asked: ToolCall) -> ToolOutcome:
            current = context if asked is call else replace(context, call=asked)
            attempt = await self._begun(index, asked, current)
            driver, executor = self.caller.driver, self.toolbox.executor
            try:
                if executor is None:
                    outcome = await run_tool(driver, attempt.tool, asked, current, attempt.watch)
                else:
                    outcome = await run_custom(driver, executor, asked, current, attempt.watch)
            except Exception:
                await self._log(index, attempt)
                raise
            if attempt.effect is not None:
                attempt.effect.text = outcome.text
            await self._log(index, attempt)
            return outcome

        return execute

    async def _begun(self, index: int, asked: ToolCall, context: ToolContext) -> Attempt:
        """A new attempt, if it may begin: what forbids it ends the invocation, whoever catches it."""
        if index in self.raised:
            raise self.raised[index]
        tool = self.tools.get(asked.name)
        if tool is None:
            raise UnknownToolError(self._unknown(asked.name), call=asked)
        log, attempts = self.caller.log, self.attempts[index]
        key = f"{self.begins + index:06d}.{len(attempts)}"
        attempt = Attempt(tool, asked, context, key, self.ledger, late=self._late, doubted=log is not None)
        attempts.append(attempt)
        if index in self.done:  # an interceptor proceeds although it was given up
            self._leave(attempt, self.done[index])
            raise ToolFailedError("nobody waits for this call any more", call=asked)
        try:
            remaining(context.deadline)
            if log is not None and tool.undo is not None:
                await log.intend(key, asked, context.idempotency_key)
        except (LimitExceededError, StoreError) as error:
            self.raised[index] = error
            raise
        return attempt

    async def _log(self, index: int, attempt: Attempt) -> None:
        if self.caller.log is None or attempt.tool.undo is None:
            return
        try:
            if attempt.effect is None:
                await self.caller.log.forget(attempt.key)
            else:
                await self.caller.log.ended(attempt.effect)
        except StoreError as error:  # it did run, and what it did can still be undone from here
            self.raised[index] = error

    def _late(self, attempt: Attempt) -> None:
        if self.caller.late is not None:
            self.caller.late(attempt)

    def _unknown(self, name: str) -> str:
        return f"there is no tool {name!r}; there are: {', '.join(self.tools) or 'none'}"

    def close(self, error: BaseException | None) -> Round:
        """Enter the round; a call that has not run, or not ended, gets a result that says so."""
        begun = bool(self.attempts)
        for index, call in enumerate(self.message.tool_calls):
            if index not in self.attempts:
                self.done[index] = self._broken_off(call, "did not run", error)
            elif index not in self.done:
                self._end(index, self._broken_off(call, "did not end", error))
        done = [self.done[index] for index in range(len(self.message.tool_calls))]
        self.ledger.requested.extend(done)
        entered = Round(self.message, tuple(each.result for each in done), begun)
        self.ledger.rounds.append(entered)
        return entered
