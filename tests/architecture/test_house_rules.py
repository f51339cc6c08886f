"""The house keeps its rules, and each rule can fail: it is shown a small tree that breaks it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.architecture import rules
from tests.architecture.sources import modules, project_files

ROOT = Path(__file__).parents[2]

Rule = Callable[[Path], list[str]]
RULES: tuple[Rule, ...] = (
    rules.upward_imports,
    rules.unplaced_modules,
    rules.import_cycles,
    rules.concurrency_outside_driving,
    rules.stale_exceptions,
    rules.vague_names,
    rules.long_files,
    rules.banned_text,
)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_house_keeps_the_rule_about(rule: Rule) -> None:
    assert rule(ROOT) == []


def test_the_rules_look_at_the_whole_house() -> None:
    assert {"aiservices", "outputparsers"} <= modules(ROOT).keys()
    assert Path(__file__) in project_files(ROOT)


@pytest.fixture
def build(tmp_path: Path) -> Callable[..., Path]:
    """Writes a tree from file names and texts, with the `__init__.py` that packages need."""

    def write(files: dict[str, str]) -> Path:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        for folder in {path.parent for path in tmp_path.rglob("*.py")} - {tmp_path}:
            (folder / "__init__.py").touch()
        return tmp_path

    return write


@pytest.mark.parametrize(
    "text",
    [
        "import aiservices.service",
        "from aiservices import service",
        "from aiservices.service import create",
        "from .. import service",
        "from ..service import create",
        "def later():\n    from aiservices.service import create",
        "if TYPE_CHECKING:\n    from aiservices.service import create",
        "importlib.import_module('aiservices.service')",
    ],
)
def test_an_upward_import_is_found_however_it_is_written(build: Callable[..., Path], text: str) -> None:
    root = build({"aiservices/service.py": "", "aiservices/tools/calling.py": text})
    assert rules.upward_imports(root) == ["aiservices.tools.calling imports aiservices.service"]


@pytest.mark.parametrize(
    ("importer", "text"),
    [
        ("aiservices/errors.py", "from aiservices import create"),
        ("aiservices/mcp/serving.py", "import aiservices.a2a.cards"),
        ("outputparsers/decoding.py", "from guardrails.verdicts import Accept"),
        ("guardrails/verdicts.py", "from outputparsers.decoding import decode"),
        ("guardrails/verdicts.py", "from aiservices.errors import AiServiceError"),
    ],
)
def test_the_root_the_neighbours_and_the_framework_are_closed(
    build: Callable[..., Path], importer: str, text: str
) -> None:
    house = dict.fromkeys(
        (
            "aiservices/errors.py",
            "aiservices/a2a/cards.py",
            "guardrails/verdicts.py",
            "outputparsers/decoding.py",
        ),
        "",
    )
    assert len(rules.upward_imports(build(house | {importer: text}))) == 1


def test_downward_imports_and_those_within_a_room_are_allowed(build: Callable[..., Path]) -> None:
    root = build(
        {
            "aiservices/__init__.py": "if TYPE_CHECKING:\n    from aiservices.service import create",
            "aiservices/service.py": "from aiservices.tools.calling import call\nimport json, outputparsers",
            "aiservices/tools/calling.py": "from .schema import render",
            "aiservices/tools/schema.py": "",
            "outputparsers/registry.py": "from outputparsers import decoding",
            "outputparsers/decoding.py": "",
        }
    )
    assert rules.upward_imports(root) == []
    assert rules.import_cycles(root) == []


def test_a_new_room_must_be_placed(build: Callable[..., Path]) -> None:
    root = build({"aiservices/attic/boxes.py": ""})
    assert rules.unplaced_modules(root) == [
        "aiservices.attic is in no layer",
        "aiservices.attic.boxes is in no layer",
    ]


def test_a_cycle_within_a_room_is_found_though_hidden_in_a_function(build: Callable[..., Path]) -> None:
    root = build(
        {
            "outputparsers/a.py": "from outputparsers import b",
            "outputparsers/b.py": "def late():\n    from outputparsers.c import d",
            "outputparsers/c.py": "if TYPE_CHECKING:\n    import outputparsers.a",
        }
    )
    (cycle,) = rules.import_cycles(root)
    assert set(cycle.split(" imports ")) == {"outputparsers.a", "outputparsers.b", "outputparsers.c"}


@pytest.mark.parametrize(
    ("text", "used"),
    [
        ("import asyncio", "asyncio"),
        ("from concurrent.futures import ThreadPoolExecutor", "concurrent"),
        ("def f():\n    import threading", "threading"),
        ("from time import sleep", "time.sleep"),
        ("import time\ntime.sleep(1)", "time.sleep"),
        ("import time as clock\nclock.sleep(1)", "time.sleep"),
    ],
)
def test_threads_loops_and_sleeping_live_only_in_driving(
    build: Callable[..., Path], text: str, used: str
) -> None:
    root = build({"aiservices/tools/loop.py": text, "aiservices/driving/threads.py": text})
    assert rules.concurrency_outside_driving(root, {}) == [f"aiservices.tools.loop uses {used}"]
    assert rules.concurrency_outside_driving(root, {("aiservices.tools.loop", used): "a reason"}) == []


def test_telling_the_time_is_not_sleeping(build: Callable[..., Path]) -> None:
    root = build({"aiservices/events.py": "import time\nfrom time import monotonic\ntime.time()"})
    assert rules.concurrency_outside_driving(root, {}) == []


def test_an_exception_that_nobody_needs_any_more_is_taken_back(build: Callable[..., Path]) -> None:
    root = build({"aiservices/models/openai.py": ""})
    allowed = {("aiservices.models.openai", "asyncio"): "a client for each loop"}
    assert rules.stale_exceptions(root, allowed) == ["aiservices.models.openai no longer uses asyncio"]


@pytest.mark.parametrize(
    "name",
    ["aiservices/utils.py", "tests/helpers/doubles.py", "outputparsers/_common.py", "examples/base.py"],
)
def test_a_name_for_no_concept_is_found(build: Callable[..., Path], name: str) -> None:
    assert name in rules.vague_names(build({name: ""}))


def test_a_file_may_have_400_lines_and_no_more(build: Callable[..., Path]) -> None:
    root = build({"tests/long.py": "x = 1\n" * 401, "tests/fine.py": "x = 1\n" * 400})
    assert rules.long_files(root) == ["tests/long.py has 401 lines"]


@pytest.mark.parametrize(
    "text",
    [
        "https://py" + "pi.org/simple",
        "files.python" + "hosted.org",
        "registry.npm" + "js.org",
        "deb." + "debian.org",
        "cd /wo" + "rk/main && make",
        "`/ro" + "ot/.cache`",
    ],
)
def test_hosts_of_registries_and_paths_of_a_machine_are_found(build: Callable[..., Path], text: str) -> None:
    root = build(
        {"docs/setup.md": f"fine\n{text}\n", "docs/fine.md": "pip install aiservices; /network/main"}
    )
    assert rules.banned_text(root) == ["docs/setup.md:2"]
