"""Server-sent events: the data of each event, from the bytes as they come."""

from __future__ import annotations

from typing import Final

END_MARK: Final = b"[DONE]"
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


class Events:
    """Cuts a stream of bytes into the data of its events; comments, names and ids are passed over."""

    __slots__ = ("_data", "_rest")

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []

    def feed(self, received: bytes) -> list[bytes]:
        """The data of the events that these bytes complete."""
        held = b""
        if self._rest:
            received = self._rest + received
        if b"\r" in received:
            # One at the very end may be half of a line end: it waits for the bytes that follow.
            held = b"\r" if received.endswith(b"\r") else b""
            received = received.removesuffix(held).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        lines = received.split(b"\n")
        self._rest = lines.pop() + held
        return self._read(lines)

    def finish(self) -> list[bytes]:
        """The data of an event that no empty line ended, as the last one of some servers."""
        rest, self._rest = self._rest.rstrip(b"\r"), b""
        return self._read([rest, b""])

    def _read(self, lines: list[bytes]) -> list[bytes]:
        found, data = [], self._data
        for line in lines:
            if line[:1] == b"\xef":
                line = line.removeprefix(_BYTE_ORDER_MARK)  # noqa: PLW2901
            if line[:5] == b"data:":
                data.append(line[5:])
            elif not line and data:
                found.append(b"\n".join(data).strip())
                data.clear()
        return found
