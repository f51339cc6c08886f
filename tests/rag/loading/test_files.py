"""Loading files, folders and packages."""

from __future__ import annotations

import os
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from aiservices.rag import (
    Document,
    FailedDocument,
    LoadingError,
    load_directory,
    load_file,
    load_package,
    stream_directory,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "handbook"
    for name, text in {
        "b.md": "# B",
        "a.txt": "A",
        "deep/er/c.txt": "C",
        "deep/blank.md": "\n",
        ".hidden.txt": "no",
        ".git/config.txt": "no",
    }.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (root / "picture").write_bytes(b"\x89PNG\0\0")
    return root


def ids(documents: list[Document]) -> list[str | None]:
    return [document.id for document in documents]


def test_a_file_is_a_document_that_knows_where_it_comes_from(tmp_path: Path) -> None:
    file = tmp_path / "straße.md"
    file.write_bytes("\ufeff# Straße\r\n".encode())
    document = load_file(file)
    assert document.text == "# Straße\r\n"
    assert document.metadata == {"file_name": "straße.md", "absolute_directory_path": str(tmp_path)}
    assert document.id == file.as_posix()
    assert load_file(str(file)) == document


def test_a_folder_is_read_in_the_order_of_its_paths(folder: Path) -> None:
    documents = load_directory(folder)
    assert ids(documents) == ["a.txt", "b.md", "deep/blank.md", "deep/er/c.txt"]
    assert documents[3].metadata == {
        "file_name": "c.txt",
        "absolute_directory_path": str(folder / "deep" / "er"),
    }


@pytest.mark.parametrize(
    ("glob", "expected"),
    [
        ("*.txt", ["a.txt"]),
        ("**/*.txt", ["a.txt", "deep/er/c.txt"]),
        ("deep/**", ["deep/blank.md", "deep/er/c.txt"]),
        ("deep/*/c.*", ["deep/er/c.txt"]),
        ("**/er/**/c.txt", ["deep/er/c.txt"]),
        ("[ab].*", ["a.txt", "b.md"]),
        ("nothing", []),
        (".*", [".hidden.txt"]),
        (".git/*", [".git/config.txt"]),
    ],
)
def test_a_glob_means_paths_relative_to_the_folder(folder: Path, glob: str, expected: list[str]) -> None:
    """M10"""
    assert ids(load_directory(folder, glob=glob)) == expected


@pytest.mark.parametrize("glob", ["../*", "/etc/*", "a/../b", ""])
def test_a_glob_does_not_leave_the_folder(folder: Path, glob: str) -> None:
    with pytest.raises(ValueError, match="no pattern inside of the folder"):
        load_directory(folder, glob=glob)


def test_a_blank_file_is_a_document_of_nothing(folder: Path) -> None:
    """M9: so that what was ingested of it before is removed."""
    (folder / "deep" / "blank.md").write_bytes(b"")
    (document,) = load_directory(folder, glob="deep/*.md")
    assert document.text == ""


def test_what_cannot_be_read_is_named_or_left_out(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    """M9"""
    (folder / "aa.txt").write_bytes("Füße".encode("latin-1"))
    with pytest.raises(LoadingError, match=r"aa\.txt is not utf-8 at byte 1: give a parser") as failed:
        load_directory(folder)
    assert failed.value.source == str(folder / "aa.txt")
    assert ids(load_directory(folder, glob="*", on_error="skip")) == ["a.txt", "b.md"]
    assert "aa.txt is not utf-8" in caplog.text
    _, second, _ = stream_directory(folder, glob="*")
    assert isinstance(second, FailedDocument)
    assert second.id == "aa.txt"


def test_a_parser_reads_every_file(folder: Path) -> None:
    found = load_directory(folder, glob="*", parser=lambda data: data.decode("latin-1").upper())
    assert [document.text for document in found] == ["A", "# B", "\x89PNG\0\0"]


def test_a_parser_knows_metadata_of_which_those_of_the_source_stand(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """M8"""
    document = load_file(
        folder / "a.txt", parser=lambda data: Document("read", {"author": "Ann", "file_name": "x"}, id="y")
    )
    assert document.text == "read"
    assert (document.metadata["author"], document.metadata["file_name"]) == ("Ann", "a.txt")
    assert document.id == (folder / "a.txt").as_posix()
    assert "says that file_name is 'x', not 'a.txt'" in caplog.text


def test_a_parser_that_fails_or_gives_something_else_is_named_with_its_file(folder: Path) -> None:
    def fail(data: bytes) -> str:
        raise KeyError("page")

    wrong: Any = lambda data: 7  # noqa: E731
    with pytest.raises(LoadingError, match=r"a\.txt cannot be read: KeyError: 'page'") as failed:
        load_file(folder / "a.txt", parser=fail)
    assert isinstance(failed.value.__cause__, KeyError)
    with pytest.raises(LoadingError, match=r"parser of .*a\.txt gave a int"):
        load_file(folder / "a.txt", parser=wrong)


def test_what_is_not_there_is_a_loading_error(tmp_path: Path) -> None:
    with pytest.raises(LoadingError, match=r"x\.txt cannot be read: No such file"):
        load_file(tmp_path / "x.txt")
    with pytest.raises(LoadingError, match="is not a directory"):
        load_directory(tmp_path / "x")
    with pytest.raises(LoadingError, match="cannot be read"):
        load_file(tmp_path)


def test_on_error_is_one_of_two_words(folder: Path) -> None:
    wrong: Any = "ignore"
    for load in (load_directory, load_package):
        with pytest.raises(ValueError, match="on_error is 'raise' or 'skip', not 'ignore'"):
            load(str(folder), on_error=wrong)


def test_links_to_files_are_followed_and_loops_are_not(folder: Path) -> None:
    (folder / "deep" / "loop").symlink_to(folder)
    (folder / "self").symlink_to(folder / "self")
    (folder / "broken").symlink_to(folder / "nowhere")
    (folder / "link.txt").symlink_to(folder / "a.txt")
    assert ids(load_directory(folder)) == ["a.txt", "b.md", "deep/blank.md", "deep/er/c.txt", "link.txt"]


def test_only_what_can_be_read_is_opened(folder: Path) -> None:
    os.mkfifo(folder / "pipe.txt")
    assert "pipe.txt" not in ids(load_directory(folder))


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    name = f"knowledge_{request.param}"
    entries = {
        f"{name}/__init__.py": "",
        f"{name}/docs/a.md": "A",
        f"{name}/docs/deep/b.txt": "B",
        f"{name}/docs/bad.txt": "\udcff",
    }
    if request.param == "zipped":
        with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
            for entry, text in entries.items():
                archive.writestr(entry, text.encode("utf-8", "surrogateescape"))
        monkeypatch.syspath_prepend(tmp_path / "all.zip")
    else:
        for entry, text in entries.items():
            (tmp_path / entry).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / entry).write_bytes(text.encode("utf-8", "surrogateescape"))
        monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, name, raising=False)
    return name


@pytest.mark.parametrize("package", ["unpacked", "zipped"], indirect=True)
def test_a_package_brings_its_documents(package: str) -> None:
    documents = load_package(f"{package}:docs", on_error="skip")
    assert ids(documents) == [f"{package}:docs/a.md", f"{package}:docs/deep/b.txt"]
    assert [document.text for document in documents] == ["A", "B"]
    assert documents[1].metadata == {"file_name": "b.txt", "package": package}
    assert ids(load_package(package, glob="docs/*.md")) == [f"{package}:docs/a.md"]
    with pytest.raises(LoadingError, match=rf"{package}:docs/bad\.txt is not utf-8"):
        load_package(f"{package}:docs")


@pytest.mark.parametrize(
    "where", ["no_such_package:docs", "aiservices:nowhere", "aiservices:../tests", ":x", "os.path"]
)
def test_a_folder_that_no_package_has_is_a_loading_error(where: str) -> None:
    with pytest.raises(LoadingError, match="no folder of a package"):
        load_package(where)
