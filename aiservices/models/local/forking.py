"""Engines and `fork`: a child has the memory of its parent's engine but none of its threads.

Used there, an engine never answers. Unloaded there, or cleaned up by C++ at the child's exit, it waits for
ever for threads that are not there. So a child refuses to use engines, keeps them, and skips that clean-up.
ONNX Runtime waits in the same way, but can be loaded anew in a child.
"""

from __future__ import annotations

import ctypes
from typing import Any, Final, Protocol
from weakref import WeakSet

from ...driving.forking import reset_in_children
from ...errors import ServerError


class Loaded(Protocol):
    """Has something that must not be unloaded in a child."""

    server: Any


class Forking:
    """Knows the engines of this process, and whether it was forked from one that had some."""

    def __init__(self) -> None:
        self._was_loaded = self._is_child = False
        self._engines: WeakSet[Loaded] = WeakSet()
        reset_in_children(self)

    def watch(self, engine: Loaded) -> None:
        """Remember an engine that has loaded its model."""
        self._was_loaded = True
        self._engines.add(engine)

    def check(self) -> None:
        """Raise `ServerError` in a process whose parent had loaded an engine before it was forked."""
        if self._is_child:
            raise ServerError(
                "this process was forked from one that had loaded the embedded model, whose threads stayed "
                "behind: start workers by 'spawn', or load the model in the workers only"
            )

    def reset_in_child(self) -> None:
        """Make the child safe to live and to end."""
        if self._was_loaded and not self._is_child:
            self._is_child = True
            for engine in self._engines:
                keep_for_ever(engine.server)
            skip_cleaning_up()


def keep_for_ever(thing: object) -> None:
    """Never free something: what has threads waits for them when it is, also where they don't exist."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))


def skip_cleaning_up() -> None:
    """End the child right after Python has, before C++ destroys its globals; glibc can."""
    libc = ctypes.CDLL(None)
    if hasattr(libc, "on_exit"):
        libc.on_exit(libc._exit, None)


FORKING: Final = Forking()
