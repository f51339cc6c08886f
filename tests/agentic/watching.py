"""What the tests of the monitor share."""

from __future__ import annotations

from typing import Any

from aiservices.agentic import (
    Agent,
    Monitor,
    MonitoredCall,
    agent,
    sequence,
)


def tree(call: MonitoredCall) -> Any:
    """Names and what became of them."""
    told = f"{call.agent} {call.status.value}"
    return (told, *map(tree, call.calls)) if call.calls else told


def quick(monitor: Monitor, fails: str = "") -> Agent:
    """A run of one step that gives its number, or fails."""

    @agent
    def step(number: int) -> int:
        if fails:
            raise ValueError(fails)
        return number

    return sequence(step, listeners=[monitor])
