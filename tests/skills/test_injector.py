"""The injector by hand: what activates, what is shown, and what is wrong from the start."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from aiservices import ConfigurationError, SystemMessage, ToolResultMessage, UserMessage
from aiservices.skills import Skill, SkillInjector, SkillShelf, Unload, shelved
from tests.skills.writing import write_skill

A, B = Skill("a", "For a", "BODY A"), Skill("b", "For b", "BODY B")


class State(NamedTuple):
    active_skills: tuple[str, ...] = ()


def result(tool: str, is_error: bool = False) -> ToolResultMessage:
    return ToolResultMessage("c1", tool, "text", is_error)


def injector(**options: Any) -> SkillInjector:
    return SkillInjector(**{"resolver": {"t": "a", "u": ["b", "a"]}, "skills": [A, B], **options})


def test_a_success_adds_its_skills_in_order() -> None:
    hook = injector().execute_tools_hook
    update = hook.after(State(), {"messages": [result("u"), result("t")]})
    assert update["active_skills"] == ("b", "a")


@pytest.mark.parametrize(
    ("state", "update"),
    [
        (State(), {"messages": [result("t", is_error=True)]}),
        (State(), {"messages": [result("other")]}),
        (State(), {"messages": []}),
        (State(), {}),
        (State(("a",)), {"messages": [result("t")]}),
    ],
)
def test_where_nothing_changes_nothing_is_written(state: State, update: Any) -> None:
    """LG-105, LG-106, LG-108, LG-122"""
    assert injector().execute_tools_hook.after(state, update) is update


def test_unloading_writes_only_what_changes() -> None:
    """LG-122"""
    update: dict[str, Any] = {"final_response": "x"}
    assert injector().call_model_hook.after(State(("a",)), update) is update
    single = injector().single_turn().call_model_hook
    assert single.after(State(), update) is update
    assert single.after(State(("a",)), update)["active_skills"] == ()


def test_a_single_turn_injector_is_another_one() -> None:
    first = injector(unload=Unload.ids("a"))
    assert first.single_turn() is not first
    assert first.call_model_hook.after(State(("a", "b")), {})["active_skills"] == ("b",)


def test_the_bodies_come_before_the_conversation() -> None:
    said = [UserMessage("u"), UserMessage("v")]
    policy = injector().conversation_policy(lambda messages, state: messages[1:])
    shown = policy(said, State(("b", "a", "somebody else's")))
    assert shown == [SystemMessage("BODY B"), SystemMessage("BODY A"), UserMessage("v")]
    assert len(said) == 2


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (
            {"resolver": {"t": "nope"}},
            "the skill that tool 't' activates cannot be shown: there is no skill 'nope'",
        ),
        ({"resolver": {"t": ["a", "nope"]}}, "no skill 'nope'; there are: a, b"),
        ({"skills": [A, Skill("b", "For b", " ")]}, "there is no body of the skill 'b'"),
        ({"skills": lambda id: ""}, "there is no body of the skill 'a'"),
        ({"skills": lambda id: {}[id]}, "tool 't' activates cannot be shown"),
        ({"resolver": 3}, "resolver is no mapping"),
        ({"unload": "all"}, "unload is a str"),
        ({"skills": [A, A]}, "two skills are called 'a'"),
        ({"skills": ["a"]}, "'a' is no Skill"),
        ({"skills": 3}, "skills is a int"),
    ],
)
def test_what_is_wrong_is_said_at_once(options: Any, complaint: str) -> None:
    """NX-08"""
    with pytest.raises(ConfigurationError, match=complaint):
        injector(**options)


def test_a_skill_that_a_function_makes_up_is_an_error_when_it_is_met() -> None:
    made_up = injector(resolver=lambda tool: "nope")
    with pytest.raises(ConfigurationError, match="no skill 'nope'"):
        made_up.execute_tools_hook.after(State(), {"messages": [result("t")]})


def test_a_folder_will_do(tmp_path: Path) -> None:
    write_skill(tmp_path, "a", "FROM A FILE")
    policy = injector(resolver={"t": "a"}, skills=str(tmp_path)).conversation_policy()
    assert policy([], State(("a",))) == [SystemMessage("FROM A FILE")]


def test_a_shelf_tells_what_it_holds() -> None:
    shelf = SkillShelf([A, Skill("b", "For\n  b", "x")])
    assert shelf.catalogue.endswith("\n- a: For a\n- b: For b")
    assert [made.name for made in shelf.openers()] == ["activate_skill", "read_skill_resource"]
    assert repr(shelf) == "SkillShelf(a, b)"
    assert (SkillShelf().catalogue, SkillShelf().openers()) == ("", [])
    assert shelved(None) == {}
