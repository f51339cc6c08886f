"""What the planner loop knows of an agent, whatever kind it is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from .events import AgentEvent
from .needs import Need
from .places import Place
from .recovering import ErrorContext
from .scope import AgenticScope
from .topology import Topology
from .traffic import Traffic, Want

Heard: TypeAlias = Callable[[AgentEvent], object]
OnError: TypeAlias = Callable[[ErrorContext], Any]


@dataclass(frozen=True, slots=True)
class Here:
    """Where a call takes place: its run, its scope, its place in the tree, and who listens and helps there.

    `handlers` are the nearest first. `deadline` is the moment, by `time.monotonic`, at which it must have
    ended. `seen` is what the scope held for an agent in the background when it was called, by key: values,
    and promises of what others are to write before it; what comes after the call may write the same keys.
    """

    run: Any
    scope: AgenticScope
    place: Place
    listeners: tuple[Heard, ...] = ()
    handlers: tuple[OnError, ...] = ()
    deadline: float | None = None
    seen: Mapping[str, Any] | None = None


class Node(ABC):
    """An agent: a name, what it reads and writes, and how it is performed.

    `needs` are the keys that it reads, `output_type` is what it gives (`Any` where that is unknown), `agents`
    are those that it is composed of, and `topology` tells how they hang together. `reads_scope` where it may
    read keys that are not among its needs, `wants_memory_id` where it speaks for a conversation, whose id is
    that of the run, `is_person` where a person answers. `remarks` are what is odd
    about it without being a mistake.
    """

    name: str
    description: str
    output_key: str | None = None
    output_type: Any = Any
    optional: bool = False
    background: bool = False
    is_composite: bool = False
    is_person: bool = False
    reads_scope: bool = False
    wants_memory_id: bool = False
    topology: Topology | None = None
    remarks: tuple[str, ...] = ()
    agents: tuple[Node, ...] = ()
    listeners: tuple[Heard, ...] = ()

    @property
    @abstractmethod
    def needs(self) -> tuple[Need, ...]:
        """What it reads from outside."""

    @property
    def inputs(self) -> tuple[str, ...]:
        """The keys that it reads, in order."""
        return tuple(need.key for need in self.needs)

    def traffic(self) -> Traffic:
        """What it reads and writes, for the check of the flow of data."""
        wants = tuple(
            Want(each.key, each.hint, self.name, required=each.required and not self.optional)
            for each in self.needs
        )
        written = frozenset(() if self.output_key is None else (self.output_key,))
        late = written if self.background else frozenset()
        return Traffic(wants, frozenset() if self.optional else written, written, late=late)

    @abstractmethod
    async def perform(self, here: Here, inputs: Mapping[str, Any]) -> Any:
        """Do the work and give the output. Raises `Waiting` when it waits for an answer."""

    def is_given(self, source: object) -> bool:
        """Whether a planner that names `source` means this agent."""
        return self is source


class Waiting(Exception):  # noqa: N818 - it is no error
    """A part of the run waits for an answer. It passes through composites and reaches no user's code."""


def listed(names: Sequence[str]) -> str:
    """Names for an error message."""
    return ", ".join(map(repr, names)) or "none"


def nodes(root: Node) -> Iterator[Node]:
    """An agent and all that it is composed of."""
    yield root
    for child in root.agents:
        yield from nodes(child)
