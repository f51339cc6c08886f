"""A system of agents behind a Protocol: typed inputs, a typed value, checked when it is made."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Protocol, runtime_checkable

import pytest

import aiservices
from aiservices import InMemoryStore, MemoryId, input_guardrails, system_message
from aiservices.agentic import agent, human_in_the_loop, loop, parallel, sequence
from aiservices.errors import AgentError, AgentSuspendedError, ConfigurationError

from .styles import edit, publish, value_of, write


@runtime_checkable
class Story(Protocol):
    """Tells stories."""

    def tell(self, topic: str, style: str = "dry") -> str:
        """Tells one."""
        ...


class AsyncStory(Protocol):
    async def tell(self, topic: str, style: str) -> str: ...


class Named(Protocol):
    def tell(self, topic: str, memory_id: str) -> str: ...


def test_a_parameter_called_memory_id_names_the_run() -> None:
    made: Any = sequence(write, service=Named, store=InMemoryStore())
    assert made.tell("bees", memory_id="m") == "a story about bees"
    assert value_of(made.resume("m")) == "a story about bees"


def test_the_method_runs_the_agents() -> None:
    story = sequence(write, edit, publish, service=Story)
    assert story.tell("bees") == "published: a story about bees, dry"
    assert story.tell(style="odd", topic="x") == "published: a story about x, odd"
    assert isinstance(story, Story)
    assert (repr(story), story.tell.__doc__) == ("<agent sequence as Story>", "Tells one.")
    with pytest.raises(TypeError):
        story.tell()  # type: ignore[call-arg]


def test_an_asynchronous_method_is_awaited() -> None:
    story = sequence(write, edit, service=AsyncStory)
    assert asyncio.run(story.tell("bees", "odd")) == "a story about bees, odd"


def test_it_is_an_agent_too() -> None:
    story: Any = sequence(write, edit, service=Story, name="story", output_key="story")
    assert sequence(story, publish).invoke(topic="x", style="odd") == "published: a story about x, odd"
    assert (story.run(topic="x", style="y").value, story.name) == ("a story about x, y", "story")
    assert story.check() == ()
    with pytest.raises(AttributeError):
        story.nope  # noqa: B018


class Rated(Protocol):
    def rate(self, x: int) -> float: ...


def test_the_value_has_the_annotated_type() -> None:
    rated = sequence(agent(name="rate")(lambda x: str(x / 2)), service=Rated)
    assert rated.rate(3) == 1.5
    wrong = sequence(agent(name="rate")(lambda x: "many"), service=Rated)
    with pytest.raises(AgentError, match="sequence gave a str, but rate returns float"):
        wrong.rate(3)


class Durable(Protocol):
    def tell(self, run: Annotated[str, MemoryId], topic: str) -> str: ...


def test_a_memory_id_names_the_run() -> None:
    store = InMemoryStore()
    story: Any = sequence(write, human_in_the_loop("ask", output_key="x"), service=Durable, store=store)
    with pytest.raises(AgentSuspendedError) as caught:
        story.tell("m", "bees")
    assert story.resume("m", {caught.value.pending[0].id: "yes"}).value == "yes"


class TwoMethods(Protocol):
    def one(self) -> str: ...

    def two(self) -> str: ...


class Guarded(Protocol):
    @input_guardrails(lambda request: None)  # type: ignore[arg-type,return-value]
    def tell(self, topic: str) -> str: ...


class Told(Protocol):
    @system_message("You write.")
    def tell(self, topic: str, style: str) -> str: ...


class Missing(Protocol):
    def tell(self, topic: str) -> str: ...


class Misfit(Protocol):
    def tell(self, topic: int, style: str) -> list[str]: ...


@pytest.mark.parametrize(
    ("service", "says"),
    [
        (int, ["service=int is not a typing.Protocol"]),
        (TwoMethods, ["TwoMethods has 2 methods (one, two)"]),
        (
            Guarded,
            [
                "marks of services are not supported on a system of agents",
                "needs 'style', which no agent writes",
            ],
        ),
        (Told, ["messages, guardrails and other marks of services are not supported"]),
        (Missing, ["Missing.tell: sequence needs 'style', which no agent writes"]),
        (
            Misfit,
            [
                "'topic' is int here and str for the agent that reads it",
                "returns list[str], and sequence gives str",
            ],
        ),
    ],
)
def test_a_protocol_that_does_not_fit_is_refused(service: Any, says: list[str]) -> None:
    """GRD-17: guardrails that would not run are refused."""
    with pytest.raises(ConfigurationError) as caught:
        sequence(write, edit, service=service)
    assert len(caught.value.problems) == len(says)
    for problem, said in zip(caught.value.problems, says, strict=True):
        assert said in problem


def test_names_of_the_caller_are_found_in_its_annotations() -> None:
    class Local:
        pass

    class Gives(Protocol):
        def give(self) -> Local: ...

    local = Local()
    assert sequence(agent(name="x")(lambda: local), service=Gives).give() is local


def test_every_builder_takes_a_service() -> None:
    class Nothing(Protocol):
        def run(self, topic: str) -> None: ...

    assert parallel(write, service=Nothing).run("x") is None  # type: ignore[func-returns-value]
    assert loop(write, service=Missing, max_iterations=1).tell("x") == "a story about x"
    assert aiservices.agentic.conditional(write, service=Missing).tell("x") == "a story about x"
