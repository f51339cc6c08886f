"""What every embedding store must do, as tests: give them yours.

    class TestMyStore(EmbeddingStoreConformance):
        @pytest.fixture
        def store(self):
            with MyStore(dimension=3) as store:
                yield store

The store is to be empty and to take vectors of three numbers; pytest needs no plugin for asynchronous code.
"""

from __future__ import annotations

from .filtering import Filters
from .keeping import KeepsSegments
from .scoring import ScoresVectors
from .sharing import IsShared

__all__ = ["EmbeddingStoreConformance"]


class EmbeddingStoreConformance(ScoresVectors, KeepsSegments, Filters, IsShared):
    """The contract of `aiservices.rag.EmbeddingStore`; a subclass has a fixture `store`."""
