"""Undoing what a crashed process left behind."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError

from ..context import ToolContext
from ..driving import ASYNCHRONOUS, BLOCKING, Driver
from ..errors import ConflictError, StoreError, UnknownToolError
from ..messages import Compensation, ToolCall, ToolExecution
from ..stores import Store
from .compensating import attempt_undo
from .functions import Tool
from .leases import LEASE_SECONDS, Lease
from .log import CALLS, COMMITTED, Logged, read_logged
from .registry import ToolLike, ToolRegistry

REASON: Final = "because the process ended before the invocation did"


@dataclass(frozen=True, slots=True)
class Recovery:
    """What was found in the log: calls that are undone now, and calls that could not be undone.

    The latter stay in the log; `execution.compensation.error` says why.
    """

    undone: tuple[ToolExecution, ...]
    failed: tuple[ToolExecution, ...]


def recover(log: Store, tools: Iterable[ToolLike], *, lease_seconds: float = LEASE_SECONDS) -> Recovery:
    """Undo what crashed processes left in the log, each invocation's last call first.

    Invocations that are still alive hold a lease and are left alone, and so are those that another
    `recover` is at work on; when one is killed, its claim ends after `lease_seconds`. A call may be undone
    again when `recover` itself is killed, and a call of which only the intent is known may never have run:
    an undo whose effect must come once looks at `ToolContext.idempotency_key`. Raises `StoreError`.
    """
    return BLOCKING.run(_recover(BLOCKING, log, ToolRegistry(tools), lease_seconds))


async def arecover(
    log: Store, tools: Iterable[ToolLike], *, lease_seconds: float = LEASE_SECONDS
) -> Recovery:
    """See `recover`."""
    return await ASYNCHRONOUS.run(_recover(ASYNCHRONOUS, log, ToolRegistry(tools), lease_seconds))


async def _recover(driver: Driver, log: Store, tools: ToolRegistry, seconds: float) -> Recovery:
    keys = await driver.twin(log.keys, log.akeys, CALLS)
    executions: list[ToolExecution] = []
    for invocation_id in dict.fromkeys(key.partition("/")[0] for key in keys):
        lease = Lease(log, invocation_id, seconds)
        try:
            await driver.twin(lease.take, lease.atake)
        except ConflictError:
            continue
        try:
            executions += await _recover_one(driver, log, tools, invocation_id, lease)
        finally:
            await driver.finish(driver.twin(lease.leave, lease.aleave))
    done = [item for item in executions if item.compensation is not None and item.compensation.undone]
    return Recovery(tuple(done), tuple(item for item in executions if item not in done))


async def _recover_one(
    driver: Driver, log: Store, tools: ToolRegistry, invocation_id: str, lease: Lease
) -> list[ToolExecution]:
    """Undo what one invocation left. The log is read anew: before the lease was ours it may have changed."""
    executions = []
    for key, entry in await _left_over(driver, log, f"{invocation_id}/"):
        lease.check()
        compensation = await _undo(driver, tools, entry)
        if compensation.undone:
            await driver.twin(log.delete, log.adelete, CALLS, key)
        result = None if isinstance(entry, StoreError) else entry.result
        executions.append(ToolExecution(_call(key, entry), result, compensation=compensation))
    return executions


async def _left_over(driver: Driver, log: Store, prefix: str) -> list[tuple[str, Logged | StoreError]]:
    """The runs of an invocation, the last to end first; those without an outcome were the last of all."""
    found: dict[str, Logged | StoreError] = {}
    for key in await driver.twin(log.keys, log.akeys, CALLS, prefix):
        try:
            entry = await driver.twin(log.get, log.aget, CALLS, key)
            if entry is None:
                continue
            if key == prefix + COMMITTED:
                return await _forgotten(driver, log, prefix, entry.value["gone"])
            found[key] = read_logged(key, entry.value)
        except StoreError as error:
            found[key] = error
    return sorted(found.items(), key=_completion, reverse=True)


async def _forgotten(
    driver: Driver, log: Store, prefix: str, gone: list[str]
) -> list[tuple[str, Logged | StoreError]]:
    """What is left when the runs are forgotten of which the process had said that they succeeded."""
    for key in (*gone, prefix + COMMITTED):
        await driver.twin(log.delete, log.adelete, CALLS, key)
    return await _left_over(driver, log, prefix)


def _completion(item: tuple[str, Logged | StoreError]) -> tuple[bool, int, str]:
    key, entry = item
    order = None if isinstance(entry, StoreError) else entry.order
    return order is None, order or 0, key


async def _undo(driver: Driver, tools: ToolRegistry, entry: Logged | StoreError) -> Compensation:
    if isinstance(entry, StoreError):
        return Compensation(undone=False, reason=REASON, error=entry)
    tool = tools.get(entry.tool)
    if tool is None or tool.undo is None:
        error = UnknownToolError(
            f"no tool {entry.tool!r} with a compensation was given to recover", call=_call("", entry)
        )
        return Compensation(undone=False, reason=REASON, error=error)
    return await attempt_undo(driver, entry.tool, _prepare(tool, entry), REASON)


def _prepare(tool: Tool[..., Any], entry: Logged) -> Callable[[], Callable[[], object]]:
    def prepare() -> Callable[[], object]:
        assert tool.undo is not None
        call = _call("", entry)
        context = ToolContext(call=call, service=entry.service, idempotency_key=entry.idempotency_key)
        arguments = tool.signature.read(entry.arguments)
        return tool.undo.prepared(arguments, ToolExecution(call, _typed(tool, entry.result)), context)

    return prepare


def _call(key: str, entry: Logged | StoreError) -> ToolCall:
    if isinstance(entry, StoreError):
        return ToolCall(key, "", "")
    return ToolCall(entry.call_id, entry.tool, entry.arguments)


def _typed(tool: Tool[..., Any], result: Any) -> Any:
    """The result as the undo knows it: of the type it is annotated with, else of the one the tool returns."""
    if result is None or tool.undo is None:
        return result
    if tool.undo.result is not Any:
        return TypeAdapter(tool.undo.result).validate_python(result)
    try:
        return TypeAdapter(tool.signature.returns).validate_python(result)
    except (PydanticUserError, ValidationError):  # nobody asked for that type
        return result
