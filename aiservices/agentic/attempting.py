"""Calling one agent: its inputs from the scope, what helps when it fails, and what listeners hear."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..driving import Promise
from ..errors import AgentError, MissingInputError
from ..guessing import nearest
from ..metering import Meter, metered
from .events import (
    AgentCancelled,
    AgentCompleted,
    AgentFailed,
    AgentSkipped,
    AgentStarted,
    AgentSuspended,
    tell,
)
from .fitting import read_as
from .needs import MISSING, Need
from .node import Here, Node, Waiting, listed, nodes
from .recovering import MOST_ATTEMPTS, ErrorContext, Fail, Replace, Retry, pause_after
from .scope import AgenticScope


@dataclass(frozen=True, slots=True)
class Attempted:
    """How a call ended: with an output, or not made at all."""

    inputs: Mapping[str, Any]
    output: Any
    skipped: bool = False


class _SkippedError(Exception):
    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


async def attempt(agent: Node, here: Here) -> Attempted:
    """Call an agent until it succeeds or nobody helps any more. Raises what it raised last, or `Waiting`."""
    number = 0
    while True:
        number += 1
        try:
            return await _attempt(agent, here, number)
        except Waiting:
            raise
        except Exception as error:
            answer = await _answered(agent, here, error, number)
            if isinstance(answer, Replace):
                return Attempted(_present(agent, here), answer.value)
            if not isinstance(answer, Retry):
                raise
        here.run.forget(here.place.numbers, history=True)
        await here.run.driver.sleep(pause_after(number))
        here = _seeing_anew(here)


async def _attempt(agent: Node, here: Here, number: int) -> Attempted:
    run, listeners = here.run, here.listeners
    if not run.is_heard(listeners):
        try:
            inputs = await inputs_of(agent, here)
        except _SkippedError:
            return _skipped(agent, here)
        return Attempted(inputs, await agent.perform(here, inputs))
    return await _told(agent, here, number)


async def _told(agent: Node, here: Here, number: int) -> Attempted:
    """The same, and listeners hear of it."""
    run, listeners, where = here.run, here.listeners, here.run.where(agent.name, here.place)
    began, meter = time.monotonic(), Meter()
    try:
        with metered() as meter:
            inputs = await inputs_of(agent, here)
            await run.tell(listeners, AgentStarted(where, inputs, number))
            output = await agent.perform(here, inputs)
    except _SkippedError as skip:
        await run.tell(listeners, AgentSkipped(where, skip.key))
        return _skipped(agent, here)
    except Waiting:
        own = (f"{here.place.path}/", f"{here.place.path}#")
        waiting = tuple(each for each in run.pending if each.id.startswith(own))
        seconds = time.monotonic() - began
        await run.tell(listeners, AgentSuspended(where, waiting, seconds, meter.usage))
        raise
    except Exception as error:
        seconds = time.monotonic() - began
        await run.tell(listeners, AgentFailed(where, error, seconds, number, meter.usage))
        raise
    except BaseException:
        tell(listeners, AgentCancelled(where, time.monotonic() - began, number, meter.usage))
        raise
    seconds = time.monotonic() - began
    await run.tell(listeners, AgentCompleted(where, output, seconds, meter.usage))
    return Attempted(inputs, output)


def _skipped(agent: Node, here: Here) -> Attempted:
    """An optional agent without its inputs: what it would have written stays as it is."""
    key = agent.output_key
    return Attempted({}, None if key is None else here.scope.peek(key), skipped=True)


def seen_by(agent: Node, scope: AgenticScope) -> dict[str, Any]:
    """What there is for an agent now, by key: values, and promises of what others are still to write."""
    return {need.key: scope.promise_of(need.key) or scope.peek(need.key, MISSING) for need in agent.needs}


def _seeing_anew(here: Here) -> Here:
    """For another attempt: who has helped may have written what was missing."""
    if here.seen is None:
        return here
    seen = {
        key: value if isinstance(value, Promise) else here.scope.peek(key, MISSING)
        for key, value in here.seen.items()
    }
    return replace(here, seen=seen)


async def inputs_of(agent: Node, here: Here) -> dict[str, Any]:
    """What an agent is given, by key. Waits for what a background agent is still to give.

    Raises `MissingInputError` naming a key that nobody has given, `AgentError` for a value that does not fit.
    """
    scope, inputs = here.scope, {}
    seen = dict(seen_by(agent, scope) if here.seen is None else here.seen)
    for key, value in seen.items():
        if isinstance(value, Promise):
            given = await value.kept(here.run.driver)  # the key may have another value by now
            seen[key] = scope.peek(key, MISSING) if given is None else given
    for need in agent.needs:
        value = seen.get(need.key, MISSING)
        if value is not MISSING:
            inputs[need.key] = value if agent.is_composite else _fitting(agent, need, value)
        elif need.required and not agent.is_composite:
            if agent.optional:
                raise _SkippedError(need.key)
            raise missing(here.run.root, here.scope, agent.name, need.key)
    return inputs


def _fitting(agent: Node, need: Need, value: Any) -> Any:
    try:
        return read_as(need.hint, value)
    except ValueError as error:
        raise AgentError(
            f"{agent.name}: its input {need.key!r} is a {type(value).__name__} that does not fit: {error}",
            agent=agent.name,
        ) from error


def _present(agent: Node, here: Here) -> dict[str, Any]:
    found = {key: here.scope.peek(key, MISSING) for key in agent.inputs}
    return {key: value for key, value in found.items() if value is not MISSING}


async def _answered(agent: Node, here: Here, error: Exception, number: int) -> Any:
    """What the handlers decide, the nearest first; `None` when they leave it to fail."""
    run = here.run
    if any(error is each for each in run.surrendered):
        return None
    for handler in here.handlers:
        context = ErrorContext(agent.name, error, here.scope, number, here.place.path)
        answer = await run.driver.call(handler, context)
        if not isinstance(answer, Retry | Replace | Fail | None):
            raise AgentError(
                f"on_error gave {answer!r} for the error of {agent.name!r}: give Recovery.retry(), "
                "Recovery.result(value) or Recovery.fail()",
                agent=agent.name,
            ) from error
        if isinstance(answer, Replace) or (isinstance(answer, Retry) and number < MOST_ATTEMPTS):
            return answer
    run.surrendered.append(error)
    error.add_note(f"in the agent {here.place.path}")
    return None


def missing_memory_id(agent: str) -> MissingInputError:
    """The error for a run that has no id where an agent speaks for a conversation."""
    return MissingInputError(
        f"the agent {agent!r} speaks for a conversation: give memory_id= to name it",
        agent=agent,
        key="memory_id",
    )


def missing(root: Node, scope: AgenticScope, agent: str, key: str) -> MissingInputError:
    """The error for a key that nobody has given, with those who could have produced it."""
    producers = sorted({node.name for node in nodes(root) if node.output_key == key and node.name != agent})
    give = "so give it as an input"
    if key == "memory_id":
        give = "and memory_id= names the run: annotate the parameter as Annotated[..., MemoryId] to get that"
    return MissingInputError(
        f"the agent {agent!r} needs {key!r}, which is missing: {_why(producers, scope)}, {give}"
        f"{_other_reason(root, scope, key)}",
        agent=agent,
        key=key,
        producers=producers,
    )


def _why(producers: Sequence[str], scope: AgenticScope) -> str:
    if not producers:
        return "no agent writes it"
    ran = [each.agent for each in scope.invocations if each.agent in producers]
    return f"{ran[-1]!r} gave None" if ran else f"{listed(producers)} could produce it but did not run before"


def _other_reason(root: Node, scope: AgenticScope, key: str) -> str:
    """What else may be wrong: an agent of that name that writes nothing, or a name that is misspelt."""
    if any(node.name == key and node.output_key is None for node in nodes(root)):
        return f"; or let the agent {key!r} write it, with output_key={key!r}"
    written = {node.output_key for node in nodes(root) if node.output_key is not None}
    near = nearest(key, sorted((written | set(scope.state)) - {key}))
    return "" if near is None else f"; or is it misspelt? There is {near!r}"
