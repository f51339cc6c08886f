"""Both ways to use an agent under one name each, and agents for tests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from aiservices.agentic import Agent, AgentEvent, AgentOutcome, Completed, agent


class Style:
    """Blocking or asynchronous use of agents."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_blocking = name == "blocking"

    def invoke(self, used: Agent, **inputs: Any) -> Any:
        return used.invoke(**inputs) if self.is_blocking else asyncio.run(used.ainvoke(**inputs))

    def run(self, used: Agent, **inputs: Any) -> AgentOutcome:
        return used.run(**inputs) if self.is_blocking else asyncio.run(used.arun(**inputs))

    def resume(self, used: Agent, memory_id: Any, answers: Any = None) -> AgentOutcome:
        if self.is_blocking:
            return used.resume(memory_id, answers)
        return asyncio.run(used.aresume(memory_id, answers))

    def restart(self, used: Agent, memory_id: Any, **inputs: Any) -> AgentOutcome:
        if self.is_blocking:
            return used.restart(memory_id, **inputs)
        return asyncio.run(used.arestart(memory_id, **inputs))

    def events(self, used: Agent, **inputs: Any) -> list[AgentEvent]:
        if self.is_blocking:
            return list(used.stream(**inputs))

        async def read() -> list[AgentEvent]:
            return [event async for event in used.astream(**inputs)]

        return asyncio.run(read())


class Log:
    """Makes agents that note that they ran."""

    def __init__(self) -> None:
        self.ran: list[str] = []

    def agent(
        self, name: str, key: str | None = None, value: Any = None, **options: Any
    ) -> Callable[..., Any]:
        """An agent without inputs that gives a value, or what a function gives, or raises."""

        @agent(name=name, output_key=key, **options)
        def ran() -> Any:
            self.ran.append(name)
            given = value() if callable(value) and not isinstance(value, type) else value
            if isinstance(given, BaseException) or (isinstance(given, type) and issubclass(given, Exception)):
                raise given
            return name if given is None else given

        return ran


def fails_once(log: Log, name: str, key: str | None = None, **options: Any) -> Callable[..., Any]:
    """An agent that raises the first time."""
    results = iter([ZeroDivisionError("boom")])
    return log.agent(name, key, lambda: next(results, None), **options)


def value_of(outcome: Any) -> Any:
    """The value of a run that completed."""
    assert isinstance(outcome, Completed), outcome
    return outcome.value


@agent(output_key="story")
def write(topic: str) -> str:
    """Writes a story."""
    return f"a story about {topic}"


@agent(output_key="story")
async def edit(story: str, style: str) -> str:
    """Edits a story."""
    return f"{story}, {style}"


@agent(output_key="published")
def publish(story: str) -> str:
    """Publishes a story."""
    return f"published: {story}"
