"""What every store must do, as tests: give them yours.

    class TestMyStore(StoreConformance):
        @pytest.fixture
        def store(self, tmp_path):
            with MyStore(tmp_path / "file") as store:
                yield store

The store need not be empty, and pytest needs no plugin for asynchronous code. The tests take some seconds,
as they wait for leases to end.
"""

from __future__ import annotations

from .leases import EndsLeases
from .names import KeepsNames
from .races import SurvivesRaces
from .values import KeepsValues
from .versions import ComparesVersions

__all__ = ["StoreConformance"]


class StoreConformance(KeepsValues, KeepsNames, ComparesVersions, EndsLeases, SurvivesRaces):
    """The contract of `aiservices.stores.Store`; a subclass has a fixture `store`."""
