"""How far an ingestor is, for whoever watches a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from ..errors import MissingExtraError
from .ingesting import IngestionProgress


@contextmanager
def progress_bar(
    label: str = "documents", *, file: TextIO | None = None
) -> Iterator[Callable[[IngestionProgress], None]]:
    """A bar on a terminal, standard error unless it is said, and nothing elsewhere; gone at the end.

    Give what it yields to an ingestor as `on_progress`. Needs the extra `rag` where there is a terminal.
    """
    out = sys.stderr if file is None else file
    if not out.isatty():
        yield lambda _: None
        return
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
    except ModuleNotFoundError as missing:
        raise MissingExtraError("a progress bar", extra="rag") from missing
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(file=out), transient=True) as bar:
        task = bar.add_task(label, total=None)
        yield lambda progress: bar.update(task, completed=progress.done, total=progress.total)
