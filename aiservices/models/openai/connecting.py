"""When the SDK is loaded and a connection made: not before a model is first asked."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ...driving import Places, run_in_worker, wait_for
from .server import Server

if TYPE_CHECKING:
    from .connection import Connection


class Connecting:
    """The connection to one address of a server, made when it is first used."""

    def __init__(self, server: Server, path: str, places: Places) -> None:
        self._server = server
        self._path = path
        self._places = places

    def get(self) -> Connection:
        kept: dict[str, Any] = vars(self)
        if "_connection" not in kept:
            made = wire().Connection(self._server, self._path, self._places)
            kept.setdefault("_connection", made)  # whichever thread was first
        connection: Connection = kept["_connection"]
        return connection

    async def aget(self) -> Connection:
        if "_connection" not in vars(self):
            await wait_for(run_in_worker(_load))
        return self.get()

    def close(self) -> None:
        """Close the connections of blocking requests; another request opens new ones."""
        if "_connection" in vars(self):
            self.get().close()

    async def aclose(self) -> None:
        """Close the connections of this event loop and of blocking requests."""
        if "_connection" in vars(self):
            await self.get().aclose()
        self.close()


def wire() -> Any:
    """The module that loads the SDK."""
    return import_module(".connection", __package__)


def _load() -> None:
    """What takes a second at first, and must not take it on an event loop: the SDK and the certificates."""
    wire().certificates()
