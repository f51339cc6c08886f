"""Where weights are kept, found and checked. Nothing is ever fetched from here."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Final

from ...errors import ModelError, ModelNotFoundError
from .catalogue import CATALOGUE, DEFAULT_MODEL, KnownModel

CACHE_VARIABLE: Final = "AISERVICES_CACHE"
MODEL_VARIABLE: Final = "AISERVICES_LOCAL_MODEL"
MAGIC: Final = b"GGUF"


class DamagedModelError(ModelError):
    """A file of weights is there, but it is not what it should be."""


@dataclass(frozen=True, slots=True)
class Weights:
    """A checked file of weights. `known` is its entry of the catalogue, if it has one."""

    path: Path
    name: str
    known: KnownModel | None = None


def find_weights(name_or_path: str | os.PathLike[str] | None = None) -> Weights:
    """Find the file of a model and check it.

    A path is taken as it is. A name of the catalogue is looked for in the cache, then in an installed
    distribution (which is read, never imported). Without either, the environment variable
    `AISERVICES_LOCAL_MODEL` holds the path or the name; without that it is `smollm2-135m`.
    Raises `ModelNotFoundError` saying what to do, `DamagedModelError` for a file that is not sound.
    """
    if name_or_path is None:
        name_or_path = os.environ.get(MODEL_VARIABLE) or DEFAULT_MODEL
    known = CATALOGUE.get(os.fspath(name_or_path))
    return _at(Path(name_or_path)) if known is None else _known_weights(known)


def cache_directory() -> Path:
    """`$AISERVICES_CACHE`, or `aiservices` in `$XDG_CACHE_HOME` or `~/.cache`; it need not exist."""
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named).expanduser()
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "aiservices"


def cached_path(known: KnownModel) -> Path:
    """Where the weights of a known model are kept; they need not be there."""
    return cache_directory() / "models" / known.file_name


def is_intact(path: Path, known: KnownModel) -> bool:
    """Whether a file holds the weights of a known model, byte for byte.

    Hashing takes a while (98 MB: 0.1 to 0.3 s), so a file that passed is remembered by its size and time
    of change in `<file>.checked` beside it, where that can be written.
    """
    try:
        state = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    if state.st_size != known.size:
        return False
    note, passed = _note_of(path), f"{known.sha256} {state.st_size} {state.st_mtime_ns}\n"
    if _read(note) == passed:
        return True
    if sha256_of(path) != known.sha256:
        return False
    _write(note, passed)
    return True


def sha256_of(path: Path) -> str:
    """The hash of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _known_weights(known: KnownModel) -> Weights:
    path = cached_path(known)
    if not path.exists():
        installed = _installed(known)
        if installed is None:
            raise ModelNotFoundError(
                f"the weights of {known.name} are not here ({path}): "
                f"run `aiservices model pull {known.name}` once ({known.megabytes} MB)"
            )
        path = installed
    if not is_intact(path, known):
        raise DamagedModelError(
            f"{path} is damaged: it does not hold the weights of {known.name}; "
            f"run `aiservices model pull {known.name}` to fetch them again"
        )
    return Weights(path, known.name, known)


def _at(path: Path) -> Weights:
    path = path.expanduser()
    if not path.is_file():
        looks_like_name = path.suffix != ".gguf" and len(path.parts) == 1
        said = f"no local model is called {str(path)!r}" if looks_like_name else f"there is no file {path}"
        raise ModelNotFoundError(f"{said}: give the path of a .gguf file, or one of {', '.join(CATALOGUE)}")
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise DamagedModelError(f"{path} is not a model: a GGUF file begins with the letters GGUF")
    return Weights(path.resolve(), path.stem)


def _installed(known: KnownModel) -> Path | None:
    """The file inside an installed distribution. Importing that package could fail, and isn't needed."""
    if len(known.sources) != 1:
        return None
    (source,) = known.sources
    try:
        listed = files(source.package) or ()
    except PackageNotFoundError:
        return None
    paths = (Path(os.fspath(file.locate())) for file in listed if file.as_posix() == source.member)
    return next((path for path in paths if path.is_file()), None)


def _note_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.checked")


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError:
        return  # a folder that is read-only: the file is hashed again next time
