"""Channels: the parts of a state, and how an update changes each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import copy, deepcopy
from dataclasses import dataclass
from typing import Any, Final, get_args

from pydantic import TypeAdapter

from ..errors import AgentError, ConfigurationError
from ..invocation import changed
from ..messages import ChatMessage, FrozenMapping, messages_from_json, messages_to_json
from .state import FIELDS, NO_CHANNELS, AgentState, StopReason


@dataclass(frozen=True, slots=True)
class Channel:
    """A part of the state that hooks write.

    - `reducer`: a function of the old and the new value; without one the new value takes the place of the
      old. The first value written to a channel without default is not reduced, and neither is a list or
      another object that an update hands back as the state holds it.
    - `default`: the value before anything is written, or a function without arguments that makes it.
    - `kind`: the type of the value; a checkpoint then keeps anything pydantic can turn into JSON and back.
    """

    reducer: Callable[[Any, Any], Any] | None = None
    default: Any = None
    kind: Any = None

    def initial(self) -> Any:
        """The value before anything is written."""
        return self.default() if callable(self.default) else deepcopy(self.default)

    def reduced(self, old: Any, new: Any) -> Any:
        return new if self.reducer is None or old is None else self.reducer(old, new)

    def plain(self, value: Any) -> Any:
        """The value as JSON values. Raises `ValueError` for one that is not of the kind."""
        if self.kind is None or value is None:
            return value
        if self._is_message:
            return messages_to_json((value,))
        return TypeAdapter(self.kind).dump_python(value, mode="json", warnings="error")

    def typed(self, value: Any) -> Any:
        """The value behind JSON values. Raises `ValueError` for what is not of the kind."""
        if self.kind is None or value is None:
            return value
        return (
            messages_from_json(value)[0]
            if self._is_message
            else TypeAdapter(self.kind).validate_python(value)
        )

    @property
    def _is_message(self) -> bool:
        return isinstance(self.kind, type) and issubclass(self.kind, ChatMessage)


Given = Mapping[str, "Channel | Callable[[Any, Any], Any] | None"]


class Channels:
    """The user's channels. Raises `ConfigurationError` for a name that is taken, and what is no channel."""

    def __init__(self, given: Given | None) -> None:
        problems: list[str] = []
        self.user: dict[str, Channel] = {}
        entries: Mapping[str, Any] = given or {}
        for name, item in entries.items():
            if name in FIELDS or name in dir(AgentState):
                problems.append(f"channels: {name!r} is the name of a part that every state has")
            elif isinstance(item, Channel):
                self.user[name] = item
            elif item is None or callable(item):
                self.user[name] = Channel(item)
            else:
                problems.append(f"channels: {name!r} is a {type(item).__name__}: give Channel(...)")
        if problems:
            raise ConfigurationError(problems)

    def initial(self) -> Mapping[str, Any]:
        if not self.user:
            return NO_CHANNELS
        return FrozenMapping({name: channel.initial() for name, channel in self.user.items()})

    def updated(self, state: AgentState, update: object, where: str) -> AgentState:
        """The state after an update. Raises `ConfigurationError` beginning with `where` for a bad one."""
        if not isinstance(update, Mapping):
            raise ConfigurationError(f"{where}: an update is a mapping of channels, not {_kind(update)}")
        changes: dict[str, Any] = {}
        mine: dict[str, Any] = {}
        for name, value in update.items():
            if name in _READ:
                changes[name] = _READ[name](value, state, where)
            elif name in self.user:
                mine[name] = value
            else:
                known = ", ".join((*_READ, *self.user))
                raise ConfigurationError(f"{where}: there is no channel {name!r}; there are: {known}")
        if mine:
            changes["channels"] = self._reduced(state, mine)
        return changed(state, **changes)

    def copied(self, state: AgentState) -> AgentState:
        """The state with copies of the user's values: what happens to those later does not matter to it."""
        if not self.user:
            return state
        values = {name: _copied(name, value, state) for name, value in state.channels.items()}
        return changed(state, channels=FrozenMapping(values))

    def plain(self, name: str, value: Any) -> Any:
        """A value of the user's as JSON values. Raises `ValueError` for one that is not of its kind."""
        return self.user[name].plain(value)

    def typed(self, values: Mapping[str, Any], thread_id: str) -> Mapping[str, Any]:
        """The user's values behind JSON values; a channel that is new has its initial value."""
        read = dict(self.initial())
        for name, value in values.items():
            if name in self.user:
                try:
                    read[name] = self.user[name].typed(value)
                except (ValueError, TypeError) as error:
                    raise AgentError(
                        f"thread {thread_id!r}: the channel {name!r} holds what its kind forbids: {error}"
                    ) from error
        return FrozenMapping(read) if read else NO_CHANNELS

    def _reduced(self, state: AgentState, update: Mapping[str, Any]) -> Mapping[str, Any]:
        values = dict(state.channels)
        for name, value in update.items():
            if not _is_echo(value, values.get(name)):
                try:
                    values[name] = self.user[name].reduced(values.get(name), value)
                except Exception as error:
                    error.add_note(f"raised by the reducer of the channel {name!r}")
                    raise
        return FrozenMapping(values)


