"""What holds something open, and can be told to let it go."""

from __future__ import annotations

from types import TracebackType
from typing import Self


class Closable:
    """Holds connections, files or memory. `with` and `async with` let go of them at the end of the block.

    What was closed may be used again, and opens what it needs.
    """

    def close(self) -> None:
        """Let go of what is held open for blocking calls; the next call opens it again."""

    async def aclose(self) -> None:
        """Let go of what is held open for the running event loop, and of all that `close` does.

        What other loops use is closed when they end.
        """
        self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
