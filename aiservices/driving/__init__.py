"""How the one text of the pipeline is run: by stepping it in the caller's thread, or on the running loop.

This package is the only home of threads, event loops, sleeping and locks. Everything above it is written
once, as `async def`, and asks the driver it is given.

- A *blocking* drive steps the coroutine by hand: leaf operations block, so nothing ever suspends.
- An *asynchronous* drive hands what the coroutine awaits to the running event loop.
- `await Emit(event)` suspends either with an event for the reader of a stream.
"""

from .asynchronous import ASYNCHRONOUS
from .background import run_in_background
from .blocking import BLOCKING
from .bridging import aiterate_blocking, iterate_async
from .cancelling import undisguised
from .driver import Driver
from .emitting import Emit
from .heartbeat import Heartbeat
from .inbox import Inbox
from .keeping import PerLoop, PerProcess
from .nested import NestedLocks, WouldWaitForItselfError
from .places import KeyedLocks, Places
from .promises import Promise
from .stepping import is_asynchronous
from .watching import Watch
from .workers import run_in_worker, wait_for

__all__ = [
    "ASYNCHRONOUS",
    "BLOCKING",
    "Driver",
    "Emit",
    "Heartbeat",
    "Inbox",
    "KeyedLocks",
    "NestedLocks",
    "PerLoop",
    "PerProcess",
    "Places",
    "Promise",
    "Watch",
    "WouldWaitForItselfError",
    "aiterate_blocking",
    "is_asynchronous",
    "iterate_async",
    "run_in_background",
    "run_in_worker",
    "undisguised",
    "wait_for",
]
