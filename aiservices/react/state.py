"""The state of a thread: what nodes read and what they leave behind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import FrozenInstanceError, dataclass, field
from enum import StrEnum
from typing import Any, ClassVar, Final, TypeAlias

from ..events import Restarted
from ..invocation import changed
from ..messages import ChatMessage, Content, FrozenMapping, ModelEvent, ToolCall, UserMessage

Said: TypeAlias = str | UserMessage | Content | Iterable[ChatMessage]
"""What begins a turn: a text, a message or contents of the user, or several messages."""


class StopReason(StrEnum):
    """Why a run stopped.

    `FINAL`: the model answered. `MAX_STEPS`: it was asked as often as allowed. `LENGTH`, `CONTENT_FILTER`:
    its answer was cut off, or withheld. `INTERRUPTED`: calls wait for somebody to decide. `LIMIT`: one of
    the `Limits` ended the run, which raised. `IMMEDIATE`: tools answered in the model's place.
    """

    FINAL = "final"
    MAX_STEPS = "max_steps"
    LENGTH = "length"
    CONTENT_FILTER = "content_filter"
    INTERRUPTED = "interrupted"
    LIMIT = "limit"
    IMMEDIATE = "immediate"


NO_CHANNELS: Final[FrozenMapping[Any]] = FrozenMapping()


@dataclass(frozen=True)  # without slots, for `changed`
class AgentState:
    """A thread at one moment.

    - `messages`: the conversation, without the system message.
    - `final_response`: the text that ended the last run; `None` while one is under way.
    - `active_skills`: ids of skills, in the order in which they were activated.
    - `pending`: calls that wait for a decision.
    - `stop_reason`: why the last run stopped; `None` while one is under way.
    - `channels`: the values of the user's channels, which are also read as `state["name"]` and `state.name`.
    - `value`: the final response as the type that `response_format` names, where it names one.
    """

    thread_id: str
    messages: tuple[ChatMessage, ...] = ()
    final_response: str | None = None
    active_skills: tuple[str, ...] = ()
    pending: tuple[ToolCall, ...] = ()
    stop_reason: StopReason | None = None
    channels: Mapping[str, Any] = field(default=NO_CHANNELS, hash=False)
    value: Any = field(default=None, hash=False)
    # What keeps an unnamed thread alive, and is no part of the state: a thread lasts as long as one of its
    # states is held.
    _kept: ClassVar[object] = None

    def replace(self, **changes: Any) -> AgentState:
        """The same state with other fields or channels. Raises `TypeError` for a name that is neither."""
        strange = [name for name in changes if name not in FIELDS and name not in self.channels]
        if strange:
            raise TypeError(f"a state has no {', '.join(map(repr, strange))}")
        given = {name: value for name, value in changes.items() if name in FIELDS}
        mine = {name: value for name, value in changes.items() if name not in FIELDS}
        if mine:
            given["channels"] = FrozenMapping({**given.get("channels", self.channels), **mine})
        return changed(self, **given)

    def __getitem__(self, name: str) -> Any:
        """The value of a channel, also of those that every state has. Raises `KeyError`."""
        return getattr(self, name) if name in FIELDS else self.channels[name]

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and name not in FIELDS:
            try:
                return self.channels[name]
            except KeyError:
                pass
        raise AttributeError(f"the state has no channel {name!r}", name=name, obj=self)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_kept": None}


FIELDS: Final = (
    "thread_id",
    "messages",
    "final_response",
    "active_skills",
    "pending",
    "stop_reason",
    "channels",
    "value",
)


def _refuse(state: AgentState, name: str, value: object) -> None:
    raise FrozenInstanceError(
        f"a state is frozen: give {name!r} in the update of a hook, or take state.replace({name}=...)"
    )


# What dataclasses write does not say how to come to another state.
AgentState.__setattr__ = _refuse  # type: ignore[method-assign, assignment]


def kept_by(state: AgentState, keeper: object) -> AgentState:
    """The state, which keeps something alive."""
    return changed(state, _kept=keeper)


@dataclass(frozen=True, slots=True)
class NodeOutput:
    """What a stream gives: the state when a node is done, or an `event` of the model within a node.

    `Restarted` says that the answer of the node, as far as it was shown, is void: it is asked for again.
    """

    node: str
    state: AgentState
    event: ModelEvent | Restarted | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A checkpoint: the state after `node`, what comes `next`, and the `version` to resume from."""

    state: AgentState
    node: str
    next: str
    version: int
