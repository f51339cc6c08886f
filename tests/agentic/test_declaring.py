"""What is an agent: methods of services and objects, functions, composites; and what is none."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Protocol

import pytest

import aiservices
from aiservices import (
    InMemoryStore,
    InvocationParameters,
    MemoryId,
    MessageWindowChatMemory,
    Result,
    Stream,
    user_message,
)
from aiservices.agentic import (
    AgenticScope,
    agent,
    as_agent,
    loop,
    parallel_map,
    peer_to_peer,
    sequence,
)
from aiservices.errors import ConfigurationError, MissingInputError
from aiservices.testing import ScriptedChatModel

from .styles import Style, edit, publish, write


class Writer(Protocol):
    @agent(output_key="story", description="Writes.")
    @user_message("Write about {{ topic }}.")
    def write(self, topic: str) -> str: ...

    @user_message("Write a poem about {{ topic }}.")
    def poem(self, topic: str) -> str: ...


class Scorer(Protocol):
    @user_message("Score {{ story }}")
    @agent(name="score", output_key="score")
    async def rate(self, story: str) -> float: ...


class Two(Protocol):
    @agent
    def one(self, text: str) -> str: ...

    @agent()
    def other(self, text: str) -> str: ...


class None_(Protocol):
    def ask(self, text: str) -> str: ...


def test_the_agent_method_of_a_service_is_an_agent(style: Style) -> None:
    model = ScriptedChatModel("Once upon a time", "0.5")
    services = [aiservices.create(each, chat_model=model) for each in (Writer, Scorer)]
    story = sequence(*services)
    assert style.invoke(story, topic="bees") == 0.5
    assert [each.text for each in model.requests[0].messages] == ["Write about bees."]
    assert [(each.name, each.output_key, each.inputs) for each in story.agents] == [
        ("write", "story", ("topic",)),
        ("score", "score", ("story",)),
    ]
    assert (story.agents[0].description, story.inputs) == ("Writes.", ("topic",))
    assert services[0].__class__.__name__ == "Writer"


def test_a_service_has_exactly_one_agent_method() -> None:
    """W15"""
    two = aiservices.create(Two, chat_model=ScriptedChatModel())
    none = aiservices.create(None_, chat_model=ScriptedChatModel())
    with pytest.raises(ConfigurationError) as caught:
        sequence(two, none, 7)
    assert list(caught.value.problems) == [
        "Two has several @agent methods (one, other): keep one",
        "<AI service None_> has no method decorated with @agent: decorate the one that is the agent",
        "7 is no agent: give a function, a service with an @agent method, or another agent",
    ]


def test_an_object_with_an_agent_method_is_an_agent(style: Style) -> None:
    class Counter:
        def __init__(self) -> None:
            self.count = 0

        @agent(output_key="count")
        def increase(self, by: int = 1) -> int:
            """Counts."""
            self.count += by
            return self.count

    counter = Counter()
    assert style.invoke(sequence(counter, counter), by=2) == 4
    assert as_agent(counter).description == "Counts."


def test_a_decorated_function_stays_a_function() -> None:
    assert write("bees") == "a story about bees"
    assert as_agent(write).name == "write"


def test_a_plain_function_is_an_agent_without_an_output_key(style: Style) -> None:
    def shout(text: str) -> str:
        return text.upper()

    made = as_agent(shout)
    assert (made.name, made.output_key, made.inputs) == ("shout", None, ("text",))
    assert style.invoke(made, text="a") == "A"


@pytest.mark.parametrize("style_of", ["function", "partial", "object"])
def test_what_can_be_called_is_an_agent(style: Style, style_of: str) -> None:
    class Adder:
        def __call__(self, x: int) -> int:
            return x + 1

    def add(y: int, x: int) -> int:
        return x + y

    added = partial(add, 1)
    added.__name__ = "add"  # type: ignore[attr-defined]
    given: Any = {"function": lambda x: x + 1, "partial": added, "object": Adder()}[style_of]
    if style_of == "function":
        given = agent(name="add")(given)
    assert style.invoke(sequence(given), x=1) == 2


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (Writer, "Writer is a class"),
        (lambda x: x, "a lambda has no name"),
        ("text", "'text' is no agent"),
        ([write], r"one of the agents is a list: give its items one by one, as in \*items"),
        (agent(name="  ")(lambda: 1), "a name that is not blank"),
        (agent(name="x", output_key="")(lambda: 1), "output_key is '': give"),
    ],
)
def test_what_is_no_agent_is_refused(given: Any, says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        sequence(given)


def test_the_decorator_is_for_functions() -> None:
    with pytest.raises(ConfigurationError, match="for a function or a method"):
        agent(Writer)
    with pytest.raises(ConfigurationError, match="put it below"):
        agent(staticmethod(write))
    with pytest.raises(ConfigurationError, match="cannot be marked: decorate a function that calls it"):
        agent([].append)


def test_what_is_said_of_an_agent_needs_no_keywords() -> None:
    @agent("Writer", "Writes.", "story")
    def write_it(topic: str) -> str:
        return topic

    made = as_agent(write_it)
    assert (made.name, made.description, made.output_key) == ("Writer", "Writes.", "story")


def test_blanks_in_a_name_are_evened_out() -> None:
    """AGT-27"""
    assert as_agent(agent(name=" Senior  Research\nAnalyst\n")(lambda: 1)).name == "Senior Research Analyst"


def test_a_system_needs_agents() -> None:
    for build in (
        sequence,
        aiservices.agentic.parallel,
        aiservices.agentic.loop,
        aiservices.agentic.conditional,
    ):
        with pytest.raises(ConfigurationError, match="has no agents"):
            build()


def test_unknown_options_are_named_with_the_known_ones() -> None:
    with pytest.raises(ConfigurationError, match="unknown option 'colour': known are name, description"):
        sequence(write, colour="x")  # type: ignore[call-overload]
    with pytest.raises(ConfigurationError, match=r"unknown option 'listener': did you mean 'listeners'\?"):
        sequence(write, listener=[])  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"output": 7}, "output is 7"),
        ({"before": "x"}, "before is 'x'"),
        ({"on_error": []}, r"on_error is \[\]"),
        ({"timeout": 0}, "timeout is 0"),
        ({"timeout": "1"}, "timeout is '1'"),
        ({"store": InMemoryStore}, r"store is <class .*InMemoryStore'>: give a Store"),
        ({"name": 7}, "name of an agent is 7"),
        ({"name": " "}, "a name that is not blank"),
        ({"description": None}, "description is None"),
        ({"output_key": 7}, "output_key is 7"),
        ({"output_key": " "}, "output_key is ' '"),
        ({"listeners": [7]}, "a listener is"),
        ({"listeners": print}, "listeners is a builtin_function_or_method: give a list"),
    ],
)
def test_options_of_the_wrong_kind_are_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        sequence(write, **options)


def test_conditions_and_items_of_the_wrong_kind_are_refused() -> None:
    for until in ("x", 7):
        with pytest.raises(ConfigurationError, match="until is"):
            loop(write, until=until)  # type: ignore[call-overload]
        with pytest.raises(ConfigurationError, match="until is"):
            peer_to_peer(write, until=until)  # type: ignore[call-overload]
    wrong: list[Any] = [None, " ", 7]
    for items in wrong:
        with pytest.raises(ConfigurationError, match="items is"):
            parallel_map(write, items=items)


def test_a_parameter_may_be_the_scope_the_memory_id_or_the_parameters(style: Style) -> None:
    @agent
    def all_of_them(
        scope: AgenticScope, user: Annotated[str, MemoryId], given: InvocationParameters, x: int
    ) -> Any:
        scope.write("seen", x)
        return user, given["tenant"]

    outcome = style.run(
        sequence(all_of_them), memory_id="ann", x=1, given=InvocationParameters({"tenant": "acme"})
    )
    assert outcome.value == ("ann", "acme")  # type: ignore[union-attr]
    assert outcome.scope.state == {"x": 1, "seen": 1}
    with pytest.raises(MissingInputError, match="give memory_id="):
        style.invoke(sequence(all_of_them), x=1)


def test_positional_and_varying_parameters(style: Style) -> None:
    def strange(first: int, /, second: int, *rest: int, third: int, **more: int) -> Any:
        return first, second, rest, third, more

    assert style.invoke(sequence(strange), first=1, second=2, third=3, rest=4) == (1, 2, (), 3, {})


class Chat(Protocol):
    @agent(output_key="answer")
    def say(self, user: Annotated[str, MemoryId], text: str) -> str: ...


def test_a_conversation_is_that_of_the_run(style: Style) -> None:
    """AGT-29"""
    model = ScriptedChatModel("noted", "Ana", "who?")
    chat = aiservices.create(
        Chat, chat_model=model, chat_memory_provider=lambda id: MessageWindowChatMemory(10, id)
    )
    twice = sequence(chat, agent(name="ask", output_key="text")(lambda: "who am I?"), chat)
    assert style.invoke(twice, text="I am Ana", memory_id="one") == "Ana"
    assert [each.text for each in model.requests[1].messages] == ["I am Ana", "noted", "who am I?"]
    style.invoke(sequence(chat), text="who am I?", memory_id="two")
    assert [each.text for each in model.requests[2].messages] == ["who am I?"]


def test_a_service_with_a_memory_cannot_serve_items_side_by_side() -> None:
    """N3"""
    chat = aiservices.create(
        Chat, chat_model=ScriptedChatModel(), chat_memory_provider=lambda id: MessageWindowChatMemory(10, id)
    )
    with pytest.raises(ConfigurationError, match="'say' remembers conversations"):
        parallel_map(sequence(chat, publish_answer), items="texts")


@agent
def publish_answer(answer: str) -> str:
    return answer


def test_an_agent_for_items_takes_an_item() -> None:
    with pytest.raises(ConfigurationError, match="takes no input that an item could be"):
        parallel_map(agent(name="x")(lambda: 1), items="texts")


class Streaming(Protocol):
    @agent
    def tell(self, text: str) -> Stream[str]: ...


class Wrapped(Protocol):
    @agent(output_key="x")
    def tell(self, text: str) -> Result[int]: ...


def test_a_stream_is_read_to_its_end_and_a_result_gives_its_content(style: Style) -> None:
    streaming = aiservices.create(Streaming, chat_model=ScriptedChatModel("one two"))
    assert style.invoke(sequence(streaming), text="go") == "one two"
    wrapped = aiservices.create(Wrapped, chat_model=ScriptedChatModel("7"))
    assert style.invoke(sequence(wrapped), text="go") == 7


def test_local_annotations_are_found(style: Style) -> None:
    @dataclass
    class Local:
        x: int

    @agent(output_key="made")
    def make() -> Local:
        return Local(1)

    def read(made: Local) -> int:
        return made.x

    assert style.invoke(sequence(make, read)) == 1


def test_an_agent_is_a_tool(style: Style) -> None:
    class Boss(Protocol):
        def ask(self, text: str) -> str: ...

        async def aask(self, text: str) -> str: ...

    story = sequence(write, edit, name="story writer", description="Writes a story.")
    model = ScriptedChatModel(
        aiservices.ToolCall("1", "story_writer", '{"topic": "bees", "style": "dry"}'), "Here it is."
    )
    boss = aiservices.create(Boss, chat_model=model, tools=[story])
    import asyncio

    answer = boss.ask("go") if style.is_blocking else asyncio.run(boss.aask("go"))
    assert answer == "Here it is."
    (tool,) = model.requests[0].tools
    assert (tool.name, tool.description) == ("story_writer", "Writes a story.")
    assert set(tool.parameters["properties"]) == {"topic", "style"}
    assert model.requests[1].messages[-1].text == "a story about bees, dry"


def test_agents_have_readable_names() -> None:
    assert repr(sequence(write, edit, publish, name="story")) == "<agent story>"