def _is_echo(value: Any, old: Any) -> bool:
    """Whether an update hands back the state's own object.

    Plain values are one object wherever they come from, as 1 is in all of Python: they count as written.
    """
    return value is old and copy(value) is not value


def _copied(name: str, value: Any, state: AgentState) -> Any:
    try:
        return deepcopy(value)
    except Exception as error:
        raise AgentError(
            f"thread {state.thread_id!r}: the channel {name!r} holds a {type(value).__name__}, "
            f"which cannot be copied ({type(error).__name__}: {error})"
        ) from error


def _messages(given: Any, state: AgentState, where: str) -> tuple[ChatMessage, ...]:
    added = () if given is state.messages else messages_of(given, where)  # an echo changes nothing
    return (*state.messages, *added)


_KINDS: Final = frozenset(get_args(ChatMessage))


def messages_of(given: Any, where: str) -> tuple[ChatMessage, ...]:
    """One message or several. Raises `ConfigurationError` beginning with `where` for anything else."""
    added: tuple[Any, ...]
    if type(given) is tuple:  # nearly always, so not asked what else it might be
        added = given
    elif isinstance(given, ChatMessage) or not isinstance(given, Iterable):
        added = (given,)
    else:
        added = tuple(given)
    for item in added:
        if type(item) not in _KINDS and not isinstance(item, ChatMessage):
            raise ConfigurationError(
                f"{where}: messages are those of a conversation, such as UserMessage, not {_kind(item)}"
            )
    return added


def _text(given: Any, state: AgentState, where: str) -> str | None:
    if given is not None and not isinstance(given, str):
        raise ConfigurationError(f"{where}: final_response is a text or None, not {_kind(given)}")
    return given


def _ids(given: Any, state: AgentState, where: str) -> tuple[str, ...]:
    ids = (given,) if isinstance(given, str) else tuple(given or ())
    if not all(isinstance(id, str) for id in ids):
        raise ConfigurationError(f"{where}: active_skills are texts")
    return tuple(dict.fromkeys(ids))


def _reason(given: Any, state: AgentState, where: str) -> StopReason | None:
    try:
        return None if given is None else StopReason(given)
    except ValueError:
        raise ConfigurationError(f"{where}: stop_reason is {given!r}, which is no StopReason") from None


_READ: Final[Mapping[str, Callable[[Any, AgentState, str], Any]]] = {
    "messages": _messages,
    "final_response": _text,
    "active_skills": _ids,
    "stop_reason": _reason,
}


def _kind(value: object) -> str:
    return f"a {type(value).__name__}"
