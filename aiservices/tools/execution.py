"""How one call is run: the executor, and the interceptors around it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Sequence
from inspect import iscoroutine
from typing import Any, Protocol, TypeAlias

from ..context import ToolContext
from ..driving import Driver, Watch
from ..messages import ToolCall
from .functions import Tool
from .outcomes import ToolOutcome, outcome_of

Ready: TypeAlias = Callable[[Driver], Coroutine[Any, Any, ToolOutcome]]
Execute: TypeAlias = Callable[[ToolCall], Coroutine[Any, Any, ToolOutcome]]


class ToolExecutor:
    """Runs calls of tools that are in the registry. A subclass overrides `execute` or `aexecute`.

    What it raises is what the tool raised. Overriding neither is a `TypeError` when the class is created.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.execute is ToolExecutor.execute and cls.aexecute is ToolExecutor.aexecute:
            raise TypeError(f"{cls.__name__} overrides neither execute nor aexecute: an executor needs one")

    def execute(self, call: ToolCall, context: ToolContext) -> ToolOutcome:
        """Run a call, blocking."""
        raise NotImplementedError

    async def aexecute(self, call: ToolCall, context: ToolContext) -> ToolOutcome:
        """Run a call."""
        raise NotImplementedError


class ToolInterceptor(Protocol):
    """Something around every call: audit, approval, limits, rewriting.

    `around(call, context, proceed)` is sync or async; `proceed(call)` gives the `ToolOutcome`, and is
    awaited exactly when `around` is async. Raising `ToolError` blocks the call and tells the model why.
    """

    def around(self, call: ToolCall, context: ToolContext, proceed: Callable[[ToolCall], Any], /) -> Any: ...


class DrivenInterceptor(ABC):
    """An interceptor written once for blocking and asynchronous services: it asks the driver it is given."""

    @abstractmethod
    async def drive(
        self, driver: Driver, call: ToolCall, context: ToolContext, proceed: Execute
    ) -> ToolOutcome:
        """Run the call, run another, or raise; `await proceed(call)` goes on."""


Interceptor: TypeAlias = ToolInterceptor | DrivenInterceptor


def ready_executor(executor: ToolExecutor, call: ToolCall, context: ToolContext, watch: Watch) -> Ready:
    """A call for the user's executor, by the half that it overrides."""
    blocking = type(executor).execute is not ToolExecutor.execute
    asynchronous = type(executor).aexecute is not ToolExecutor.aexecute

    async def run(driver: Driver) -> ToolOutcome:
        if blocking and asynchronous:
            halves = watch.over(executor.execute), watch.over(executor.aexecute)
            outcome: object = await driver.twin(*halves, call, context)
        else:
            half = executor.execute if blocking else executor.aexecute
            outcome = await driver.call(watch.over(half), call, context)
        return _checked(outcome, f"{type(executor).__name__}.{'execute' if blocking else 'aexecute'}")

    return run


def ready_tool(tool: Tool[..., Any], call: ToolCall, context: ToolContext, watch: Watch) -> Ready:
    """A call of a tool's function, whose value becomes an outcome. Raises `ToolArgumentsError`."""
    arguments = tool.signature.read(call.arguments)
    ready = watch.over(tool.signature.call(tool.execute, arguments, context))

    async def run(driver: Driver) -> ToolOutcome:
        running = driver.call(ready)
        return outcome_of(await (running if tool.timeout is None else driver.within(tool.timeout, running)))

    return run


def intercepted(
    driver: Driver, interceptors: Sequence[Interceptor], execute: Execute, context: ToolContext
) -> Execute:
    """The execution with the interceptors around it, the first outermost."""
    for interceptor in reversed(interceptors):
        execute = _around(driver, interceptor, execute, context)
    return execute


def _around(driver: Driver, interceptor: Interceptor, execute: Execute, context: ToolContext) -> Execute:
    async def run(call: ToolCall) -> ToolOutcome:
        if isinstance(interceptor, DrivenInterceptor):
            outcome: object = await interceptor.drive(driver, call, context, execute)
            return _checked(outcome, f"{type(interceptor).__name__}.drive")
        outcome = await driver.around(interceptor.around, (call, context), execute)
        return _checked(outcome, f"{type(interceptor).__name__}.around")

    return run


def _checked(outcome: object, where: str) -> ToolOutcome:
    if isinstance(outcome, ToolOutcome):
        return outcome
    if iscoroutine(outcome):
        outcome.close()
    raise TypeError(f"{where} gave a {type(outcome).__name__}, not a ToolOutcome")
