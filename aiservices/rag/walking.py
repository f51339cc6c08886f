"""Which files of a folder are meant, in an order that stays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath


@dataclass(frozen=True, slots=True)
class Found:
    """A file, and its path relative to the folder, with `/` on every system."""

    path: str
    file: Traversable


def walk(folder: Traversable, glob: str) -> list[Found]:
    """The files that a glob means, sorted by their paths. Raises `ValueError` for one that leaves the folder.

    `**` stands for any number of folders, `*`, `?` and `[...]` for parts of one name. What begins with a dot
    is hidden and not meant, unless that part of the glob begins with a dot too. Links to files are followed
    and links to folders are not, so that a loop does no harm.
    """
    pattern = PurePosixPath(glob.replace("\\", "/"))
    if pattern.is_absolute() or ".." in pattern.parts or not pattern.parts:
        raise ValueError(f"glob={glob!r} is no pattern inside of the folder, such as '**/*.md'")
    hidden = any(part.startswith(".") for part in pattern.parts)
    return sorted(_found(folder, (), pattern.parts, hidden=hidden), key=lambda found: found.path)


def _found(
    folder: Traversable, above: tuple[str, ...], pattern: Sequence[str], *, hidden: bool
) -> Iterator[Found]:
    for entry in folder.iterdir():
        parts = (*above, entry.name)
        if entry.name.startswith(".") and not hidden:
            continue
        if entry.is_dir():
            if not (isinstance(entry, Path) and entry.is_symlink()):
                yield from _found(entry, parts, pattern, hidden=hidden)
        elif entry.is_file() and _matches(parts, pattern):
            yield Found("/".join(parts), entry)


def _matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    if not pattern:
        return not parts
    first, *others = pattern
    if first == "**":
        visible = next((index for index, part in enumerate(parts) if part.startswith(".")), len(parts))
        return any(_matches(parts[index:], others) for index in range(visible + 1))
    if not parts or (parts[0].startswith(".") and not first.startswith(".")):
        return False
    return fnmatchcase(parts[0], first) and _matches(parts[1:], others)
