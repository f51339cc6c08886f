"""Agents as a model knows them: cards that describe them, and work that is assigned to them by name."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from typing_extensions import TypedDict

from outputparsers import UnsupportedTypeError, output_parser

from .fitting import read_as
from .needs import MISSING, Need
from .node import Node, listed
from .scope import AgenticScope

DONE: Final = "done"
_MOST_CHARS: Final = 100
_QUOTES: Final = "\"'`"
_BETWEEN_WORDS: Final = re.compile(r"[\s_-]+")
_BETWEEN_NAMES: Final = re.compile(r"[./:]")
_RETOLD: Final = (str, int, float, bool, list, dict, tuple, set, frozenset)


class UnusablePlanError(Exception):
    """What a model wants done cannot be done; the text tells it why."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """An agent and what is to be written to the scope for it."""

    agent: Node
    arguments: Mapping[str, Any]


class Roster:
    """The agents that a model may give work to."""

    def __init__(self, agents: Sequence[Node]) -> None:
        self._agents = tuple(agents)
        self.text = "\n".join(map(_card, agents))

    def assign(
        self, name: str, arguments: Mapping[str, Any], scope: AgenticScope, own: frozenset[str]
    ) -> Assignment:
        """The agent of a name, with arguments that fit. Raises `UnusablePlanError`.

        An argument takes the place of what is in the scope, but for objects of classes: the model knows only
        the words for them. What the model itself has written, under the keys `own`, was for one call only.
        """
        agent = self.find(name)
        known = {need.key: need for need in agent.needs}
        problems = [
            f"there is no argument {_cut(key)!r}, the arguments are {listed(agent.inputs)}"
            for key in arguments
            if key not in known
        ]
        fitting = {}
        for need in agent.needs:
            try:
                value = _value(need, arguments.get(need.key), scope, is_own=need.key in own)
            except ValueError as error:
                if need.key in arguments or not agent.optional:
                    problems.append(f"the argument {need.key!r} {error}")
            else:
                if value is not MISSING:
                    fitting[need.key] = value
        if problems:
            raise UnusablePlanError(f"{agent.name}: {'; '.join(problems)}")
        return Assignment(agent, fitting)

    def known(self, scope: AgenticScope) -> list[str]:
        """The arguments that have values of which none of the agents is the source."""
        written = {agent.output_key for agent in self._agents}
        keys = dict.fromkeys(key for agent in self._agents for key in agent.inputs)
        return [key for key in keys if key not in written and scope.has(key)]

    def find(self, name: str) -> Node:
        """The agent of a name: as it is, else however it is written, else by the last part, if one has it."""
        for reading in (str, _plain, _short):
            found = [agent for agent in self._agents if reading(agent.name) == reading(name)]
            if len(found) == 1:
                return found[0]
        names = listed([agent.name for agent in self._agents])
        raise UnusablePlanError(f"there is no agent {_cut(name)!r}, the agents are {names}")


def is_done(name: str) -> bool:
    """Whether what stands in place of an agent's name ends the work."""
    return _plain(name) == DONE


def roster_problems(agents: Sequence[Node]) -> list[str]:
    """Names that a model could not tell apart."""
    written = Counter(_plain(agent.name) for agent in agents)
    problems = [
        f"{count} agents are called {name!r}, and a model could not tell them apart: give each its own name"
        for name, count in written.items()
        if count > 1
    ]
    problems += [
        f"an agent is called {agent.name!r}, which is how the model ends its work: give it another name"
        for agent in agents
        if is_done(agent.name)
    ]
    return problems


def roster_remarks(agents: Sequence[Node]) -> tuple[str, ...]:
    """Agents that a model can know only by their names."""
    return tuple(
        f"{agent.name!r} has no description, so the model knows only its name"
        for agent in agents
        if not agent.description.strip()
    )


def _value(need: Need, given: Any, scope: AgenticScope, *, is_own: bool) -> Any:
    """What is to be written under a key: `MISSING` where what is there stays, `None` where it goes.

    Raises `ValueError` saying what is wrong with the argument.
    """
    present = MISSING if is_own else scope.peek(need.key, MISSING)
    if given is not None:
        return MISSING if _stays(need, present) else _fitting(need, given, "does not fit")
    if present is not MISSING:
        _fitting(need, present, "is known already, but does not fit")
    elif is_own or not scope.has(need.key):
        if need.required:
            raise ValueError("is missing, and no agent has written it")
        return None if is_own else MISSING
    return MISSING


def _stays(need: Need, present: Any) -> bool:
    """Whether it is an object that fits."""
    if present is MISSING or isinstance(present, _RETOLD):
        return False
    try:
        read_as(need.hint, present)
    except ValueError:
        return False
    return True


def _fitting(need: Need, value: Any, complaint: str) -> Any:
    try:
        return read_as(need.hint, value)
    except ValueError as error:
        raise ValueError(f"{complaint}: {error}") from error


def _card(agent: Node) -> str:
    described = {need.key: _schema(need) for need in agent.needs}
    asked = {key: schema for key, schema in described.items() if schema is not None}
    card: dict[str, Any] = {"name": agent.name, "description": agent.description, "arguments": asked}
    optional = [need.key for need in agent.needs if not need.required and need.key in asked]
    if optional:
        card["optional"] = optional
    if agent.output_key is not None:
        card["writes"] = agent.output_key
    return json.dumps(card, ensure_ascii=False)


def _schema(need: Need) -> dict[str, Any] | None:
    """What a model is asked for; `None` for what only another agent can give."""
    form = TypedDict("arguments", {need.key: need.hint})  # type: ignore[misc]
    try:
        whole = output_parser(form).json_schema() or {}
    except UnsupportedTypeError:
        return None
    schema: dict[str, Any] = whole["properties"][need.key]
    return schema | {"$defs": whole["$defs"]} if "$defs" in whole else schema


def _plain(name: str) -> str:
    return _BETWEEN_WORDS.sub(" ", name.strip().strip(_QUOTES)).strip().casefold()


def _short(name: str) -> str:
    return _plain(_BETWEEN_NAMES.split(name.strip().strip(_QUOTES))[-1])


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_CHARS else f"{text[:_MOST_CHARS]}..."
