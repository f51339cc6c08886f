"""Keeping what has open sockets out of the garbage collector's hands until it has been closed."""

from __future__ import annotations

import asyncio
from typing import Final

_held: Final[dict[int, tuple[object, asyncio.AbstractEventLoop | None]]] = {}


def hold(item: object, *, for_loop: bool) -> None:
    """Keep an object alive until `let_go`; one for the running loop at most until that is closed.

    What nobody refers to any more is closed by a finalizer; but the collector calls the finalizers of all
    that it found at once, and a socket's own one complains that nobody has closed it. In a child process
    the parent's objects are kept for good: they may be neither closed nor collected there.
    """
    for key, (_, loop) in list(_held.items()):
        if loop is not None and loop.is_closed():
            _held.pop(key, None)
    _held[id(item)] = item, asyncio.get_running_loop() if for_loop else None


def let_go(item: object) -> None:
    """An object has been closed."""
    _held.pop(id(item), None)
