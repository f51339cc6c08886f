"""Running a call again when it failed."""

from __future__ import annotations

from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt, wait_exponential, wait_random

from ...context import ToolContext
from ...driving import Driver
from ...errors import LimitExceededError, ToolArgumentsError, ToolError
from ...messages import ToolCall
from ..execution import DrivenInterceptor, Execute
from ..outcomes import ToolOutcome


class RetryCalls(DrivenInterceptor):
    """Runs calls of these tools again when they raise, `attempts` times in all, waiting longer each time.

    A tool may have done its work and failed afterwards: name only tools that can be run twice, or that look
    at `ToolContext.idempotency_key`, which is the same in each attempt. A `ToolError` and arguments that do
    not fit are not tried again. `wait` is the first pause, in seconds.
    """

    def __init__(self, *names: str, attempts: int = 3, wait: float = 0.1) -> None:
        if not names:
            raise ValueError("RetryCalls needs the names of tools that can safely be run twice")
        if attempts < 1:
            raise ValueError(f"attempts is {attempts}: give 1 or more")
        self.names = frozenset(names)
        self.attempts = attempts
        self.wait = wait

    async def drive(
        self, driver: Driver, call: ToolCall, context: ToolContext, proceed: Execute
    ) -> ToolOutcome:
        if call.name not in self.names:
            return await proceed(call)
        retrying = AsyncRetrying(
            sleep=driver.sleep,
            stop=stop_after_attempt(self.attempts),
            wait=wait_exponential(multiplier=self.wait) + wait_random(0, self.wait),
            retry=retry_if_exception(_may_be_tried_again),
            reraise=True,
        )
        return await retrying(proceed, call)


def _may_be_tried_again(error: BaseException) -> bool:
    hopeless = ToolError | ToolArgumentsError | LimitExceededError
    return isinstance(error, Exception) and not isinstance(error, hopeless)
