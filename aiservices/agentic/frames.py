"""What a composite was doing: what its planner remembers, and the calls that are not over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import AgentError
from .actions import Action, Call, Done, Gathered, Noop, Step, Suspend
from .node import Node
from .saving import Codec
from .scope import AgentInvocation


@dataclass(slots=True, eq=False)
class Open:
    """A call that its planner has asked for and that is not settled yet.

    `told` is what the planner wanted when it heard that this one had finished; it takes effect when all that
    run beside it have ended. Of a background agent it has `heard` already, when that has only begun, and
    `seen` are the values that such an agent was called with.
    """

    number: int
    index: int
    arguments: Mapping[str, Any] | None = None
    finished: AgentInvocation | None = None
    told: Action | None = None
    heard: bool = False
    seen: Mapping[str, Any] | None = None
    waiting: bool = False
    running: bool = False

    @property
    def is_to_run(self) -> bool:
        return self.finished is None and not self.waiting and not self.running


@dataclass(slots=True, eq=False)
class Frame:
    """The state of one run of one composite."""

    planner: Any = None
    number: int = 0
    opens: list[Open] = field(default_factory=list)
    last: tuple[int, Any] = (-1, None)
    ended: Done | None = None
    suspended: bool = False

    def begin(self, step: Step, index: int) -> None:
        """Note a call that is to be made."""
        self.opens.append(Open(self.number, index, step.arguments))
        self.number += 1

    def note(self, number: int, output: Any) -> None:
        """Note the output of a call, if no later one has given any."""
        if number >= self.last[0]:
            self.last = (number, output)

    def encoded(self, codec: Codec, agents: Sequence[Node]) -> dict[str, Any]:
        """The stored form. Raises `AgentError` naming what cannot be stored."""
        return {
            "planner": codec.encode(self.planner, "the planner's execution_state()"),
            "number": self.number,
            "last": [self.last[0], codec.encode(self.last[1], "the last output")],
            "ended": None if self.ended is None else _written(self.ended, codec, agents),
            "suspended": self.suspended,
            "opens": [_written_open(each, codec, agents) for each in self.opens],
        }


def decoded(form: Mapping[str, Any], codec: Codec, agents: Sequence[Node], path: str) -> Frame:
    """The frame behind a stored form. Raises `AgentError` when the composite has other agents now."""
    frame = Frame(codec.decode(form["planner"]), form["number"], suspended=form["suspended"])
    frame.last = (form["last"][0], codec.decode(form["last"][1]))
    frame.opens = [_read_open(each, codec, agents, path) for each in form["opens"]]
    if form["ended"] is not None:
        ended = _read(form["ended"], codec, agents, path)
        assert isinstance(ended, Done)
        frame.ended = ended
    return frame


def _written_open(each: Open, codec: Codec, agents: Sequence[Node]) -> dict[str, Any]:
    done = each.finished
    return {
        "number": each.number,
        "agent": [each.index, agents[each.index].name],
        "arguments": _written_arguments(each.arguments, codec),
        "finished": None if done is None else written_invocation(done, codec),
        "told": None if each.told is None else _written(each.told, codec, agents),
        "heard": each.heard,
        "seen": _written_arguments(each.seen, codec),
    }


def _read_open(form: Mapping[str, Any], codec: Codec, agents: Sequence[Node], path: str) -> Open:
    return Open(
        form["number"],
        _index(form["agent"], agents, path),
        _read_arguments(form["arguments"], codec),
        None if form["finished"] is None else read_invocation(form["finished"], codec),
        None if form["told"] is None else _read(form["told"], codec, agents, path),
        form["heard"],
        _read_arguments(form["seen"], codec),
    )


def written_invocation(done: AgentInvocation, codec: Codec, written: str | None = None) -> dict[str, Any]:
    """The stored form. Raises `AgentError` naming what cannot be stored."""
    inputs = {
        key: codec.encode(value, f"{done.path}: the input {key!r}") for key, value in done.inputs.items()
    }
    name = "its output" if written is None else f"its output {written!r}"
    output = codec.encode(done.output, f"{done.path}: {name}")
    return {"agent": done.agent, "path": done.path, "inputs": inputs, "output": output}


def read_invocation(form: Mapping[str, Any], codec: Codec) -> AgentInvocation:
    """The invocation behind a stored form."""
    inputs = {key: codec.decode(value) for key, value in form["inputs"].items()}
    return AgentInvocation(form["agent"], form["path"], inputs, codec.decode(form["output"]))


def _written_arguments(arguments: Mapping[str, Any] | None, codec: Codec) -> Any:
    if arguments is None:
        return None
    return {key: codec.encode(value, f"the argument {key!r}") for key, value in arguments.items()}


def _read_arguments(form: Any, codec: Codec) -> dict[str, Any] | None:
    return None if form is None else {key: codec.decode(value) for key, value in form.items()}


def _written(action: Action, codec: Codec, agents: Sequence[Node]) -> dict[str, Any]:
    match action:
        case Call(steps):
            return {
                "do": "call",
                "steps": [
                    [
                        [index_of(step.agent, agents), agents[index_of(step.agent, agents)].name],
                        _written_arguments(step.arguments, codec),
                    ]
                    for step in steps
                ],
            }
        case Done(value, reason):
            gathered = value.value if isinstance(value, Gathered) else None
            form = None if gathered else codec.encode(value, "the value of done()")
            return {"do": "done", "gathered": gathered, "value": form, "reason": reason}
        case Noop():
            return {"do": "noop"}
        case Suspend():
            return {"do": "suspend"}


def _read(form: Mapping[str, Any], codec: Codec, agents: Sequence[Node], path: str) -> Action:
    match form["do"]:
        case "call":
            return Call(
                tuple(
                    Step(agents[_index(agent, agents, path)], _read_arguments(arguments, codec))
                    for agent, arguments in form["steps"]
                )
            )
        case "done":
            gathered = form["gathered"]
            value = codec.decode(form["value"]) if gathered is None else Gathered(gathered)
            return Done(value, form["reason"])
        case "suspend":
            return Suspend()
        case _:
            return Noop()


def _index(form: Sequence[Any], agents: Sequence[Node], path: str) -> int:
    index, name = form
    if index >= len(agents) or agents[index].name != name:
        raise AgentError(
            f"{path}: the saved run called {name!r} as agent {index + 1}, and now that is another: "
            "the system was changed meanwhile, so restart the run",
            agent=path.rpartition("/")[2],
        )
    return int(index)


def index_of(given: Any, agents: Sequence[Node]) -> int:
    """The place of an agent among those of a composite. Raises `LookupError` for a stranger."""
    for index, agent in enumerate(agents):
        if agent is given:
            return index
    for index, agent in enumerate(agents):
        if agent.is_given(given):
            return index
    raise LookupError(given)
