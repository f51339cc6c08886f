"""How tools are run, and on whose behalf."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final

from ..context import InvocationParameters, ToolContext
from ..driving import Driver
from ..messages import ToolCall
from .attempts import Attempt
from .execution import Interceptor, ToolExecutor
from .ledger import Done
from .limits import DEFAULT_LIMITS, Limits
from .log import CompensationLog
from .policies import Policies


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolbox:
    """How an invocation runs tools: decided when the service was created."""

    executor: ToolExecutor | None = None
    interceptors: tuple[Interceptor, ...] = ()
    limits: Limits = DEFAULT_LIMITS
    policies: Policies = field(default_factory=Policies)
    parallel: bool = True


DEFAULT_TOOLBOX: Final = Toolbox()


async def _nobody_reads() -> None:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """On whose behalf tools are run.

    `started` and `finished` are told of each call, in the thread that runs it; `flush` lets whoever reads
    along hear of it before anything else happens. `late` is told of a run that
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
    flush: Callable[[], Awaitable[None]] = _nobody_reads
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
