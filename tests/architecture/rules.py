"""The rules of the house. Each takes a tree's root and returns complaints: tests show each one failing."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from tests.architecture.sources import Module, imported_modules, modules, project_files

# Bottom first. A module imports only from lines above its own, or from its own room.
# Rooms on one line do not know each other. The root is lazy and may name everything; nothing imports it.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("guardrails", "outputparsers"),
    ("aiservices.messages",),
    ("aiservices.segments",),
    ("aiservices.closing", "aiservices.guessing"),
    ("aiservices.results",),
    ("aiservices.metering",),
    ("aiservices.errors",),
    ("aiservices.context",),
    ("aiservices.events",),
    ("aiservices.streams",),
    ("aiservices.driving",),
    ("aiservices.stores",),
    ("aiservices.models",),
    ("aiservices.tools",),
    ("aiservices.leasing",),
    ("aiservices.memory",),
    ("aiservices.templates",),
    ("aiservices.rag",),
    ("aiservices.skills",),
    ("aiservices.observability",),
    ("aiservices.declaring",),
    ("aiservices.reading",),
    ("aiservices.proxying",),
    ("aiservices.invocation",),
    ("aiservices.stages",),
    ("aiservices.pipeline",),
    ("aiservices.options",),
    ("aiservices.assembling",),
    ("aiservices.streaming",),
    ("aiservices.calling",),
    ("aiservices.service",),
    ("aiservices.react",),
    ("aiservices.agentic",),
    ("aiservices.mcp", "aiservices.a2a", "aiservices.serve"),
    ("aiservices.testing",),
    ("aiservices.asking", "aiservices.ingesting"),
    ("aiservices.cli",),
    ("aiservices",),
)
FLOOR = {room: floor for floor, rooms in enumerate(LAYERS) for room in rooms}

CONCURRENCY = frozenset(
    {"anyio", "asyncio", "concurrent", "multiprocessing", "queue", "threading", "time.sleep"}
)
HOME_OF_CONCURRENCY = "aiservices.driving"
# (module, what it imports) -> why it must, outside of `aiservices/driving/`.
CONCURRENCY_ELSEWHERE: dict[tuple[str, str], str] = {}

VAGUE = frozenset({"base", "common", "helpers", "manager", "utils"})
MOST_LINES = 400

# Hosts of registries and paths of one machine, written so that this file does not match itself.
BANNED = re.compile(
    r"""py[p]i\.org | python[h]osted\.org | npm[j]s\.(org|com) | deb\.[d]ebian\.org
      | (?<![\w./-]) / ( [w]ork/(main|shared|steering|\.library) | [o]pt/(pypi|wheels) | [r]oot/ )
    """,
    re.VERBOSE,
)


def room_of(module: str) -> str:
    """`aiservices.models.openai` is in the room `aiservices.models`; a leaf is one room."""
    top, _, rest = module.partition(".")
    return f"{top}.{rest.split('.')[0]}" if top == "aiservices" and rest else top


def upward_imports(root: Path) -> list[str]:
    """Imports from a higher floor, from a room on the same floor, or of the root."""
    known = modules(root)
    return [
        f"{module.name} imports {imported}"
        for module in known.values()
        for imported in sorted(imported_modules(module, known))
        if not may_import(room_of(module.name), room_of(imported))
    ]


def may_import(room: str, imported: str) -> bool:
    if room not in FLOOR or imported not in FLOOR:
        return True  # said once, by `unplaced_modules`
    return room == imported or FLOOR[imported] < FLOOR[room]


def unplaced_modules(root: Path) -> list[str]:
    return [f"{name} is in no layer" for name in modules(root) if room_of(name) not in FLOOR]


def import_cycles(root: Path) -> list[str]:
    known = modules(root)
    try:
        TopologicalSorter({name: imported_modules(each, known) for name, each in known.items()}).prepare()
    except CycleError as error:
        return [" imports ".join(reversed(error.args[1]))]
    return []


def concurrency_outside_driving(
    root: Path, allowed: Mapping[tuple[str, str], str] = CONCURRENCY_ELSEWHERE
) -> list[str]:
    return [
        f"{name} uses {used}" for name, used in concurrency_elsewhere(root) if (name, used) not in allowed
    ]


def stale_exceptions(root: Path, allowed: Mapping[tuple[str, str], str] = CONCURRENCY_ELSEWHERE) -> list[str]:
    used = set(concurrency_elsewhere(root))
    return [f"{name} no longer uses {what}" for name, what in allowed if (name, what) not in used]


def concurrency_elsewhere(root: Path) -> list[tuple[str, str]]:
    return [
        (module.name, used)
        for module in modules(root).values()
        if room_of(module.name) != HOME_OF_CONCURRENCY
        for used in sorted(concurrency_in(module))
    ]


def concurrency_in(module: Module) -> set[str]:
    named = module.imports | set(_attributes_of_time(module))
    return {each for name in named for each in CONCURRENCY if f"{name}.".startswith(f"{each}.")}


def _attributes_of_time(module: Module) -> Iterator[str]:
    names = {
        alias.asname or alias.name
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.name == "time"
    }
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in names:
            yield f"time.{node.attr}"


def vague_names(root: Path) -> list[str]:
    """Modules and folders of modules that are named for no concept, private ones too."""
    python = (path.relative_to(root) for path in project_files(root) if path.suffix == ".py")
    return [
        str(path) for path in python if any(part.strip("_") in VAGUE for part in path.with_suffix("").parts)
    ]


def long_files(root: Path) -> list[str]:
    counts = {
        path: len(path.read_bytes().splitlines()) for path in project_files(root) if path.suffix == ".py"
    }
    return [
        f"{path.relative_to(root)} has {count} lines" for path, count in counts.items() if count > MOST_LINES
    ]


def banned_text(root: Path) -> list[str]:
    """Lines that name the host of a package registry or a path of one machine."""
    complaints = []
    for path in project_files(root):
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        found = (number for number, line in enumerate(lines, start=1) if BANNED.search(line))
        complaints += [f"{path.relative_to(root)}:{number}" for number in found]
    return complaints
