"""What programs say that the tests start with `-X dev -W error`."""

from __future__ import annotations


def complaints(stderr: str) -> str:
    """What a program complained of, without asyncio's remarks in that mode on what took over 100 ms.

    On a busy machine anything does.
    """
    lines = stderr.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("Executing <"))
