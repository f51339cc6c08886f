"""What a provider tells beyond the fields of messages, kept in attributes and given back to it alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...messages import FrozenMapping


def keep(key: str, host: str, told: Any) -> FrozenMapping[Any]:
    """Attributes that remember what a host told, for `kept` to find."""
    return FrozenMapping({key: {"host": host, "told": told}})


def kept(attributes: Mapping[str, Any], key: str, host: str) -> Any:
    """What this very host told, else `None`: what another one said means nothing to it, or is refused."""
    memory = attributes.get(key) if attributes else None
    if isinstance(memory, Mapping) and memory.get("host") == host:
        return memory.get("told")
    return None
