"""A fence around text that is data, which nothing inside can close."""

from __future__ import annotations

from hashlib import sha256
from itertools import count

MARK = "retrieved"


def fenced(text: str, *, around: str = "") -> str:
    """The text between two lines that stand neither in it nor in the text around it.

    The lines are made of a digest of the text, so that whoever writes the text cannot know them: it would
    have to hold a digest of itself. Should it happen to do so, another one is taken. The same text gets the
    same fence each time, which lets providers cache the prompt.
    """
    for attempt in count():
        seed = f"{attempt}\n{text}".encode("utf-8", "surrogatepass")
        mark = f"{MARK}-{sha256(seed).hexdigest()[:12]}"
        if mark not in text and mark not in around:
            return f"<{mark}>\n{text}\n</{mark}>"
    raise AssertionError("there is always another digest")
