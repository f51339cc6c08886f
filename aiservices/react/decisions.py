"""What a person decides about a call that waits."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, assert_never

from ..errors import AgentError, ToolArgumentsError
from ..messages import ToolCall
from ..tools import ToolRegistry


@dataclass(frozen=True, slots=True)
class Approve:
    """The call runs as the model wrote it."""


@dataclass(frozen=True, slots=True)
class Refuse:
    """The call does not run; the model is told so, with the reason where there is one."""

    reason: str = ""


@dataclass(frozen=True, slots=True)
class Edit:
    """The call runs with other arguments: a mapping, or JSON text."""

    arguments: Mapping[str, Any] | str = field(hash=False)

    @property
    def text(self) -> str:
        """The arguments as JSON text."""
        given = self.arguments
        return given if isinstance(given, str) else json.dumps(dict(given), ensure_ascii=False)


Decision: TypeAlias = Approve | Refuse | Edit
Decisions: TypeAlias = Decision | Mapping[str, Decision]
"""A decision about the one call that waits, or decisions by call id."""


def read_decisions(given: object, pending: Sequence[ToolCall], thread_id: str) -> dict[str, Decision]:
    """The decisions by call id. Raises `AgentError` for what decides nothing, or nothing that waits."""
    where = f"thread {thread_id!r}"
    waiting = ", ".join(f"{call.id!r} ({call.name})" for call in pending) or "nothing"
    if not pending:
        raise AgentError(f"{where}: no call waits for a decision")
    if isinstance(given, Decision):
        if len(pending) > 1:
            raise AgentError(f"{where}: several calls wait, so decide by call id: {waiting}")
        given = {pending[0].id: given}
    if not isinstance(given, Mapping):
        raise AgentError(
            f"{where}: a decision is Approve(), Refuse() or Edit(arguments), or a mapping from call ids to "
            f"these, not a {type(given).__name__}"
        )
    unknown = [id for id in given if id not in {call.id for call in pending}]
    if unknown:
        raise AgentError(f"{where}: no call {unknown[0]!r} waits; these do: {waiting}")
    for id, decision in given.items():
        _check(decision, f"{where}, call {id!r}")
    return dict(given)


def check_edits(
    decisions: Mapping[str, Decision], pending: Sequence[ToolCall], tools: ToolRegistry, thread_id: str
) -> None:
    """Raises `AgentError` for edited arguments that the tool does not take."""
    for call in pending:
        edit, tool = decisions.get(call.id), tools.get(call.name)
        if isinstance(edit, Edit) and tool is not None:
            try:
                tool.signature.read(edit.text)
            except ToolArgumentsError as error:
                raise AgentError(f"thread {thread_id!r}, call {call.id!r}: once edited, {error}") from error


def _check(decision: object, where: str) -> None:
    if not isinstance(decision, Decision):
        raise AgentError(f"{where}: {decision!r} is no decision: give Approve(), Refuse() or Edit(arguments)")
    if isinstance(decision, Refuse) and not isinstance(decision.reason, str):
        raise AgentError(f"{where}: the reason of a refusal is a text, not {decision.reason!r}")
    if isinstance(decision, Edit):
        try:
            json.loads(decision.text)
        except (TypeError, ValueError) as error:
            raise AgentError(f"{where}: the edited arguments are no JSON ({error})") from error


def decided(call: ToolCall, decision: Decision) -> ToolCall | str:
    """The call that is to run, or what the model is told instead."""
    match decision:
        case Approve():
            return call
        case Edit():
            return ToolCall(call.id, call.name, decision.text, call.attributes)
        case Refuse(reason):
            return f"The call of '{call.name}' was not approved{f': {reason}' if reason else '.'}"
        case _:
            assert_never(decision)


def decision_to_json(decision: Decision) -> dict[str, Any]:
    """The decision as JSON values."""
    match decision:
        case Approve():
            return {"kind": "approve"}
        case Refuse(reason):
            return {"kind": "refuse", "reason": reason}
        case Edit():
            return {"kind": "edit", "arguments": decision.text}
        case _:
            assert_never(decision)


def decision_from_json(form: Mapping[str, Any]) -> Decision:
    """The decision behind JSON values. Raises `ValueError` for a form that this version does not know."""
    match form:
        case {"kind": "approve"}:
            return Approve()
        case {"kind": "refuse", "reason": str(reason)}:
            return Refuse(reason)
        case {"kind": "edit", "arguments": str(arguments)}:
            return Edit(arguments)
        case _:
            raise ValueError("it holds a decision of an unknown kind")
