"""One round: the calls of an answer are run, and every one of them gets a result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ..context import InvocationParameters, ToolContext
from ..driving import Driver
from ..errors import LimitExceededError, StoreError, ToolFailedError, UnknownToolError
from ..messages import NO_USAGE, AiMessage, TokenUsage, ToolCall, ToolResultMessage
from .execution import Interceptor, ToolExecutor, intercepted, run_custom, run_tool
from .functions import Tool
from .ledger import Done, Ledger, Round
from .limits import DEFAULT_LIMITS, Limits, check_tokens
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

    `started` and `finished` are told of each call, in the thread that runs it.
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
) -> Round:
    """Run the calls of an answer and enter the round in the ledger.

    Raises what a policy raises, and `LimitExceededError`; the round is entered all the same, each call with
    a result, also when the invocation is cancelled meanwhile.
    """
    message = with_unique_ids(message, {done.call.id for done in ledger.requested})
    runner = _Runner(message, tools, toolbox, caller, ledger)
    try:
        check_tokens(toolbox.limits, usage)
        runner.check_limits()
        await runner.run()
    except BaseException as error:
        runner.close(error)
        raise
    entered = runner.close(None)
    if runner.raised:
        raise runner.raised[min(runner.raised)]
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
        self.message, self.tools, self.toolbox, self.caller, self.ledger = (
            message,
            tools,
            toolbox,
            caller,
            ledger,
        )
        self.done: dict[int, Done] = {}
        self.ran: dict[int, ToolCall] = {}
        self.raised: dict[int, BaseException] = {}

    def check_limits(self) -> None:
        limits, ledger = self.toolbox.limits, self.ledger
        _check("max_round_trips", len(ledger.rounds) + 1, limits.max_round_trips, self.message)
        for call in self.message.tool_calls:
            ledger.counts[call.name] = ledger.counts.get(call.name, 0) + 1
            _check("max_calls_per_tool", ledger.counts[call.name], limits.max_calls_per_tool, self.message)
        _check("max_tool_calls", sum(ledger.counts.values()), limits.max_tool_calls, self.message)

    async def run(self) -> None:
        calls = enumerate(self.message.tool_calls)
        limit = self.toolbox.limits.max_parallel_tools if self.toolbox.parallel else 1
        await self.caller.driver.gather([self._run(index, call) for index, call in calls], limit=limit)

    async def _run(self, index: int, call: ToolCall) -> None:
        tool, context = self.tools.get(call.name), self.caller.context(call)
        self.caller.started(call)
        outcome = await self._outcome(index, tool, call, context)
        done = Done(call, tool, outcome, context, self.ran.get(index, call))
        self.done[index] = done
        self.ledger.done.append(done)
        if self.caller.log is not None:
            await self._log_end(index, done)
        self.caller.finished(done)

    async def _log_end(self, index: int, done: Done) -> None:
        assert self.caller.log is not None
        try:
            await self.caller.log.ended(self._position(index), done)
        except StoreError as error:  # it did run, and what it did can still be undone from here
            self.raised[index] = error

    def _position(self, index: int) -> int:
        """The number of a call within the invocation."""
        return len(self.ledger.requested) + index

    async def _outcome(
        self, index: int, tool: Tool[..., Any] | None, call: ToolCall, context: ToolContext
    ) -> ToolOutcome:
        driver, policies = self.caller.driver, self.toolbox.policies
        try:
            if tool is None:
                raise UnknownToolError(self._unknown(call.name), call=call)
            return await self._execute(index, tool, call, context)
        except (LimitExceededError, StoreError) as error:
            settled: ToolOutcome | Raised = Raised(error, error_outcome(error, call))
        except Exception as error:
            settled = await settle(driver, policies, error, call, context)
        if isinstance(settled, Raised):
            self.raised[index] = settled.error
            return settled.outcome
        return settled

    async def _execute(
        self, index: int, tool: Tool[..., Any], call: ToolCall, context: ToolContext
    ) -> ToolOutcome:
        driver, executor = self.caller.driver, self.toolbox.executor

        async def execute(asked: ToolCall) -> ToolOutcome:
            self.ran[index] = asked
            if self.caller.log is not None and tool.undo is not None:
                await self.caller.log.intend(self._position(index), asked, context.idempotency_key)
            current = context if asked is call else replace(context, call=asked)
            if executor is not None:
                return await run_custom(driver, executor, asked, current)
            return await run_tool(driver, tool, asked, current)

        return await intercepted(driver, self.toolbox.interceptors, execute, context)(call)

    def _unknown(self, name: str) -> str:
        return f"there is no tool {name!r}; there are: {', '.join(self.tools) or 'none'}"

    def close(self, error: BaseException | None) -> Round:
        """Enter the round; a call that has not ended gets a result that says so."""
        limit = self.toolbox.limits.max_tool_result_chars
        results = []
        for index, call in enumerate(self.message.tool_calls):
            done = self.done.get(index) or self._not_run(call, error)
            self.ledger.requested.append(done)
            contents = done.outcome.contents if limit is None else shortened(done.outcome.contents, limit)
            results.append(
                ToolResultMessage(
                    call.id, call.name, contents, done.outcome.is_error, dict(done.outcome.attributes)
                )
            )
        entered = Round(self.message, tuple(results))
        self.ledger.rounds.append(entered)
        return entered

    def _not_run(self, call: ToolCall, error: BaseException | None) -> Done:
        reason = ToolFailedError(f"the call did not end: the invocation failed ({type(error).__name__})")
        return Done(call, None, error_outcome(reason, call), self.caller.context(call), call)


def with_unique_ids(message: AiMessage, taken: set[str]) -> AiMessage:
    """The message with an id of its own for every call, and `{}` for arguments that say nothing.

    Some providers give no ids, repeat them, or count anew in each answer; results are found by id.
    """
    calls = []
    for call in message.tool_calls:
        unique, number = call.id or "call", 2
        while unique in taken:
            unique, number = f"{call.id or 'call'}-{number}", number + 1
        taken.add(unique)
        arguments = call.arguments if (call.arguments or "").strip() not in ("", "null", '""') else "{}"
        changed = unique != call.id or arguments != call.arguments
        calls.append(replace(call, id=unique, arguments=arguments) if changed else call)
    return replace(message, tool_calls=tuple(calls))


def _check(limit: str, count: int, most: int | None, message: AiMessage) -> None:
    if most is not None and count > most:
        names = ", ".join(dict.fromkeys(call.name for call in message.tool_calls))
        raise LimitExceededError(
            f"the model asked for more than Limits.{limit}={most} allows (it asked for {names})",
            limit=limit,
        )
