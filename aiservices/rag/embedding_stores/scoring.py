"""The score of a vector: the same for the same two vectors, in whatever store and place they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .requests import need_numpy

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .requests import Vectors


def scores_of(vectors: Vectors, vector: Vectors) -> NDArray[np.float64]:
    """(cosine + 1) / 2 of each of some vectors, in double precision; halfway for vectors of zeros."""
    numpy: Any = need_numpy("an embedding store")
    some, one = vectors.astype("float64"), vector.astype("float64")
    # A product of matrices may differ in the last digits with the place of a row; sums of rows do not.
    lengths = numpy.sqrt((some * some).sum(axis=1) * (one * one).sum())
    cosines = (some * one).sum(axis=1) / numpy.where(lengths == 0, 1, lengths)
    scores: NDArray[np.float64] = (numpy.clip(cosines, -1, 1) + 1) / 2
    return scores
