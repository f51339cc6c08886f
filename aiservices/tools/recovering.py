"""Undoing what a crashed process left behind."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from pydantic import TypeAdapter

from ..context import ToolContext
from ..driving import ASYNCHRONOUS, BLOCKING, Driver
from ..errors import ConflictError, StoreError, UnknownToolError
from ..messages import Compensation, ToolCall, ToolExecution
from ..stores import Store
from .compensating import attempt_undo
from .functions import Tool
from .log import CALLS, Lease, Logged
from .registry import ToolLike, ToolRegistry

REASON: Final = "because the process ended before the invocation did"


@dataclass(frozen=True, slots=True)
class Recovery:
    """What was found in the log: calls that are undone now, and calls that could not be undone.

    The latter stay in the log; `execution.compensation.error` says why.
    """

    undone: tuple[ToolExecution, ...]
    failed: tuple[ToolExecution, ...]


def recover(log: Store, tools: Iterable[ToolLike]) -> Recovery:
    """Undo what crashed processes left in the log, each invocation's last call first.

    Invocations that are still alive hold a lease and are left alone, and so are those that another
    `recover` is at work on. A call may be undone again when `recover` itself is killed: an undo whose
    effect must come once looks at `ToolContext.idempotency_key`. Raises `StoreError`.
    """
    return BLOCKING.run(_recover(BLOCKING, log, ToolRegistry(tools)))


async def arecover(log: Store, tools: Iterable[ToolLike]) -> Recovery:
    """See `recover`."""
    return await ASYNCHRONOUS.run(_recover(ASYNCHRONOUS, log, ToolRegistry(tools)))


async def _recover(driver: Driver, log: Store, tools: ToolRegistry) -> Recovery:
    keys = await driver.twin(log.keys, log.akeys, CALLS)
    executions: list[ToolExecution] = []
    for invocation_id, own in groupby(keys, lambda key: key.partition("/")[0]):
        lease = Lease(log, invocation_id)
        try:
            await driver.twin(lease.take, lease.atake)
        except ConflictError:
            continue
        try:
            executions += await _recover_one(driver, log, tools, list(own))
        finally:
            await driver.twin(lease.leave, lease.aleave)
    done = [item for item in executions if item.compensation is not None and item.compensation.undone]
    return Recovery(tuple(done), tuple(item for item in executions if item not in done))


async def _recover_one(
    driver: Driver, log: Store, tools: ToolRegistry, keys: list[str]
) -> list[ToolExecution]:
    found = [await _read(driver, log, key) for key in keys]
    logged = [entry for entry in found if entry is not None]
    executions = []
    for entry in sorted(logged, key=_completion, reverse=True):
        compensation = await _undo(driver, tools, entry)
        if compensation.undone:
            await driver.twin(log.delete, log.adelete, CALLS, entry.key)
        executions.append(ToolExecution(_call(entry), entry.result, compensation=compensation))
    return executions


def _completion(entry: Logged) -> tuple[bool, int]:
    """Calls without an outcome were the last to run."""
    return entry.order is None, entry.order or 0


async def _read(driver: Driver, log: Store, key: str) -> Logged | None:
    entry = await driver.twin(log.get, log.aget, CALLS, key)
    if entry is None:
        return None
    value = dict(entry.value)
    if value.pop("format", None) != 1:
        raise StoreError(
            f"{key!r} in {CALLS!r} has a format that this version does not know", namespace=CALLS, key=key
        )
    return Logged(key, **value)


async def _undo(driver: Driver, tools: ToolRegistry, entry: Logged) -> Compensation:
    call = _call(entry)
    tool = tools.get(entry.tool)
    if tool is None or tool.undo is None:
        error = UnknownToolError(
            f"no tool {entry.tool!r} with a compensation was given to recover", call=call
        )
        return Compensation(undone=False, reason=REASON, error=error)
    context = ToolContext(call=call, service=entry.service, idempotency_key=entry.idempotency_key)
    try:
        result = _typed(tool, entry.result)
        prepared = tool.undo.prepared(
            tool.signature.read(entry.arguments), ToolExecution(call, result), context
        )
    except Exception as error:
        return Compensation(undone=False, reason=REASON, error=error)
    return await attempt_undo(driver, entry.tool, prepared, REASON)


def _call(entry: Logged) -> ToolCall:
    return ToolCall(entry.call_id, entry.tool, entry.arguments)


def _typed(tool: Tool[..., Any], result: Any) -> Any:
    """The result as the undo wants it: of the type it is annotated with, where the log has it."""
    if tool.undo is None or result is None:
        return result
    return TypeAdapter(tool.undo.result).validate_python(result)
