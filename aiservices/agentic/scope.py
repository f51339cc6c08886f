"""What the agents of one run share: named values, and the history of what was done."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from ..driving import Promise

Numbers: TypeAlias = tuple[int, ...]
"""The place of a call in the tree of calls: the number of each call within the one around it."""

_REMOVED: Final = object()


@dataclass(frozen=True, slots=True)
class AgentInvocation:
    """An agent that has run. `path` is its name below those of the agents around it, joined by slashes."""

    agent: str
    path: str
    inputs: Mapping[str, Any] = field(hash=False)
    output: Any


class History:
    """What has run, by place. It reads as if agents side by side had run one after another."""

    __slots__ = ("_composites", "by_place")

    def __init__(self) -> None:
        self.by_place: dict[Numbers, AgentInvocation] = {}
        self._composites: set[Numbers] = set()

    def add(self, place: Numbers, invocation: AgentInvocation, *, composite: bool) -> None:
        self.by_place[place] = invocation
        if composite:
            self._composites.add(place)

    def ordered(self) -> tuple[AgentInvocation, ...]:
        return tuple(self.by_place[place] for place in sorted(self.by_place, key=_after_its_parts))

    def below(self, place: Numbers) -> list[AgentInvocation]:
        """The calls right below a place, in the order in which they were asked for."""
        wanted, depth = self.by_place, len(place) + 1
        found = [each for each in wanted.copy() if len(each) == depth and each[:-1] == place]
        return [wanted[each] for each in sorted(found)]

    def outputs(self, place: Numbers, calls: int) -> list[Any]:
        """What each of so many calls right below a place gave; `None` of one that was skipped."""
        found = (self.by_place.get((*place, number)) for number in range(calls))
        return [None if each is None else each.output for each in found]

    def leaves(self) -> tuple[AgentInvocation, ...]:
        places = sorted(self.by_place, key=_after_its_parts)
        return tuple(self.by_place[place] for place in places if place not in self._composites)

    def forget(self, place: Numbers) -> None:
        """Forget what ran below a place."""
        depth = len(place)
        for each in [each for each in self.by_place if len(each) > depth and each[:depth] == place]:
            del self.by_place[each]
            self._composites.discard(each)


def _after_its_parts(place: Numbers) -> tuple[float, ...]:
    return (*place, math.inf)


class AgenticScope:
    """Named values that the agents of a run read and write, and what has run so far.

    A key that a background agent is still to write is waited for where an agent's parameter or `read` wants
    it, in a thread; in asynchronous code take it as a parameter.
    """

    __slots__ = ("_delayed", "_history", "_noted", "_outer", "_state")

    def __init__(
        self,
        state: Mapping[str, Any] | None = None,
        *,
        outer: AgenticScope | None = None,
    ) -> None:
        self._state: dict[str, Any] = {}
        self._outer = outer
        self._noted: Callable[[str, Any], None] | None = None
        self._history: History = outer._history if outer is not None else History()
        self._delayed: dict[str, Promise] = {}
        for key, value in (state or {}).items():
            self.write(key, value)

    def read(self, key: str, default: Any = None) -> Any:
        """The value of a key, or the default where there is none."""
        promise = self.promise_of(key)
        if promise is not None:
            promise.wait()
        return self.peek(key, default)

    def peek(self, key: str, default: Any = None) -> Any:
        """The value of a key as it is now."""
        found = self._state.get(key, self)
        if found is self:
            return default if self._outer is None else self._outer.peek(key, default)
        return default if found is _REMOVED else found

    def write(self, key: str, value: Any) -> None:
        """Give a key a value; `None` removes it.

        In a run that is saved, raises `AgentError` naming the key of a value that cannot be saved. Raises
        `TypeError` for a key that is no text.
        """
        if not isinstance(key, str):
            raise TypeError(f"the keys of a scope are texts, and {key!r} is none")
        if self._noted is not None:
            self._noted(key, value)
        if value is not None:
            self._state[key] = value
        elif self._outer is not None:
            self._state[key] = _REMOVED
        else:
            self._state.pop(key, None)

    def has(self, key: str) -> bool:
        """Whether a key has a value now, or is about to be given one by a background agent."""
        return self.promise_of(key) is not None or self.peek(key, self) is not self

    @property
    def state(self) -> dict[str, Any]:
        """All values by key, in a copy."""
        outer = {} if self._outer is None else self._outer.state
        merged = outer | self._state
        return {key: value for key, value in merged.items() if value is not _REMOVED}

    @property
    def invocations(self) -> tuple[AgentInvocation, ...]:
        """What has run, in order; agents side by side in the order in which they were called."""
        return self._history.ordered()

    def conversation(self, *names: str) -> str:
        """What agents were given and what they answered, as lines of a dialogue; of all, or of those named.

        Each exchange is `User: <inputs>` and `<agent> agent: <output>`.
        """
        history = self._history
        chosen = (
            [each for each in history.ordered() if each.agent in names] if names else list(history.leaves())
        )
        return "\n".join(line for each in chosen for line in _lines(each))

    def delay(self, key: str) -> Promise:
        """Announce that a background agent will write a key."""
        promise = self._delayed[key] = Promise()
        return promise

    def arrived(self, key: str, promise: Promise) -> None:
        """What a background agent was to write has been written."""
        if self._delayed.get(key) is promise:  # else a later one is to write it again
            del self._delayed[key]

    def promise_of(self, key: str) -> Promise | None:
        """What to wait for before a key is read, if anything."""
        promise = self._delayed.get(key)
        if promise is not None:
            return promise
        return None if self._outer is None or key in self._state else self._outer.promise_of(key)

    def saved_by(self, noted: Callable[[str, Any], None]) -> None:
        """Have each write noted from now on, before it takes effect."""
        self._noted = noted

    @property
    def history(self) -> History:
        return self._history

    def __repr__(self) -> str:
        return f"AgenticScope({', '.join(self.state)})"


def _lines(invocation: AgentInvocation) -> list[str]:
    given = invocation.inputs
    if len(given) == 1:
        said = str(next(iter(given.values())))
    else:
        said = ", ".join(f"{key}: {value}" for key, value in given.items())
    answer = f"{invocation.agent} agent: {invocation.output}"
    return [f"User: {said}", answer] if said else [answer]
