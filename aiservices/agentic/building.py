"""The builders: sequence, parallel, parallel_map, loop, conditional, planned."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import FrameType, GenericAlias
from typing import Any, Literal, TypeAlias, TypedDict, TypeVar, overload

from typing_extensions import TypeForm, Unpack

from ..errors import ConfigurationError
from ..guessing import listing
from ..stores import Store
from ..tools.annotations import names_around, parameters_of
from .agents import Agent
from .composite import Composite, CompositeOptions, Plan
from .facades import agent_behind, facade
from .leaves import Leaf, leaf_of
from .looping import checked_planner
from .node import nodes
from .planner import Planner
from .planners.conditional import ConditionalPlanner, Predicate
from .planners.loop import LoopPlanner
from .planners.mapping import MappingPlanner
from .planners.parallel import ParallelPlanner
from .planners.sequence import SequencePlanner
from .scope import AgenticScope
from .topology import Branches, ForEach, InOrder, Rounds, SideBySide, topology_of
from .traffic import and_written, for_each, in_any_order, in_order, one_of, repeated, side_by_side

T = TypeVar("T")
AgentLike: TypeAlias = "Agent | Callable[..., Any] | object"
"""What a builder takes: agents, services and other objects with one `@agent` method, functions."""
Branch: TypeAlias = "tuple[Predicate, AgentLike] | AgentLike"


class CommonOptions(TypedDict, total=False):
    """What every builder takes.

    - `name`: its own in paths, events and errors; the word for the pattern by default. `description`: for
      those who choose among agents.
    - `output_key`: where its value is written. `output`: a function of the scope that makes its value.
    - `before`: a function of the scope that is called before anything else, as to write defaults.
    - `on_error`: a function of the `ErrorContext` that gives a `Recovery`, for the agents within.
    - `listeners`: callables of one event, or objects with `on_event`, for all that happens within.
    - `store`: a `Store` that keeps runs that have a `memory_id`.
    - `timeout`: seconds that it may take; agents that are running then fail with `TimeoutError`.
    - `compensate`: whether what the tools of its services have done is undone when it fails or is cancelled,
      the last first, also of agents that had succeeded; it then begins anew when it is resumed.
    """

    name: str | None
    description: str
    output_key: str | None
    output: Callable[[AgenticScope], Any] | None
    before: Callable[[AgenticScope], Any] | None
    on_error: Callable[..., Any] | None
    listeners: Sequence[Any]
    store: Store | None
    timeout: float | None
    compensate: bool


def as_agent(given: AgentLike, names: Mapping[str, Any] | None = None) -> Agent:
    """The agent that something is: a service or object with one `@agent` method, a function, or an agent.

    `names` are those that annotations may use beside their module's. Raises `ConfigurationError`.
    """
    if isinstance(given, Agent):
        return given
    return agent_behind(given) or leaf_of(given, names or {})


@overload
def sequence(*agents: AgentLike, service: TypeForm[T], **options: Unpack[CommonOptions]) -> T: ...
@overload
def sequence(*agents: AgentLike, **options: Unpack[CommonOptions]) -> Agent: ...
def sequence(*agents: Any, service: Any = None, **options: Any) -> Any:
    """One agent after another; the value is the last one's.

    With `service=`, a Protocol with one method, it is an object of that Protocol. For the other options see
    `CommonOptions`. Raises `ConfigurationError` with every mistake in the flow of data.
    """
    made = agents_of(agents, frame := sys._getframe(1))
    last = made[-1].output_type if made else Any
    plan = Plan(
        pattern="sequence",
        make_planner=SequencePlanner,
        flow=in_order,
        output_type=last,
        topology=InOrder(),
    )
    return built(plan, made, options, service, frame)


@overload
def parallel(*agents: AgentLike, service: TypeForm[T], **options: Unpack[CommonOptions]) -> T: ...
@overload
def parallel(*agents: AgentLike, **options: Unpack[CommonOptions]) -> Agent: ...
def parallel(*agents: Any, service: Any = None, **options: Any) -> Any:
    """All agents side by side; the value is what `output` makes of the scope, else `None`. See `sequence`."""
    made = agents_of(agents, frame := sys._getframe(1))
    plan = Plan(pattern="parallel", make_planner=ParallelPlanner, flow=side_by_side, topology=SideBySide())
    return built(plan, made, options, service, frame)


@overload
def parallel_map(
    agent: AgentLike, items: str, *, service: TypeForm[T], **options: Unpack[CommonOptions]
) -> T: ...
@overload
def parallel_map(agent: AgentLike, items: str, **options: Unpack[CommonOptions]) -> Agent: ...
def parallel_map(agent: Any, items: str, *, service: Any = None, **options: Any) -> Any:
    """An agent for each item of the list under the key `items`, side by side.

    The item is the agent's first input. The value is the list of what they give, in the order of the items;
    what they write to the scope is seen by none but themselves. See `sequence`.
    """
    (made,) = agents_of([agent], frame := sys._getframe(1))
    if not (isinstance(items, str) and items.strip()):
        raise ConfigurationError(f"parallel_map: items is {items!r}: give the key of the list, a text")
    needs = sorted(made.needs, key=lambda need: not need.required)
    problems = []
    if not needs:
        problems.append(f"parallel_map: {made.name!r} takes no input that an item could be")
    problems += [
        f"parallel_map: {node.name!r} remembers conversations, which its items would share: use a service "
        "without memory"
        for node in nodes(made)
        if isinstance(node, Leaf) and node.remembers
    ]
    if problems:
        raise ConfigurationError(problems)
    item, name = needs[0].key, options.get("name") or "parallel_map"
    plan = Plan(
        pattern="parallel_map",
        make_planner=partial(MappingPlanner, items, item),
        flow=for_each(items, item, name),
        output_type=GenericAlias(list, (made.output_type,)),
        topology=ForEach(items),
    )
    return built(plan, [made], options, service, frame)


@overload
def loop(
    *agents: AgentLike,
    service: TypeForm[T],
    max_iterations: int = 10,
    until: Callable[..., Any] | None = None,
    check: Literal["each_agent", "round_end"] = "each_agent",
    **options: Unpack[CommonOptions],
) -> T: ...
@overload
def loop(
    *agents: AgentLike,
    max_iterations: int = 10,
    until: Callable[..., Any] | None = None,
    check: Literal["each_agent", "round_end"] = "each_agent",
    **options: Unpack[CommonOptions],
) -> Agent: ...
def loop(
    *agents: Any,
    service: Any = None,
    max_iterations: int = 10,
    until: Callable[..., Any] | None = None,
    check: Literal["each_agent", "round_end"] = "each_agent",
    **options: Any,
) -> Any:
    """The agents in order, again and again; the value is the last one's.

    It ends when `until(scope)` or `until(scope, iteration)` is true, asked after each agent or at the end of
    each round, or after `max_iterations` rounds, which is no error: `stop_reason` is `condition` or `limit`.
    Iterations count from 1. Raises `ValueError` for fewer than one. See `sequence`.
    """
    made = agents_of(agents, frame := sys._getframe(1))
    if isinstance(max_iterations, bool) or not isinstance(max_iterations, int) or max_iterations < 1:
        raise ValueError(f"max_iterations is {max_iterations!r}: give a whole number above 0")
    if check not in ("each_agent", "round_end"):
        raise ConfigurationError(f"loop: check is {check!r}: give 'each_agent' or 'round_end'")
    each_agent = check == "each_agent"
    asked = None if until is None else with_count(until)
    plan = Plan(
        pattern="loop",
        make_planner=partial(LoopPlanner, max_iterations, asked, each_agent=each_agent),
        flow=repeated(leaves_early=each_agent and until is not None),
        output_type=made[-1].output_type if made and (until is None or not each_agent) else Any,
        reads_scope=until is not None,
        topology=Rounds(max_iterations, until, each_agent),
    )
    return built(plan, made, options, service, frame)


@overload
def conditional(
    *branches: Branch,
    service: TypeForm[T],
    otherwise: AgentLike | None = None,
    first_match: bool = False,
    **options: Unpack[CommonOptions],
) -> T: ...
@overload
def conditional(
    *branches: Branch,
    otherwise: AgentLike | None = None,
    first_match: bool = False,
    **options: Unpack[CommonOptions],
) -> Agent: ...
def conditional(
    *branches: Any,
    service: Any = None,
    otherwise: Any = None,
    first_match: bool = False,
    **options: Any,
) -> Any:
    """Every agent whose predicate holds, side by side; with `first_match` only the first of them.

    A branch is `(predicate, agent)`, the predicate a sync or async function of the scope; an agent alone
    always runs. Where none matches, `otherwise` runs; without it the value is `None`. See `sequence`.
    """
    frame = sys._getframe(1)
    pairs = [each if isinstance(each, tuple) else (None, each) for each in branches]
    _check_branches(pairs, otherwise, first_match=first_match)
    agents = [agent for _, agent in pairs] + ([] if otherwise is None else [otherwise])
    predicates = [predicate for predicate, _ in pairs]
    made = agents_of(agents, frame)
    always = otherwise is not None or None in predicates
    plan = Plan(
        pattern="conditional",
        make_planner=partial(ConditionalPlanner, predicates, first_match=first_match),
        flow=one_of(always=always),
        output_type=made[0].output_type if len({str(each.output_type) for each in made}) == 1 else Any,
        reads_scope=True,
        topology=Branches(tuple(predicates), first_match),
    )
    return built(plan, made, options, service, frame)


@overload
def planned(
    planner: Callable[[], Planner],
    *agents: AgentLike,
    service: TypeForm[T],
    **options: Unpack[CommonOptions],
) -> T: ...
@overload
def planned(
    planner: Callable[[], Planner], *agents: AgentLike, **options: Unpack[CommonOptions]
) -> Agent: ...
def planned(planner: Any, *agents: Any, service: Any = None, **options: Any) -> Any:
    """The agents as a planner of yours decides: a class, or a function that makes one for each run.

    A `functools.partial` of a class gives it options. See `Planner` and `sequence`.
    """
    made = agents_of(agents, frame := sys._getframe(1))
    if isinstance(planner, Planner) or not callable(planner):
        raise ConfigurationError(
            f"planned: {planner!r} cannot make a planner for each run: give the class, or a function"
        )
    plan = Plan(
        pattern="planned",
        make_planner=checked_planner(planner),
        flow=and_written(_writes_of(planner), in_any_order),
        reads_scope=True,
        topology=topology_of(planner),
    )
    return built(plan, made, options, service, frame)


def built(
    plan: Plan,
    agents: Sequence[Agent],
    options: Mapping[str, Any],
    service: Any = None,
    frame: FrameType | None = None,
) -> Any:
    """The composite of a plan, behind a Protocol where one is given. Raises `ConfigurationError`.

    `frame` is the user's, for names in annotations of the Protocol.
    """
    known = CommonOptions.__annotations__
    unknown = [name for name in options if name not in known]
    if unknown:
        raise ConfigurationError(
            f"{plan.pattern}: unknown option {name!r}: {listing(name, known)}" for name in unknown
        )
    made = Composite(plan, agents, CompositeOptions(**options))
    if service is None:
        return made
    return facade(service, made, {} if frame is None else frame.f_locals)


def agents_of(given: Sequence[Any], frame: FrameType) -> list[Agent]:
    """The agents of a composite. Raises `ConfigurationError` with all that are none."""
    names, made, problems = names_around(frame), [], list[str]()
    for each in given:
        try:
            made.append(as_agent(each, names))
        except ConfigurationError as error:
            problems.extend(error.problems)
    if problems:
        raise ConfigurationError(problems)
    return made


def with_count(until: Callable[..., Any]) -> Callable[[AgenticScope, int], Any]:
    """The condition as a function of the scope and a number, where it may take the scope alone."""
    if not callable(until):
        raise ConfigurationError(f"until is {until!r}: give a function of the scope")
    try:
        parameters = parameters_of(until)
    except (TypeError, ValueError):
        return lambda scope, iteration: until(scope)
    positional = [
        each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
    ]
    wanted = [each for each in positional if each.default is each.empty]
    if len(wanted) > 1 or any(each.kind is each.VAR_POSITIONAL for each in parameters):
        return until
    return lambda scope, iteration: until(scope)


def _writes_of(planner: Any) -> frozenset[str]:
    """What the planners of a factory write, where that can be told without making one."""
    made = planner.func if isinstance(planner, partial) else planner
    return frozenset(getattr(made, "writes", ()))


def _check_branches(pairs: Sequence[Any], otherwise: Any, *, first_match: bool) -> None:
    problems = []
    for index, pair in enumerate(pairs, start=1):
        if len(pair) != 2:
            problems.append(f"conditional: branch {index} is {pair!r}: give (predicate, agent)")
        elif pair[0] is not None and not callable(pair[0]):
            problems.append(f"conditional: the predicate of branch {index} is {pair[0]!r}: give a function")
    always = [index for index, pair in enumerate(pairs, start=1) if pair and pair[0] is None]
    if always and otherwise is not None:
        problems.append(f"conditional: branch {always[0]} always runs, so otherwise is never reached")
    if first_match and always and always[0] < len(pairs):
        problems.append(
            f"conditional: branch {always[0]} always matches, so the branches after it are never reached"
        )
    if problems:
        raise ConfigurationError(problems)
