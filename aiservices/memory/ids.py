"""What a conversation is known by."""

from __future__ import annotations

from typing import Any


def key_of(id: Any) -> str:
    """The text of an id, by which a conversation is known in the process and in every store.

    Ids with the same text name the same conversation: `1` from a database and `"1"` from a URL do. Raises
    `ValueError` for ids by which users could share a conversation by accident: `None`, one whose text is
    blank, and an object without a text of its own, which only has its address in memory.
    """
    kind: Any = type(id)
    if isinstance(id, str):
        text = str.__str__(id)
    elif id is None or isinstance(id, bytes | bytearray):
        text = ""
    elif kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__:
        raise ValueError(f"the memory id is a {kind.__name__}, which has no text: give a text or a number")
    else:
        text = str(id)
    if not text.strip():
        raise ValueError(f"the memory id is {id!r}: a conversation needs one of its own, a text or a number")
    return text
