"""Skills are read from folders, and what cannot be used is named."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from aiservices import ConfigurationError
from aiservices.skills import Skill, load_skills
from tests.skills.writing import HEAD, write_skill


def test_a_folder_has_a_skill_in_each_sub_folder(tmp_path: Path) -> None:
    """SK1"""
    for name in ("c", "a", "b"):
        write_skill(tmp_path, name, f"\n  How to {name}.\n\n")
    skills = load_skills(tmp_path)
    assert [skill.name for skill in skills] == ["a", "b", "c"]
    assert skills[0] == Skill("a", "What a is for", "How to a.")
    assert load_skills(str(tmp_path)) == skills


def test_folders_without_a_skill_are_none(tmp_path: Path) -> None:
    """SK2"""
    (tmp_path / "notes").mkdir()
    (tmp_path / "README.md").write_text("nothing")
    (tmp_path / "lower").mkdir()
    (tmp_path / "lower" / "notes.md").write_text("nothing")
    assert load_skills(tmp_path) == ()


def test_a_file_in_lower_case_is_told_to_be_renamed(tmp_path: Path) -> None:
    (tmp_path / "shipping").mkdir()
    (tmp_path / "shipping" / "Skill.md").write_text("---\nname: a\ndescription: b\n---\nText")
    if not (tmp_path / "shipping" / "SKILL.md").exists():  # file systems may take both for one
        with pytest.raises(ConfigurationError, match=r"^shipping/Skill.md: call it SKILL.md$"):
            load_skills(tmp_path)


def test_a_folder_that_is_a_skill_is_one(tmp_path: Path) -> None:
    folder = write_skill(tmp_path, "a", notes_dot_md="x")
    (skill,) = load_skills(folder)
    assert dict(skill.resources) == {"notes.md": "x"}


def test_resources_are_the_texts_beside_it(tmp_path: Path) -> None:
    """SK3"""
    write_skill(
        tmp_path,
        "a",
        **{
            "references__a_dot_md": "the map\r\nof it",
            "references__deep__b_dot_md": "deeper",
            "scripts__x_dot_py": "print()",
            "scripts-x__y_dot_txt": "kept",
            "blank_dot_md": " \n",
            "picture_dot_png": b"\x89PNG\r\n\x1a\n\x00",
            "zeros_dot_bin": b"a\0b",
            "_dot_hidden": "secret",
        },
    )
    (skill,) = load_skills(tmp_path)
    assert dict(skill.resources) == {
        "references/a.md": "the map\nof it",
        "references/deep/b.md": "deeper",
        "scripts-x/y.txt": "kept",
    }


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("Just a body", "bad/SKILL.md has no front matter"),
        ("---\nname: x\ndescription: y\nbody", "bad/SKILL.md has no front matter"),
        ("---\ndescription: y\n---\nbody", "bad/SKILL.md: the front matter has no text for 'name'"),
        ("---\nname: x\n---\nbody", "bad/SKILL.md: the front matter has no text for 'description'"),
        ("---\nname: ' '\ndescription: [a]\n---\nbody", "no text for 'name'"),
        ("---\nname: 3\ndescription: x\n---\nbody", "no text for 'name'"),
        ("---\n- a\n---\nbody", "the front matter is no mapping"),
        ("---\n---\nbody", "the front matter is no mapping"),
        ("---\nname: x\ndescription: a: b: c\n---\nbody", "no YAML in line 3"),
        ("---\nname: x\ndescription: y\n---\n \n", "bad/SKILL.md has no body"),
        ("---\nname: x\ndescription: y\ndate: 2024-13-45\n---\nbody", "no YAML: month must be in 1..12"),
        ("---\nname: x\ndescription: y\nat: !!float a\n---\nbody", "no YAML: could not convert"),
        (f"---\nname: x\ndescription: y\nin: {'[' * 2000}\n---\nbody", "no YAML"),
        ("---\nname: |\n  x\n  y\ndescription: y\n---\nbody", "is more than a line"),
    ],
)
def test_a_file_that_cannot_be_used_is_named(tmp_path: Path, text: str, complaint: str) -> None:
    write_skill(tmp_path, "good")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "SKILL.md").write_text(text)
    with pytest.raises(ConfigurationError, match=complaint):
        load_skills(tmp_path)


def test_all_problems_come_in_one_error(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    (tmp_path / "one" / "SKILL.md").write_text("no head")
    (tmp_path / "two" / "SKILL.md").write_bytes(b"\xff\xfe")
    write_skill(tmp_path, "three")
    (write_skill(tmp_path, "four") / "SKILL.md").write_text(f"{HEAD.format(name='three')}body")
    with pytest.raises(ConfigurationError) as caught:
        load_skills(tmp_path)
    assert len(caught.value.problems) == 3
    assert "two/SKILL.md is no UTF-8 text" in caught.value.problems
    assert caught.value.problems[-1].endswith("two skills are called 'three'")


@pytest.mark.parametrize(
    ("head", "description"),
    [
        ("description: |\n  one\n\n  two\n", "one\n\ntwo"),
        ("description: 'quoted: yes'\n", "quoted: yes"),
        ("description: >-\n  folded\n  text\nmetadata:\n  tags: [a, b]\n", "folded text"),
    ],
)
def test_front_matter_is_yaml(tmp_path: Path, head: str, description: str) -> None:
    """LG-123, LG-124"""
    folder = write_skill(tmp_path, "a")
    text = f"\ufeff---\r\nname: a\r\n{head}---\r\n---\r\nbody"
    (folder / "SKILL.md").write_text(text.replace("\n", "\r\n").replace("\r\r", "\r"), encoding="utf-8")
    (skill,) = load_skills(tmp_path)
    assert skill.description == description
    assert skill.body == "---\nbody"


def test_a_tag_that_would_run_code_is_refused(tmp_path: Path) -> None:
    (write_skill(tmp_path, "a") / "SKILL.md").write_text(
        "---\nname: !!python/object/apply:os.getcwd []\ndescription: x\n---\nbody"
    )
    with pytest.raises(ConfigurationError, match="no YAML"):
        load_skills(tmp_path)


def test_links_that_lead_out_are_refused(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    outside = write_skill(tmp_path / "elsewhere", "other")
    for number, (link, target) in enumerate(
        [("notes.md", tmp_path / "secret.txt"), ("more", tmp_path), ("SKILL.md", outside / "SKILL.md")]
    ):
        root = tmp_path / f"skills{number}"
        folder = write_skill(root, "a")
        (folder / link).unlink(missing_ok=True)
        (folder / link).symlink_to(target)
        with pytest.raises(ConfigurationError, match=f"a/{link} is a link that leads out"):
            load_skills(root)
    root = tmp_path / "skills"
    root.mkdir()
    (root / "linked").symlink_to(outside)
    with pytest.raises(ConfigurationError, match="linked is a link that leads out"):
        load_skills(root)


def test_links_that_stay_inside_are_read_once(tmp_path: Path) -> None:
    folder = write_skill(tmp_path, "a", notes__x_dot_md="x")
    (folder / "again.md").symlink_to(folder / "notes" / "x.md")
    (folder / "loop").symlink_to(folder)
    (skill,) = load_skills(tmp_path)
    assert dict(skill.resources) == {"again.md": "x", "notes/x.md": "x"}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    name = "a_package_with_skills"
    root = tmp_path / name
    write_skill(root / "skills" / "deep", "a", notes_dot_md="x")
    (root / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


def test_skills_may_lie_in_a_package(package: str) -> None:
    expected = (Skill("a", "What a is for", "The body.", {"notes.md": "x"}),)
    assert load_skills(f"{package}:skills/deep") == expected
    assert load_skills(files(package) / "skills" / "deep") == expected


@pytest.mark.parametrize(
    ("path", "complaint"),
    [
        ("no_such_package:skills", "no package 'no_such_package'"),
        ("a_package_with_skills:nope", "is no folder"),
        ("a_package_with_skills:../..", "leads out of its package"),
        ("/no/such/folder", "is no folder"),
    ],
)
def test_a_folder_that_is_not_there_is_named(package: str, path: str, complaint: str) -> None:
    with pytest.raises(ConfigurationError, match=complaint):
        load_skills(path)


def test_skills_may_lie_in_an_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_skill(tmp_path / "zipped_skills", "a", notes_dot_md="x")
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as archive:
        archive.writestr("zipped_skills/__init__.py", "")
        for file in folder.iterdir():
            archive.write(file, f"zipped_skills/a/{file.name}")
    monkeypatch.syspath_prepend(str(tmp_path / "packed.zip"))
    (skill,) = load_skills("zipped_skills:")
    assert (skill.name, dict(skill.resources)) == ("a", {"notes.md": "x"})


@pytest.mark.parametrize("resources", [["a"], {"a": b"b"}, {1: "b"}, None])
def test_resources_are_texts(resources: Any) -> None:
    with pytest.raises(ConfigurationError, match="resources of the skill 'a' are no mapping from paths to"):
        Skill("a", "b", "c", resources)


def test_a_link_in_a_circle_is_named(tmp_path: Path) -> None:
    (write_skill(tmp_path, "a") / "circle").symlink_to("circle")
    with pytest.raises(ConfigurationError, match="circle"):
        load_skills(tmp_path)


def test_a_file_whose_name_is_no_text_is_refused(tmp_path: Path) -> None:
    (write_skill(tmp_path, "a") / os.fsdecode(b"\xff.txt")).write_text("x")
    with pytest.raises(ConfigurationError, match="the name is no UTF-8 text"):
        load_skills(tmp_path)


@pytest.mark.parametrize("fields", [("", "d"), ("n", " "), (None, "d")])
def test_a_skill_has_a_name_and_a_description(fields: Any) -> None:
    with pytest.raises(ConfigurationError, match="of the skill"):
        Skill(*fields, "body")


def test_without_yaml_the_extra_is_named(tmp_path: Path) -> None:
    write_skill(tmp_path, "a")
    program = (
        "import sys; sys.modules['yaml'] = None\n"
        "from aiservices.skills import load_skills\n"
        f"try:\n    load_skills({str(tmp_path)!r})\n"
        "except ImportError as error:\n    print(type(error).__name__, error)\n"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("MissingExtraError")
    assert "aiservices[skills]" in done.stdout


@pytest.mark.parametrize("path", [None, 3, ["skills"], ""])
def test_what_is_no_path_is_told(path: Any) -> None:
    with pytest.raises(ConfigurationError, match="is no folder: give a path"):
        load_skills(path)
