"""How a system of agents hangs together, as boxes within boxes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from ..describing import shortened, told_branches, told_rounds
from ..node import Node
from ..topology import Branches, Chosen, ForEach, InOrder, Rounds, SideBySide, Topology
from .texts import readable


@dataclass(frozen=True, slots=True)
class Box:
    """An agent as the page draws it: `kind` arranges its parts, `told` says how; each part has its label."""

    kind: str
    name: str
    description: str
    inputs: str
    output_key: str
    told: str
    tags: tuple[str, ...]
    parts: tuple[tuple[str, Box], ...]


def box_of(agent: Node) -> Box:
    """The box of an agent and of all that it is composed of."""
    kind, told, labels = _arranged(agent.topology, len(agent.agents))
    marks = {
        "a person": agent.is_person,
        "optional": agent.optional,
        "in the background": agent.background,
    }
    return Box(
        kind="person" if agent.is_person else kind,
        name=readable(agent.name),
        description=readable(shortened(agent.description, 120)),
        inputs=readable(", ".join(agent.inputs)),
        output_key=readable(agent.output_key or ""),
        told=readable(told),
        tags=tuple(tag for tag, holds in marks.items() if holds),
        parts=tuple(
            (readable(label), box_of(part)) for label, part in zip(labels, agent.agents, strict=True)
        ),
    )


def _arranged(topology: Topology | None, agents: int) -> tuple[str, str, list[str]]:
    """The kind of arrangement, in words how it works, and a label for each part."""
    plain = [""] * agents
    match topology:
        case None:
            return "leaf", "", plain
        case InOrder():
            return "column", "one after another", plain
        case SideBySide():
            return "row", "side by side", plain
        case ForEach(items):
            return "row", f"for each of {items}, side by side", plain
        case Rounds():
            return "column", f"↺ {', '.join(told_rounds(topology))}", plain
        case Branches():
            which = "the first whose condition holds" if topology.first_match else "all whose conditions hold"
            return "row", which, told_branches(topology, agents)
        case Chosen(by):
            return "row", f"as {by or 'the planner'} decides", plain
        case _:
            assert_never(topology)
