"""The option `skills` of AI services."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import aiservices
from aiservices import (
    ConfigurationError,
    KeywordToolSearch,
    MessageWindowChatMemory,
    SystemMessage,
    ToolCall,
    system_message,
    tool,
)
from aiservices.skills import Skill
from aiservices.testing import ScriptedChatModel
from tests.asking import asking
from tests.react.asking import call
from tests.skills.writing import write_skill


@tool
def track() -> str:
    """Track a parcel."""
    return "in Rome"


undone: list[str] = []


@tool
def book() -> str:
    """Book a courier."""
    return "booked"


@book.compensation
def cancel() -> None:
    undone.append("book")


SHIP = Skill("ship", "How to ship", "Ask for the ADDRESS.", {"a.md": "the map"}, [track, book])
OTHER = Skill("other", "Something else", "OTHER WORDS")
ACTIVATE = call("activate_skill", "c1", skill_name="ship")
Asker = system_message("You sell books.")(asking(str))


def ask(style: str, service: Any, text: str) -> Any:
    return service.ask(text) if style == "blocking" else asyncio.run(service.aask(text))


def system_of(request: Any) -> str:
    message = request.messages[0]
    assert isinstance(message, SystemMessage)
    assert sum(isinstance(item, SystemMessage) for item in request.messages) == 1
    return message.text


@pytest.mark.parametrize("style", ["blocking", "asynchronous"])
def test_the_model_opens_a_skill_of_a_service(style: str) -> None:
    """SK4, SK5, SK9, AGT-16"""
    model = ScriptedChatModel(ACTIVATE, call("track", "c2"), "done", "fresh")
    service = aiservices.create(Asker, chat_model=model, skills=[SHIP, OTHER])
    assert ask(style, service, "go") == "done"
    told = [system_of(request) for request in model.requests]
    assert all(text.startswith("You sell books.\n\n") for text in told)
    assert all("- ship: How to ship\n- other: Something else" in text for text in told)
    assert [text.count("ADDRESS") for text in told] == [0, 1, 1]
    always = {"activate_skill", "read_skill_resource"}
    offered = [{spec.name for spec in request.tools} for request in model.requests]
    assert offered == [always, always | {"track", "book"}, always | {"track", "book"}]
    assert ask(style, service, "anew") == "fresh"
    assert "ADDRESS" not in system_of(model.requests[3])


def test_memory_keeps_neither_catalogue_nor_bodies_and_a_skill_stays_open() -> None:
    memory = MessageWindowChatMemory(20)
    model = ScriptedChatModel(ACTIVATE, "done", "more")
    service = aiservices.create(Asker, chat_model=model, skills=[SHIP], chat_memory=memory)
    service.ask("go")
    service.ask("and?")
    assert "ADDRESS" in system_of(model.requests[2])
    assert memory.messages()[0] == SystemMessage("You sell books.")
    assert "ADDRESS" not in str(memory.messages())


def test_a_skill_whose_activation_left_the_memory_is_closed() -> None:
    """SK10"""
    model = ScriptedChatModel(ACTIVATE, "done", "one", "two", "three")
    service = aiservices.create(
        Asker, chat_model=model, skills=[SHIP], chat_memory=MessageWindowChatMemory(4)
    )
    for text in ("go", "a", "b", "c"):
        service.ask(text)
    assert "ADDRESS" not in system_of(model.requests[-1])
    assert "track" not in {spec.name for spec in model.requests[-1].tools}


def test_a_long_turn_in_a_small_window_is_finished() -> None:
    """SK12"""
    rounds = [call("track", f"t{number}") for number in range(3)]
    model = ScriptedChatModel(ACTIVATE, *rounds, "done")
    service = aiservices.create(
        Asker, chat_model=model, skills=[SHIP], chat_memory=MessageWindowChatMemory(3)
    )
    assert service.ask("go") == "done"
    assert "ADDRESS" in system_of(model.requests[-1])


def test_what_a_skill_does_is_undone_like_anything_else() -> None:
    undone.clear()
    model = ScriptedChatModel(ACTIVATE, call("book", "c2"), OSError("down"))
    service = aiservices.create(Asker, chat_model=model, skills=[SHIP])
    with pytest.raises(OSError, match="down"):
        service.ask("go")
    assert undone == ["book"]


def test_skills_are_not_searched_for() -> None:
    model = ScriptedChatModel(ACTIVATE, "done")
    service = aiservices.create(Asker, chat_model=model, skills=[SHIP], tool_search=KeywordToolSearch())
    service.ask("go")
    offered = [[spec.name for spec in request.tools] for request in model.requests]
    assert offered[0] == ["search_tools", "activate_skill", "read_skill_resource"]
    assert set(offered[1]) == {*offered[0], "track", "book"}
    assert "always_visible" not in track.attributes


def test_a_folder_of_skills_will_do(tmp_path: Path) -> None:
    write_skill(tmp_path, "ship", "FROM A FILE", a_dot_md="the map")
    read = ToolCall("c2", "read_skill_resource", '{"skill_name": "ship", "relative_path": "a.md"}')
    model = ScriptedChatModel(ACTIVATE, read, "done")
    service = aiservices.create(asking(str), chat_model=model, skills=str(tmp_path))
    assert service.ask("go") == "done"
    assert "FROM A FILE" in system_of(model.requests[1])
    assert model.requests[2].messages[-1].text == "the map"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"skills": 3}, "skills is a int"),
        ({"skills": "no/such/folder"}, "is no folder"),
        ({"skills": [SHIP, SHIP]}, "two skills are called 'ship'"),
        (
            {"skills": [SHIP], "tools": [tool(name="activate_skill")(lambda: 1)]},
            "two tools are called 'activate_skill'",
        ),
    ],
)
def test_what_is_wrong_with_skills_is_said_at_create(options: Any, complaint: str) -> None:
    """AJ-111"""
    with pytest.raises(ConfigurationError, match=complaint):
        aiservices.create(asking(str), chat_model=ScriptedChatModel(), **options)
