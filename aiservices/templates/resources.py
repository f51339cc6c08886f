"""Texts that a declaring module keeps in files beside itself."""

from __future__ import annotations

import sys
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath

from .compiling import TemplateError


def read_resource(module: str, path: str) -> str:
    """The text of a UTF-8 file, looked up beside the module that declares it.

    Line ends become single newlines; a byte order mark and the last line's end are left out. Raises
    `TemplateError` naming the file when it is missing or, with the position, when it is not UTF-8.
    """
    try:
        raw = _beside(module, path).read_bytes()
    except (OSError, ImportError, TypeError, ValueError) as error:
        raise TemplateError(f"resource {path!r} cannot be read beside module {module!r}: {error}") from error
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise TemplateError(f"resource {path!r} is not UTF-8 at byte {error.start}") from error
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n")


def _beside(module: str, path: str) -> Traversable:
    if not PurePosixPath(path).name:
        raise ValueError("it names no file")  # which importlib answers with a StopIteration
    owner = sys.modules.get(module)
    package = module if hasattr(owner, "__path__") else module.rpartition(".")[0]
    if package and _is_package(package):
        return files(package).joinpath(path)
    file = getattr(owner, "__file__", None)  # a script has no package, but it has a folder
    if file is None:
        raise ModuleNotFoundError("the module has no file to look beside")
    return Path(file).parent / path


def _is_package(name: str) -> bool:
    """Whether a package can be asked for its files; some test runners make up packages that are none."""
    return hasattr(sys.modules.get(name), "__path__")
