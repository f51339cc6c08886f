"""Reading skills from folders, in the file system or within packages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from ..errors import ConfigurationError
from .front_matter import read_front_matter
from .skill import Skill

FILE: Final = "SKILL.md"
NOT_RESOURCES: Final = "scripts"
"""The folder of a skill whose files are for programs: a model is not shown them."""
_IN_PACKAGE: Final = re.compile(r"([^\W\d][\w.]+):(.*)")


def load_skills(path: str | Path | Traversable) -> tuple[Skill, ...]:
    """The skills in a folder: one for each sub-folder with a `SKILL.md`, in the order of their names.

    `path` is a folder, an `importlib.resources` folder, or `"package:folder"`. A folder that has a `SKILL.md`
    itself is one skill. All other UTF-8 files of a skill are its resources, except blank ones, hidden ones
    and its `scripts`. Needs the extra `skills`. Raises `ConfigurationError` naming every file that cannot be
    used: without front matter, `name` or `description`, without a body, or a link that leads out of `path`.
    """
    root = _folder(path)
    problems: list[str] = []
    skills: list[Skill] = []
    places = [root] if root.joinpath(FILE).is_file() else sorted(root.iterdir(), key=lambda item: item.name)
    for place in places:
        try:
            if place.is_dir() and place.joinpath(FILE).is_file():
                skills.append(_skill(place, root))
            elif place.is_dir():
                problems += _misnamed(place)
        except ConfigurationError as error:
            problems += error.problems
        except (OSError, RuntimeError) as error:  # the latter for links in a circle, before Python 3.13
            problems.append(f"{place.name} cannot be read: {error}")
    names = [skill.name for skill in skills]
    problems += [
        f"{path}: two skills are called {name!r}" for name in dict.fromkeys(names) if names.count(name) > 1
    ]
    if problems:
        raise ConfigurationError(problems)
    return tuple(skills)


def _misnamed(place: Traversable) -> list[str]:
    """What is wrong with the files of a folder that is no skill: one may be meant to make it one."""
    return [
        f"{place.name}/{entry.name}: call it {FILE}"
        for entry in place.iterdir()
        if entry.name.lower() == FILE.lower()
    ]


def _folder(path: str | Path | Traversable) -> Traversable:
    if not isinstance(path, str | Path | Traversable) or path == "":
        raise ConfigurationError(f"skills: {path!r} is no folder: give a path")
    folder: Traversable = Path(path) if isinstance(path, str) else path
    if isinstance(path, str) and not folder.is_dir() and (found := _IN_PACKAGE.fullmatch(path)):
        try:
            folder = files(found[1])
        except (ImportError, TypeError) as error:
            raise ConfigurationError(f"skills: there is no package {found[1]!r} ({error})") from error
        inside = [part for part in found[2].split("/") if part not in ("", ".")]
        if ".." in inside:
            raise ConfigurationError(f"skills: {path!r} leads out of its package")
        folder = folder.joinpath(*inside)
    if not folder.is_dir():
        raise ConfigurationError(
            f'skills: {str(path)!r} is no folder: give one, or "package:folder", that holds a folder with a '
            f"{FILE} for each skill"
        )
    return folder


def _skill(place: Traversable, root: Traversable) -> Skill:
    where = f"{place.name}/{FILE}"
    _check_inside(place, root)
    _check_inside(place.joinpath(FILE), root)
    text = _text(place.joinpath(FILE))
    if text is None:
        raise ConfigurationError(f"{where} is no UTF-8 text")
    fields, body = read_front_matter(text, where)
    missing = [name for name in ("name", "description") if not _is_text(fields.get(name))]
    if missing:
        raise ConfigurationError(
            f"{where}: the front matter has no text for {name!r}: write `{name}: ...`" for name in missing
        )
    if not body.strip():
        raise ConfigurationError(f"{where} has no body: write the instructions below the front matter")
    resources = {
        relative: text
        for relative, text in _resources(place, root, "")
        if relative != FILE and not relative.startswith(f"{NOT_RESOURCES}/")
    }
    return Skill(fields["name"].strip(), fields["description"].strip(), body.strip(), resources)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _resources(folder: Traversable, root: Traversable, prefix: str) -> Iterator[tuple[str, str]]:
    """The texts below a folder. A link to a folder is not followed: what it shows is found where it is."""
    for entry in sorted(folder.iterdir(), key=lambda item: item.name):
        if entry.name.startswith("."):
            continue
        _check_inside(entry, root)
        if entry.name.encode(errors="ignore").decode() != entry.name:
            raise ConfigurationError(f"{folder.name}/{entry.name!a}: the name is no UTF-8 text: rename it")
        if entry.is_dir():
            if not (isinstance(entry, Path) and entry.is_symlink()):
                yield from _resources(entry, root, f"{prefix}{entry.name}/")
        elif entry.is_file() and (text := _text(entry)) is not None and text.strip():
            yield prefix + entry.name, text


def _check_inside(entry: Traversable, root: Traversable) -> None:
    if not isinstance(entry, Path) or not isinstance(root, Path):
        return  # packages that are no folders have no links
    if not entry.resolve().is_relative_to(root.resolve()):
        raise ConfigurationError(
            f"{entry.relative_to(root)} is a link that leads out of the folder of skills: copy what it shows"
        )


def _text(file: Traversable) -> str | None:
    """The text of a file; `None` for one that is no text."""
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    if "\0" in text:
        return None
    return text.replace("\r\n", "\n").replace("\r", "\n")
