"""Systems of agents as Mermaid flowcharts.

The real Mermaid parses what these rules let pass: labels of letters, digits, a few harmless signs and codes,
nothing else that comes from names, and every node that an arrow leads to declared.
"""

from __future__ import annotations

import re
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Protocol

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiservices.agentic import (
    Agent,
    AgenticScope,
    InOrder,
    Planner,
    PlanningContext,
    agent,
    as_agent,
    conditional,
    done,
    human_in_the_loop,
    loop,
    parallel,
    parallel_map,
    planned,
    sequence,
)
from aiservices.agentic.describing import in_words
from aiservices.agentic.diagrams import escaped

from .styles import edit, publish, write

ID = r"(?:a(?:_\d+)*(?:_(?:fork|join|again|if|hub))?|start|finish)"
LABEL = r"(?:[^\W_]|[ ,()?!'→…]|(?<=[^\W_])[-_.](?=[^\W_])|#\d+;|<br/>)+"
NODE = re.compile(
    rf'  +(?P<id>{ID})(?:\["{LABEL}"\]|\[/"{LABEL}"/\]|\(\["{LABEL}"\]\)|\(\(" "\)\)|\{{+"{LABEL}"\}}+)'
    r"(?::::(?:human|optional|point))?"
)
SUBGRAPH = re.compile(rf'  +subgraph (?P<id>{ID})\["{LABEL}"\]')
ARROW = re.compile(rf'  (?P<begin>{ID}) (?:-->|==>|-\.->|<-\.->)(?:\|"{LABEL}"\|)? (?P<end>{ID})')
TEXTS = st.text(max_size=30) | st.sampled_from(
    [
        'say "hi"',
        "end",
        "subgraph x",
        "direction LR",
        "%%{init}%%",
        "<script>",
        "style a:#f;",
        "1. x",
        "[(`\n`)]",
    ]
)


class Free(Planner):
    def next_action(self, context: PlanningContext) -> Any:
        return done()


class Lined(Free):
    topology = InOrder()


def arrows(text: str) -> list[str]:
    """The arrows, with names in place of ids."""
    names = dict(re.findall(rf'({ID})[\[({{/]+"(.*?)(?:<br/>.*?)?"', text))
    found = [ARROW.fullmatch(line) for line in text.splitlines()]
    label = re.compile(r"\|.*\|")
    return [
        f"{names[each['begin']]} {''.join(label.findall(each[0]))} {names[each['end']]}"
        for each in found
        if each
    ]


def check(text: str) -> None:
    """The text is a flowchart by the rules that are told at the top."""
    first, *lines = text.splitlines()
    assert first == "flowchart TD"
    declared, led_to, depth = [], set(), 0
    for line in lines:
        if node := NODE.fullmatch(line) or SUBGRAPH.fullmatch(line):
            declared.append(node["id"])
            depth += line.lstrip().startswith("subgraph a")
        elif arrow := ARROW.fullmatch(line):
            assert depth == 0
            led_to |= {arrow["begin"], arrow["end"]}
        elif line.strip() == "end":
            depth -= 1
        else:
            assert line.startswith("  classDef "), line
        assert not re.search(r"direction\s+(TB|TD|BT|LR|RL)", line)
    assert len(set(declared)) == len(declared)
    assert depth == 0
    assert led_to <= set(declared)


def test_a_sequence_is_a_row_from_its_inputs_to_its_output() -> None:
    text = sequence(write, edit, publish, name="magazine", output_key="out").diagram()
    check(text)
    assert arrows(text) == ["write  edit", "edit  publish", "start  write", "publish  end"]
    assert 'subgraph a["magazine → out"]' in text
    assert 'start(["start<br/>topic, style"])' in text
    assert 'a_0["write<br/>→ story"]' in text


def test_agents_side_by_side_fork_and_join() -> None:
    text = parallel(write, agent(name="other")(lambda: 1)).diagram()
    check(text)
    assert arrows(text)[:4] == ["   write", "write   ", "   other", "other   "]


def test_a_loop_leads_back_and_says_when_it_ends() -> None:
    text = loop(write, edit, max_iterations=4, until=lambda scope: scope.read("score") > 0.8).diagram()
    check(text)
    assert "until scope.read('score') #62; 0.8<br/>asked after each agent<br/>at most 4 rounds" in text
    assert '  a_again -->|"again"| a_0' in text
    assert '{"1 round"}' in loop(write, max_iterations=1).diagram()
    later = loop(write, until=lambda scope: True, check="round_end")
    assert "asked after each round" in later.diagram()


def test_branches_carry_their_conditions() -> None:
    def is_urgent(scope: AgenticScope) -> bool:
        """Somebody waits for it."""
        return True

    def by_hand(scope: AgenticScope) -> bool:
        return True

    text = conditional((is_urgent, write), (by_hand, publish)).diagram()
    check(text)
    assert [each for each in arrows(text) if "hold" in each] == [
        'all that hold |"Somebody waits for it#46;"| write',
        'all that hold |"by hand"| publish',
        'all that hold |"none holds"|  ',
        "start  all that hold",
    ]
    text = conditional((is_urgent, write), otherwise=publish, first_match=True).diagram()
    check(text)
    assert 'the first that holds |"otherwise"| publish' in arrows(text)
    assert "none holds" not in text
    assert '|"always"|' in conditional(write).diagram()


