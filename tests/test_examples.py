"""Every example runs as a user would run it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from aiservices import ToolCall
from aiservices.testing import ScriptedChatModel
from tests.programs import complaints

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"


def run(name: str, *args: str, answers: str = "") -> str:
    command = [sys.executable, "-X", "dev", "-W", "error", str(EXAMPLES / name), *args]
    done = subprocess.run(command, input=answers, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert not complaints(done.stderr)
    return done.stdout


def test_the_quickstart_classifies_extracts_and_answers_on_the_embedded_model() -> None:
    said = run("quickstart.py").splitlines()
    assert said[0].startswith("'I love this blender.' is positive")
    assert said[1].startswith("'The worst phone I ever had.' is negative")
    assert said[2] == "Tom Becker is 45"
    assert "Paris" in said[3]


def test_the_travel_desk_leaves_nothing_booked_when_the_car_is_sold_out() -> None:
    said = run("travel_desk.py")
    assert said.splitlines()[:7] == [
        "  booked    FL-1: flight in Rome",
        "  booked    HO-2: hotel in Rome",
        "  cancelled HO-2: hotel in Rome",
        "  cancelled FL-1: flight in Rome",
        "  book_flight: rolled back",
        "  book_hotel: rolled back",
        "  book_car: failed",
    ]


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [("yes\n", "Done: draft.txt is deleted"), ("I need it\n", "was not approved: I need it")],
)
def test_the_approval_example_asks_at_the_terminal(answer: str, outcome: str) -> None:
    said = run("approval.py", answers=answer)
    assert 'delete_file({"name": "draft.txt"}) - run it?' in said
    assert outcome in said


def test_the_guarded_librarian_sends_no_attack_and_asks_again_for_a_short_answer() -> None:
    said = run("guarded.py").splitlines()
    assert said[0] == "not sent: PromptInjection"
    assert said[1].startswith("rejected: ")
    assert said[2].startswith("  because brief: ")
    assert said[-1].startswith("accepted: ")
    assert "Shakespeare" in said[-1]
    assert len(said[-1]) <= len("accepted: ") + 100


def test_the_conversation_survives_a_restart() -> None:
    said = run("conversation.py").splitlines()
    assert said[1] == "friend: Nice to meet you, Ann!"
    assert said[3] == "friend: You told me: I am Ann, and I keep bees."


def test_the_knowledge_example_answers_from_its_sources_or_not_at_all() -> None:
    said = run("knowledge.py").splitlines()
    assert "three hearts" in said[1]
    assert said[2].endswith(" octopus")
    assert said[-1] == "! I have nothing on that, so I did not ask the model."


def test_retrieval_accuracy_measures_the_three_ways_side_by_side() -> None:
    """The documentation shows these figures; on other processors the embedded model rounds otherwise."""
    page = (ROOT / "docs" / "retrieval.md").read_text(encoding="utf-8")
    shown, measured = figures(page), figures(run("retrieval_accuracy.py"))
    assert shown.keys() == measured.keys() == {"dense", "keyword", "hybrid"}
    assert measured["keyword"] == shown["keyword"]
    for way in ("dense", "hybrid"):
        off = [abs(here - there) for here, there in zip(measured[way], shown[way], strict=True)]
        assert max(off) <= 2
    assert measured["dense"][0] > measured["hybrid"][0] > measured["keyword"][0]


def figures(text: str) -> dict[str, list[int]]:
    """The numbers of each way to retrieve, from its line in a table."""
    lines = re.findall(r"^(dense|keyword|hybrid) (.* of 30 .*)$", text, re.MULTILINE)
    return {way: [int(number) for number in re.findall(r"\d+", numbers)] for way, numbers in lines}


def test_the_agent_waits_for_approval_and_another_one_finishes() -> None:
    assert run("react_agent.py").splitlines() == [
        "start: goes on",
        "agent: goes on",
        "action: interrupted",
        'waits: order({"book": "Emma", "copies": 5})',
        "  ordering 5 copies of Emma",
        "agent: Five copies of Emma are on their way, thank you!",
        "the skill was in the request: True",
        "and is put away: ()",
        "checkpoints: ['agent', 'action', 'action', 'action', 'agent', 'start']",
    ]


def test_accuracy_counts_what_the_embedded_model_gets_right() -> None:
    said = run("accuracy.py", "--only", "sentiment", "--first", "2")
    assert "/2 right" in said
    assert "0 unusable" in said


def test_the_story_writer_improves_until_the_critic_is_content() -> None:
    said = run("story_writer.py").splitlines()
    assert [line.split(":")[0] for line in said] == ["draft", "edit", "score", "edit", "score", "The story"]
    assert said[-1] == f"The story: {said[3].removeprefix('edit: ')}"


def test_the_evening_planner_has_a_meal_and_a_film() -> None:
    assert run("evening_planner.py").splitlines() == ["Eat:   Risotto by candlelight", "Watch: Roman Holiday"]


def test_the_expert_router_asks_the_expert_of_the_field() -> None:
    assert run("expert_router.py") == "doctor: Cool it under running water for twenty minutes.\n"


@pytest.mark.parametrize("name", ["evening_planner.py", "expert_router.py"])
def test_agents_run_on_the_embedded_model(name: str) -> None:
    assert run(name, "--model", "local")


def test_the_bank_supervisor_moves_money_from_one_account_to_the_other() -> None:
    said = run("bank_supervisor.py")
    assert "ledger: Mario -80 EUR, now 920 EUR" in said
    assert "ledger: Georgios +80 EUR, now 130 EUR" in said
    assert said.splitlines()[-1] == "100 USD, which are 80 EUR, went from Mario to Georgios."


def test_a_transfer_that_fails_half_way_leaves_both_accounts_as_they_were(
    capsys: pytest.CaptureFixture[str],
) -> None:
    from examples.bank_supervisor import main

    withdrawing = ToolCall("c1", "withdraw", '{"user": "Mario", "amount": 80}')
    ledger = main(telling=ScriptedChatModel(withdrawing, "done", OSError("the line is dead")))
    assert ledger.accounts == {"Mario": 1000, "Georgios": 50}
    said = capsys.readouterr().out
    assert "ledger: Mario -80 EUR" in said
    assert "ledger: Mario +80 EUR" in said
    assert said.splitlines()[-1] == "failed: the line is dead"


def test_there_is_a_test_for_every_example() -> None:
    here = Path(__file__)
    tested = "".join(path.read_text(encoding="utf-8") for path in (here, here.with_name("test_browser.py")))
    examples = [path for path in EXAMPLES.glob("*.py") if path.name != "__init__.py"]
    missing = [
        path.name
        for path in examples
        if f'"{path.name}"' not in tested and f"examples.{path.stem} " not in tested
    ]
    assert not missing
