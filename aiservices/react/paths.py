"""Which agents have called each other, from the first to the one that runs."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Final

PATH: Final[ContextVar[tuple[str, ...]]] = ContextVar("aiservices_react_path", default=())
