"""Agents: AI services and functions composed into systems, all on one planner loop.

An *agent* has a name, inputs that it reads from the scope by name, and an output that is written under its
`output_key`. A **leaf** does the work itself: the `@agent` method of an AI service or another object, a
function, a person. A **composite** has agents and a *planner* that decides which of them run next; it is an
agent too.

The **scope** is what the agents of one run share: named values, and the history of what has run.

The **loop** is the same for every composite: the planner gives an *action*; its calls are made, side by side
when there are several; what each gives is noted in the scope and saved; the planner is asked again. Planners
differ in what they decide, never in how calls are made, retried, heard of or saved. It is written once,
asynchronously, and driven blocking or asynchronously.

A **checkpoint** is what a store keeps of a run: the scope, the history and, for each composite that is not
done, its *frame*: what the planner remembers and which calls are not over. A run that is resumed makes the
calls that had not finished, and goes on.

Which file says what, from the bottom up:

- values: `actions`, `scope`, `outcomes`, `events`, `recovering`, `needs`, `traffic`, `places`
- what an agent is: `node`; what a planner is: `planner`, and one file for each in `planners/`
- running: `attempting` (one call), `looping` (one composite), `running` (one run)
- saving: `saving` (values), `frames` (composites), `records` (runs), `owning` (leases)
- agents: `agents` (what users hold), `leaves`, `people`, `composite`; `checking` the flow of data
- drawing: `topology` (how agents hang together), `describing` (conditions in words), `diagrams` (Mermaid)
- monitoring: `monitoring/`, a listener that keeps what it hears as trees of calls, and its page
- building: `marking` (`@agent`), `building` and `patterns` (builders), `facades` (a Protocol before a system)
- agents as models see them: `cards`, `asking`, `wording`; `supervising` how a supervisor works
"""

from .actions import Action, call, done, noop, suspend
from .agents import Agent
from .building import (
    AgentLike,
    CommonOptions,
    as_agent,
    conditional,
    loop,
    parallel,
    parallel_map,
    planned,
    sequence,
)
from .events import (
    AgentCancelled,
    AgentCompleted,
    AgentEvent,
    AgentEventListener,
    AgentFailed,
    AgentListener,
    AgentSkipped,
    AgentStarted,
    AgentSuspended,
    RunEnded,
    Where,
)
from .marking import agent
from .monitoring import CallStatus, Monitor, MonitoredCall, MonitoredRun
from .outcomes import AgentOutcome, Completed, Failed, Pending, Suspended
from .patterns import goal_oriented, peer_to_peer, supervisor
from .people import human_in_the_loop
from .planner import Planner, PlanningContext
from .recovering import ErrorContext, Recovery
from .scope import AgenticScope, AgentInvocation
from .supervising import ContextStrategy, ResponseStrategy
from .topology import Branches, Chosen, ForEach, InOrder, Rounds, SideBySide, Topology

__all__ = [
    "Action",
    "Agent",
    "AgentCancelled",
    "AgentCompleted",
    "AgentEvent",
    "AgentEventListener",
    "AgentFailed",
    "AgentInvocation",
    "AgentLike",
    "AgentListener",
    "AgentOutcome",
    "AgentSkipped",
    "AgentStarted",
    "AgentSuspended",
    "AgenticScope",
    "Branches",
    "CallStatus",
    "Chosen",
    "CommonOptions",
    "Completed",
    "ContextStrategy",
    "ErrorContext",
    "Failed",
    "ForEach",
    "InOrder",
    "Monitor",
    "MonitoredCall",
    "MonitoredRun",
    "Pending",
    "Planner",
    "PlanningContext",
    "Recovery",
    "ResponseStrategy",
    "Rounds",
    "RunEnded",
    "SideBySide",
    "Suspended",
    "Topology",
    "Where",
    "agent",
    "as_agent",
    "call",
    "conditional",
    "done",
    "goal_oriented",
    "human_in_the_loop",
    "loop",
    "noop",
    "parallel",
    "parallel_map",
    "peer_to_peer",
    "planned",
    "sequence",
    "supervisor",
    "suspend",
]