def test_a_map_says_what_it_goes_through() -> None:
    text = parallel_map(agent(name="translate")(lambda language: 1), items="languages").diagram()
    check(text)
    assert '{{"for each of languages"}}' in text


def test_a_planner_stands_in_the_middle_unless_it_says_otherwise() -> None:
    text = planned(Free, write, sequence(edit, publish)).diagram()
    check(text)
    assert [each for each in arrows(text) if "Free" in each] == [
        "Free  write",
        "Free  edit",
        "publish  Free",
        "start  Free",
        "Free  end",
    ]
    assert "a_hub <-.-> a_0" in text
    assert '{{"Free"}}' in planned(partial(Free), write).diagram()
    assert arrows(planned(Lined, write, edit).diagram())[0] == "write  edit"


def test_people_optional_and_background_agents_look_different() -> None:
    text = sequence(
        human_in_the_loop("editor", question="Shall we?", output_key="yes"),
        agent(name="maybe", optional=True)(lambda x: 1),
        agent(name="beside", background=True, output_key="b")(lambda: 1),
    ).diagram()
    check(text)
    assert '[/"editor<br/>Shall we?<br/>→ yes"/]:::human' in text
    assert '["maybe<br/>optional"]:::optional' in text
    assert '["beside<br/>→ b<br/>in the background"]:::optional' in text


def test_an_agent_alone_and_one_behind_a_protocol_are_drawn_too() -> None:
    class Magazine(Protocol):
        def make(self, topic: str) -> str: ...

    text = as_agent(write).diagram()
    check(text)
    assert arrows(text) == ["start  write", "write  end"]
    faced: Any = sequence(write, publish, service=Magazine)
    assert faced.diagram() == sequence(write, publish).diagram()


def nested(part: st.SearchStrategy[Agent]) -> st.SearchStrategy[Agent]:
    parts = st.lists(part, min_size=1, max_size=3)

    def make(parts: list[Agent], kind: int, text: str) -> Agent:
        name = f"x{text}"

        def condition(scope: AgenticScope) -> bool:
            return True

        condition.__doc__ = text
        match kind:
            case 0:
                return sequence(*parts, name=name)
            case 1:
                return parallel(*parts, name=name)
            case 2:
                return loop(*parts, name=name, until=condition)
            case 3:
                return conditional(*[(condition, each) for each in parts], name=name)
            case _:
                return planned(type(name, (Free,), {}) if "\0" not in name else Free, *parts, name=name)

    return st.builds(make, parts, st.integers(0, 4), TEXTS.filter(lambda text: text.isprintable()))


NUMBERS = count()
LEAVES = st.builds(
    lambda name, key: as_agent(agent(name=f"x{name}", output_key=f"{key}.{next(NUMBERS)}")(lambda: 1)),
    TEXTS,
    TEXTS,
)


@given(agents=st.recursive(LEAVES, nested, max_leaves=8))
def test_whatever_things_are_called_the_text_is_a_flowchart(agents: Agent) -> None:
    check(agents.diagram())
    assert agents.diagram() == agents.diagram()


@given(words=st.text())
def test_a_label_reads_as_it_was_written(words: str) -> None:
    shown = re.sub(r"#(\d+);", lambda code: chr(int(code[1])), escaped(words))
    expected = "".join(each if each.isprintable() else "\ufffd" for each in words) or " "
    assert shown == expected


def test_the_picture_in_the_documentation_is_that_of_its_code() -> None:
    text = (Path(__file__).parents[2] / "docs" / "monitoring.md").read_text(encoding="utf-8")
    code, picture = (text.split(f"```{kind}\n")[1].split("```")[0] for kind in ("python", "mermaid"))
    names: dict[str, Any] = {}
    exec(code, names)
    assert names["magazine"].diagram() == picture
    check(picture)


class Judge:
    def __call__(self, scope: AgenticScope) -> bool:
        return True


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ("as it is", "as it is"),
        (lambda scope: (scope.a or scope.b) and not scope.c, "(scope.a or scope.b) and (not scope.c)"),
        (lambda scope: [each for each in scope if each], "[each for each in scope if each]"),
        (eval("lambda scope: scope.a"), "condition"),
        (Judge(), "Judge"),
        (partial(Judge().__call__), "call"),
        (
            lambda scope: scope.read("the first key") and scope.read("the second key") is not None,
            "scope.read('the first key') and scope.read('the",
        ),
    ],
)
def test_a_condition_in_words(told: Any, words: str) -> None:
    shown = in_words(told)
    assert shown == words or (shown.startswith(words) and len(shown) == 60 and shown.endswith("…"))
