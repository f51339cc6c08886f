"""The project as text: its files, and its modules with what each imports. Nothing is imported to be read."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

PACKAGES = ("aiservices", "guardrails", "outputparsers")


@dataclass(frozen=True)
class Module:
    """A module of ours, by its dotted name; a package is the module of its `__init__.py`."""

    name: str
    path: Path

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.path.read_text(encoding="utf-8"), str(self.path))

    @cached_property
    def imports(self) -> frozenset[str]:
        """Full names of what is imported anywhere: in functions and under TYPE_CHECKING too.

        `from a import b` counts as `a.b`, which is a module or a name in `a`; see `imported_modules`.
        """
        return frozenset(name for node in ast.walk(self.tree) for name in self._named_by(node))

    def _named_by(self, node: ast.AST) -> Iterator[str]:
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                source = ".".join([*self._ancestor(level), *([module] if module else [])])
                yield from (f"{source}.{alias.name}" for alias in names)
            case ast.Call(
                func=ast.Name(id="import_module") | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str() as name)],
            ):
                yield name

    def _ancestor(self, level: int) -> list[str]:
        if not level:
            return []
        parts = self.name.split(".")
        if self.path.name == "__init__.py":
            level -= 1
        return parts[: len(parts) - level]


def modules(root: Path) -> dict[str, Module]:
    """Every module of the three packages under `root`, by name."""
    found = {}
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            name = ".".join(parts).removesuffix(".__init__")
            found[name] = Module(name, path)
    return found


def imported_modules(module: Module, known: dict[str, Module]) -> frozenset[str]:
    """The modules of ours that `module` imports: of each imported name, the longest part that is a module."""
    return frozenset(
        found for name in module.imports if (found := _module_in(name, known)) and found != module.name
    )


def _module_in(name: str, known: dict[str, Module]) -> str | None:
    while name and name not in known:
        name = name.rpartition(".")[0]
    return name or None


def project_files(root: Path) -> list[Path]:
    """Every file that is or may be committed; of a tree without Git, every file in no hidden folder."""
    if not (root / ".git").exists():
        return sorted(path for path in root.rglob("*") if path.is_file() and not _is_hidden(path, root))
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root, capture_output=True, text=True, check=True,
    )  # fmt: skip
    paths = (root / name for name in listed.stdout.split("\0") if name)
    return sorted(path for path in paths if path.is_file())


def _is_hidden(path: Path, root: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(root).parts)
