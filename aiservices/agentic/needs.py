"""What an agent reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

MISSING: Final = object()


@dataclass(frozen=True, slots=True)
class Need:
    """A key that an agent reads, what it has to be, and whether it can do without."""

    key: str
    hint: Any = Any
    required: bool = True
    default: Any = field(default=MISSING, hash=False)
