"""Folders of skills."""

from __future__ import annotations

from pathlib import Path

HEAD = "---\nname: {name}\ndescription: What {name} is for\n---\n"


def write_skill(root: Path, name: str, body: str = "The body.", **files: str | bytes) -> Path:
    """A folder with a SKILL.md, and files whose names have `__` for `/` and `_dot_` for `.`."""
    folder = root / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "SKILL.md").write_text(f"{HEAD.format(name=name)}{body}", encoding="utf-8")
    for coded, content in files.items():
        path = folder / coded.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder
