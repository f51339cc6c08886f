"""Skills in an agent: those that tools unlock, and those that the model opens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aiservices import ConfigurationError, InMemoryStore, SystemMessage, ToolError, ToolResultMessage
from aiservices.react import Approve, Skill, SkillInjector, StopReason, Unload
from tests.react.asking import STYLES, agent, call, calls, short

both = pytest.mark.parametrize("style", STYLES)
everywhere = pytest.mark.parametrize("store", [None, "memory"])

REPLY = Skill("order-reply", "How to answer about orders", "Answer with the ORDER NUMBER first.")
TONE = Skill("guidance-tone", "Which tone", "Be KIND.")
SIZE = Skill("guidance-size", "How long", "Be SHORT.")


def order(number: int) -> str:
    return f"order {number} is on its way"


def fail() -> str:
    raise ToolError("out of order")


def injecting(unload: Unload | None = None, resolver: Any = None) -> SkillInjector:
    resolver = resolver or {"order": "order-reply"}
    return SkillInjector(resolver=resolver, skills=[REPLY, TONE, SIZE], unload=unload)


def systems(request: Any) -> str:
    return "\n".join(item.text for item in request.messages if isinstance(item, SystemMessage))


class Watching:
    """Notes the active skills on entry of the node and on return."""

    def __init__(self) -> None:
        self.seen: list[tuple[tuple[str, ...], tuple[str, ...]]] = []

    def after(self, state: Any, update: Any) -> None:
        self.seen.append((state.active_skills, tuple(update.get("active_skills", state.active_skills))))


@both
@everywhere
def test_the_success_of_a_tool_shows_its_skill_to_the_next_request(style: str, store: str | None) -> None:
    """LG-103"""
    asked, model = agent(
        call("order", number=7),
        "7: on its way",
        tools=[order],
        skill_injector=injecting(),
        system_message="You sell books.",
        checkpointer=InMemoryStore() if store else None,
    )
    state = calls(style, asked, "invoke", "Where is it?", "t")
    assert state.active_skills == ("order-reply",)
    assert len(model.requests) == 2
    assert systems(model.requests[0]) == "You sell books."
    assert systems(model.requests[1]) == "You sell books.\n\nAnswer with the ORDER NUMBER first."
    assert [type(item) for item in model.requests[1].messages].count(SystemMessage) == 1
    assert "ORDER NUMBER" not in str(state)
    assert calls(style, asked, "state", "t").active_skills == ("order-reply",)


@both
def test_a_failed_result_activates_nothing(style: str) -> None:
    """LG-105, AGT-16"""
    asked, model = agent(
        call("fail"), "sorry", tools=[fail], skill_injector=injecting(resolver={"fail": "order-reply"})
    )
    state = calls(style, asked, "invoke", "go")
    assert state.active_skills == ()
    assert systems(model.requests[1]) == ""


@both
def test_of_a_mixed_round_the_successes_activate(style: str) -> None:
    """LG-107"""
    resolver = {"order": ["guidance-tone", "order-reply"], "fail": "guidance-size"}
    asked, model = agent(
        [call("fail", "c1"), call("order", "c2", number=1)],
        "ok",
        tools=[order, fail],
        skill_injector=injecting(resolver=resolver),
    )
    assert calls(style, asked, "invoke", "go").active_skills == ("guidance-tone", "order-reply")
    assert systems(model.requests[1]) == "Be KIND.\n\nAnswer with the ORDER NUMBER first."


@both
def test_a_skill_stays_for_the_thread_and_is_shown_once_in_each_request(style: str) -> None:
    """LG-108, LG-111, LG-113, AGT-16"""
    asked, model = agent(
        call("order", "c1", number=1),
        call("order", "c2", number=2),
        "ok",
        "yes",
        "new",
        tools=[order],
        skill_injector=injecting(),
    )
    calls(style, asked, "invoke", "go", "t")
    calls(style, asked, "invoke", "sure?", "t")
    for request in model.requests[1:]:
        assert str(request.messages).count("ORDER NUMBER") == 1
    calls(style, asked, "invoke", "go", "another thread")
    assert systems(model.requests[-1]) == ""


@both
def test_single_turn_skills_are_read_in_one_model_call(style: str) -> None:
    """LG-109, LG-112, AJ-107"""
    watching = Watching()
    asked, model = agent(
        call("order", "c1", number=1),
        call("order", "c2", number=2),
        "ok",
        "again",
        tools=[order],
        skill_injector=injecting().single_turn(),
        call_model_hooks=[watching],
    )
    calls(style, asked, "invoke", "go", "t")
    shown = ("order-reply",)
    assert watching.seen == [((), ()), (shown, ()), (shown, ())]
    assert asked.state("t").active_skills == ()
    calls(style, asked, "invoke", "go", "t")
    assert watching.seen[-1] == ((), ())
    assert systems(model.requests[-1]) == ""


@both
@pytest.mark.parametrize(
    "unload", [Unload.ids("order-reply"), Unload.matching(lambda id: id.startswith("order"))]
)
def test_some_skills_are_unloaded_and_others_stay(style: str, unload: Unload) -> None:
    """LG-110, LG-114"""
    watching = Watching()
    every = ["order-reply", "guidance-tone", "guidance-size"]
    asked, _ = agent(
        call("order", number=1),
        "ok",
        tools=[order],
        call_model_hooks=[watching],
        skill_injector=injecting(unload, {"order": every}),
    )
    state = calls(style, asked, "invoke", "go", "t")
    assert watching.seen[1] == (tuple(every), ("guidance-tone", "guidance-size"))
    assert state.active_skills == asked.state("t").active_skills == ("guidance-tone", "guidance-size")


@both
@everywhere
def test_active_skills_survive_a_failing_model_call(style: str, store: str | None) -> None:
    """LG-115"""
    asked, model = agent(
        call("order", number=1),
        OSError("down"),
        "ok",
        tools=[order],
        skill_injector=injecting().single_turn(),
        checkpointer=InMemoryStore() if store else None,
    )
    with pytest.raises(OSError):
        calls(style, asked, "invoke", "go", "t")
    assert asked.state("t").active_skills == ("order-reply",)
    state = calls(style, asked, "resume", "t")
    assert "ORDER NUMBER" in systems(model.requests[2])
    assert state.active_skills == ()


def test_active_skills_survive_a_restart() -> None:
    store = InMemoryStore()
    asked, _ = agent(
        call("order", number=1),
        OSError("down"),
        tools=[order],
        skill_injector=injecting(),
        checkpointer=store,
    )
    with pytest.raises(OSError):
        asked.invoke("go", "t")
    again, model = agent("ok", tools=[order], skill_injector=injecting(), checkpointer=store)
    again.resume("t")
    assert "ORDER NUMBER" in systems(model.request)


@both
def test_a_policy_stays_in_force_beside_the_skills(style: str) -> None:
    asked, model = agent(
        call("order", number=1),
        "ok",
        tools=[order],
        skill_injector=injecting(),
        conversation_policy=lambda messages, state: messages[-2:],
    )
    calls(style, asked, "invoke", ["a", "b"] and "go")
    assert short(model.requests[1].messages)[1:] == ["A?c1", "R:order 1 is on its way"]


@both
@pytest.mark.parametrize("kind", ["def", "async def"])
def test_bodies_may_come_from_a_function(style: str, kind: str) -> None:
    def body(id: str) -> str:
        return f"the body of {id}"

    async def abody(id: str) -> str:
        return body(id)

    injector = SkillInjector(resolver=lambda tool: f"about-{tool}", skills=body if kind == "def" else abody)
    asked, model = agent(call("order", number=1), "ok", tools=[order], skill_injector=injector, skills=[TONE])
    assert calls(style, asked, "invoke", "go").active_skills == ("about-order",)
    assert systems(model.requests[1]).endswith("the body of about-order")


@both
def test_the_parts_can_be_wired_by_hand(style: str) -> None:
    injector = injecting().single_turn()
    asked, model = agent(
        call("order", number=1),
        "ok",
        tools=[order],
        execute_tools_hooks=[injector.execute_tools_hook],
        call_model_hooks=[injector.call_model_hook],
        conversation_policy=injector.conversation_policy(),
    )
    assert calls(style, asked, "invoke", "go").active_skills == ()
    assert "ORDER NUMBER" in systems(model.requests[1])


def test_a_skill_that_was_approved_activates_after_it_ran() -> None:
    asked, _ = agent(
        call("order", number=1), "ok", tools=[order], skill_injector=injecting(), approvals={"order": True}
    )
    assert asked.invoke("go", "t").active_skills == ()
    assert asked.resume("t", Approve()).active_skills == ("order-reply",)


def track() -> str:
    """Track a parcel."""
    return "in Rome"


SHIP = Skill("ship", "How to ship", "Ask for the ADDRESS.", {"references/a.md": "the map"}, [track])


@both
def test_the_model_opens_a_skill_which_brings_its_tools(style: str) -> None:
    """AGT-16, SK4, SK5, SK9"""
    other = Skill("other", "Something else", "OTHER WORDS", tools=[fail])
    asked, model = agent(
        call("activate_skill", "c1", skill_name="ship"),
        call("track", "c2"),
        "done",
        "fresh",
        tools=[order],
        skills=[SHIP, other],
        system_message="You sell books.",
    )
    state = calls(style, asked, "invoke", "go", "t")
    offered = [{spec.name for spec in request.tools} for request in model.requests]
    always = {"order", "activate_skill", "read_skill_resource"}
    assert offered == [always, always | {"track"}, always | {"track"}]
    told = [systems(request) for request in model.requests]
    assert told[0].startswith("You sell books.\n\n")
    assert "- ship: How to ship\n- other: Something else" in told[0]
    assert "ADDRESS" not in told[0]
    assert [text.count("ADDRESS") for text in told] == [0, 1, 1]
    assert all("OTHER WORDS" not in text for text in told)
    assert "ADDRESS" not in str(state)
    assert state.active_skills == ("ship",)
    assert short(state.messages)[4] == "R:in Rome"
    calls(style, asked, "invoke", "go")
    assert {spec.name for spec in model.requests[3].tools} == always


@both
def test_a_skill_that_is_not_there_is_an_error_that_names_those_that_are(style: str) -> None:
    """SK7, SK8, AGT-16"""
    asked, _ = agent(
        [call("activate_skill", "c1", skill_name="shop"), call("activate_skill", "c2")], "ok", skills=[SHIP]
    )
    state = calls(style, asked, "invoke", "go")
    results = [item for item in state.messages if isinstance(item, ToolResultMessage)]
    assert results[0].text == "There is no skill 'shop'. There are: ship."
    assert "ToolArgumentsError" in results[1].text
    assert [item.is_error for item in results] == [True, True]
    assert state.active_skills == ()


@both
def test_resources_are_read_by_their_paths_and_by_no_others(style: str) -> None:
    """AJ-108"""
    paths = ["references/a.md", "../secret", "/etc/passwd"]
    asked, _ = agent(
        [
            call("read_skill_resource", f"c{n}", skill_name="ship", relative_path=path)
            for n, path in enumerate(paths)
        ],
        "ok",
        skills=[SHIP],
    )
    results = calls(style, asked, "invoke", "go").messages[2:5]
    assert [item.is_error for item in results] == [False, True, True]
    assert results[0].text == "the map"
    assert results[1].text == "The skill 'ship' has no resource '../secret'. It has: references/a.md."


@both
def test_two_active_skills_with_one_tool_bring_it_once(style: str) -> None:
    """SK6"""
    second = Skill("second", "Also", "ALSO", tools=[track, order])
    asked, model = agent(
        [
            call("activate_skill", f"c{n}", skill_name=name)
            for n, name in enumerate(["ship", "second", "ship"])
        ],
        call("track", "c9"),
        "ok",
        tools=[order],
        skills=[SHIP, second],
    )
    state = calls(style, asked, "invoke", "go")
    assert state.active_skills == ("ship", "second")
    names = [spec.name for spec in model.requests[1].tools]
    assert sorted(names) == ["activate_skill", "order", "read_skill_resource", "track"]


def test_opened_and_unlocked_skills_stand_beside_each_other() -> None:
    asked, model = agent(
        [call("activate_skill", "c1", skill_name="ship"), call("order", "c2", number=1)],
        "ok",
        tools=[order],
        skills=[SHIP],
        skill_injector=injecting(),
    )
    assert set(asked.invoke("go").active_skills) == {"ship", "order-reply"}
    text = systems(model.requests[1])
    assert text.count("ADDRESS") == text.count("ORDER NUMBER") == 1


def test_a_tool_of_a_skill_may_be_guarded() -> None:
    asked, _ = agent(
        call("activate_skill", "c1", skill_name="ship"),
        call("track", "c2"),
        "ok",
        skills=[SHIP],
        approvals={"track": True},
        checkpointer=InMemoryStore(),
    )
    assert asked.invoke("go", "t").stop_reason is StopReason.INTERRUPTED
    assert short(asked.resume("t", Approve()).messages)[-2:] == ["R:in Rome", "A:ok"]


def test_a_folder_of_skills_will_do(tmp_path: Path) -> None:
    """LG-104, AJ-106"""
    folder = tmp_path / "order-reply"
    folder.mkdir()
    (folder / "SKILL.md").write_text("---\nname: order-reply\ndescription: d\n---\nFROM A FILE\n")
    injector = SkillInjector(resolver={"order": "order-reply"}, skills=tmp_path)
    asked, model = agent(call("order", number=1), "ok", tools=[order], skill_injector=injector)
    asked.invoke("go")
    assert systems(model.requests[1]) == "FROM A FILE"
    empty, model = agent("ok", skills=tmp_path / "order-reply" / "..", tools=[order])
    empty.invoke("go")
    assert "- order-reply: d" in systems(model.request)
    (tmp_path / "none").mkdir()
    bare, model = agent("ok", skills=tmp_path / "none")
    bare.invoke("go")
    assert (model.request.tools, systems(model.request)) == ((), "")


@pytest.mark.parametrize("body", ["", " \n", None])
def test_a_skill_that_says_nothing_is_refused_at_build(body: Any) -> None:
    """NX-08"""
    skills = [Skill("a", "For a", "BODY"), Skill("b", "For b", body)]
    with pytest.raises(ConfigurationError, match="no body of the skill 'b'"):
        agent(skills=skills)
    with pytest.raises(ConfigurationError, match="no body of the skill 'b'"):
        SkillInjector(resolver=lambda tool: tool, skills=skills)


def test_a_skill_whose_name_ends_in_a_line_end_is_found() -> None:
    asked, _ = agent(call("activate_skill", skill_name="a"), "ok", skills=[Skill("a\n", "For a", "BODY")])
    assert asked.invoke("go").active_skills == ("a",)
