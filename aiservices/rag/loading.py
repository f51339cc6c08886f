"""Loading documents from files, folders and packages.

A document's id is made of where it comes from, so that a file which has changed is the same document when it
is ingested again. A blank file is a document of empty text: where it had text before, that is removed.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final, Literal, TypeAlias

from ..segments import Document
from .failures import FailedDocument, LoadingError
from .parsing import PARSERS, Parser, parse, suffix_of
from .walking import Found, walk

OnError: TypeAlias = Literal["raise", "skip"]
Load: TypeAlias = Callable[[Found], Document | None]
BINARY_PREFIX: Final = 8192
_log = logging.getLogger("aiservices")


def load_file(path: str | os.PathLike[str], *, parser: Parser | None = None) -> Document:
    """Load a file.

    The parser is chosen by the suffix: PDF, Office files and HTML need the extra `documents`, everything else
    is text in UTF-8. The id is the absolute path; the metadata are `file_name` and `absolute_directory_path`.
    Raises `LoadingError` naming the file, and `MissingExtraError`.
    """
    file = Path(path).absolute()
    return _parsed(file, file.as_posix(), parser)


def load_directory(
    path: str | os.PathLike[str],
    *,
    glob: str = "**/*",
    parser: Parser | None = None,
    on_error: OnError = "raise",
) -> list[Document]:
    """Load the files of a folder, sorted by their paths; see `stream_directory` for which and how.

    A file that cannot be read is a `LoadingError`, or is logged and left out with `on_error="skip"`. That of
    an extra that is missing is always raised.
    """
    _check(on_error)
    return list(_handled(stream_directory(path, glob=glob, parser=parser), on_error))


def stream_directory(
    path: str | os.PathLike[str], *, glob: str = "**/*", parser: Parser | None = None
) -> Iterator[Document | FailedDocument]:
    """Load the files of a folder one by one, sorted by their paths: for an ingestor, and for very many.

    In the glob `**` stands for any number of folders. Hidden files and folders, whose names begin with a dot,
    are left out, unless the glob has the dot too; so are files with a NUL byte at the beginning whose suffix
    tells no format. Links to files are followed, links to folders are not.

    The id is the path relative to the folder, with `/` on every system, so that it stays when the folder
    moves; name the folders by `source=` where several are ingested. What cannot be read comes as a
    `FailedDocument`. Raises `LoadingError` when this is no folder, `MissingExtraError`, and `ValueError` for
    a glob that leaves the folder.
    """
    folder = Path(path).absolute()
    if not folder.is_dir():
        raise LoadingError(f"{folder} is not a directory", source=str(folder))

    def load(found: Found) -> Document | None:
        file = folder / found.path
        if parser is None and _is_binary(file):
            return None
        return _parsed(file, found.path, parser)

    return _stream(_listed(folder, glob, str(folder)), load)


def load_package(
    where: str, *, glob: str = "**/*", parser: Parser | None = None, on_error: OnError = "raise"
) -> list[Document]:
    """Load the files of a folder inside a package, `"package:folder"` or `"package"`, also from a zip file.

    As `load_directory`; the id is `"package:folder/file"`, the metadata are `file_name` and `package`. Raises
    `LoadingError` when there is no such package or folder.
    """
    _check(on_error)
    package, _, inside = where.partition(":")
    folder = _folder_of(package, inside, where)

    def load(found: Found) -> Document | None:
        name = found.file.name
        id = f"{package}:{'/'.join(part for part in (inside.strip('/'), found.path) if part)}"
        if parser is None and _is_binary(found.file):
            return None
        data = _read(found.file, id)
        metadata = {"file_name": name, "package": package}
        return parse(data, id, metadata, id=id, parser=parser, suffix=suffix_of(name))

    return list(_handled(_stream(_listed(folder, glob, where), load), on_error))


def _folder_of(package: str, inside: str, where: str) -> Traversable:
    try:
        import_module(package)  # `files` would take a module for its package
        folder = files(package).joinpath(*filter(None, inside.split("/")))
    except (ImportError, TypeError, ValueError) as error:
        raise LoadingError(f"{where!r} is no folder of a package: {error}", source=where) from error
    if ".." in inside.split("/") or not folder.is_dir():
        raise LoadingError(f"{where!r} is no folder of a package, 'package:folder'", source=where)
    return folder


def _stream(found: list[Found], load: Load) -> Iterator[Document | FailedDocument]:
    for each in found:
        try:
            document = load(each)
        except LoadingError as error:
            yield FailedDocument(each.path, error)
            continue
        if document is None:
            _log.info("%s is left out: it is binary", each.path)
        else:
            yield document


def _handled(stream: Iterator[Document | FailedDocument], on_error: OnError) -> Iterator[Document]:
    for each in stream:
        if isinstance(each, Document):
            yield each
        elif on_error == "raise":
            raise each.error
        else:
            _log.warning("left out: %s", each.error)


def _check(on_error: str) -> None:
    if on_error not in ("raise", "skip"):
        raise ValueError(f"on_error is 'raise' or 'skip', not {on_error!r}")


def _listed(folder: Traversable, glob: str, source: str) -> list[Found]:
    try:
        return walk(folder, glob)
    except OSError as error:
        raise LoadingError(f"{source} cannot be listed: {error}", source=source) from error


def _is_binary(file: Traversable) -> bool:
    """Whether a file whose suffix tells no format has a NUL byte near its beginning, which texts do not."""
    if suffix_of(file.name) in PARSERS:
        return False
    try:
        with file.open("rb") as opened:
            return b"\0" in opened.read(BINARY_PREFIX)
    except OSError:
        return False  # which is said when it is read


def _read(file: Traversable, source: str) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise LoadingError(f"{source} cannot be read: {error.strerror or error}", source=source) from error


def _parsed(file: Path, id: str, parser: Parser | None) -> Document:
    metadata = {"file_name": file.name, "absolute_directory_path": str(file.parent)}
    data = _read(file, str(file))
    return parse(data, str(file), metadata, id=id, parser=parser, suffix=suffix_of(file.name))
