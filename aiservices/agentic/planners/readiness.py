"""When an agent is ready: its inputs are there, and one has changed since it ran."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from ..needs import MISSING
from ..node import Node
from ..scope import AgenticScope


class Readiness:
    """What each agent has read when it was called last.

    Values are kept as they were then: an agent may change a list in place and give it again.
    """

    def __init__(self) -> None:
        self._seen: dict[str, dict[str, Any]] = {}

    def ready(self, agents: Sequence[Node], scope: AgenticScope) -> list[Node]:
        """The agents whose inputs are there, and that have not run yet with what these are now."""
        return [each for index, each in enumerate(agents) if self._is_ready(index, each, scope)]

    def called(self, agent: Node, agents: Sequence[Node], scope: AgenticScope) -> None:
        """Note that an agent is called with its inputs as they are."""
        index = next(index for index, each in enumerate(agents) if each is agent)
        self._seen[str(index)] = {key: _copied(value) for key, value in _inputs(agent, scope).items()}

    def _is_ready(self, index: int, agent: Node, scope: AgenticScope) -> bool:
        present = _inputs(agent, scope)
        if any(need.required and need.key not in present for need in agent.needs):
            return False
        seen = self._seen.get(str(index))
        return seen is None or not _are_equal(seen, present)

    def state(self) -> Any:
        return {index: {**seen} for index, seen in self._seen.items()}

    def restore(self, state: Any) -> None:
        self._seen = {index: {**seen} for index, seen in state.items()}


def _inputs(agent: Node, scope: AgenticScope) -> dict[str, Any]:
    found = {key: scope.peek(key, MISSING) for key in agent.inputs}
    return {key: value for key, value in found.items() if value is not MISSING}


def _copied(value: Any) -> Any:
    try:
        return deepcopy(value)
    except Exception:  # of a class of the user's; then only another object counts as a change
        return value


def _are_equal(one: dict[str, Any], other: dict[str, Any]) -> bool:
    try:
        return bool(one == other)
    except Exception:  # arrays have no truth of their own
        return False
