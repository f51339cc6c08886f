"""The command `aiservices ingest`: a folder, a file or a web page goes into a file that can be asked."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from .errors import ConfigurationError, MissingExtraError
from .rag import (
    Document,
    FailedDocument,
    IngestionReport,
    Ingestor,
    by_token,
    load_file,
    load_url,
    stream_directory,
)
from .rag.progress import progress_bar

KNOWLEDGE: Final = "knowledge.db"
SEGMENT_TOKENS: Final = 200  # the embedded model reads 256, and the estimate is not always too many
OVERLAP_TOKENS: Final = 30
EXTRAS: Final = "documents,local,rag,sql"
_SILENCE: Final = logging.NullHandler()


@dataclass(frozen=True, slots=True)
class _Given:
    """What is to be ingested, and the name under which what has left it is found."""

    documents: Iterator[Document | FailedDocument]
    source: str | None


def add_ingest(topics: Any) -> None:
    """Add the command to the subparsers of the command line."""
    parser = topics.add_parser("ingest", help="put a folder, a file or a web page into a file to ask")
    parser.add_argument("path", help="a folder, a file, or an http or https URL")
    parser.add_argument(
        "--into",
        default=KNOWLEDGE,
        metavar="FILE",
        help=f"an SQLite file, made when there is none; {KNOWLEDGE} by default",
    )
    parser.add_argument("--glob", default="**/*", help="which files of a folder, such as '**/*.md'")
    parser.add_argument(
        "--source", help="the name of where they come from, by default the path of the folder"
    )
    parser.add_argument(
        "--remove-missing",
        action="store_true",
        help="remove what was ingested from the same source and is not there any more",
    )
    parser.set_defaults(command=_ingest)


def _ingest(arguments: argparse.Namespace) -> int:
    # Without any handler the log of failures would go to standard error, where the report is told too.
    logging.getLogger("aiservices").addHandler(_SILENCE)
    try:
        return _tell(_ingested(arguments), arguments.into)
    except MissingExtraError as missing:  # all of them at once, and not one after the other
        raise MissingExtraError("`aiservices ingest`", extra=EXTRAS) from missing


def _ingested(arguments: argparse.Namespace) -> IngestionReport:
    from .models.local import LocalEmbeddingModel
    from .rag import SqlEmbeddingStore
    from .stores import SqlStore

    given = _given(arguments)
    if arguments.remove_missing and given.source is None:
        raise ConfigurationError("--remove-missing is for a folder, or needs --source")
    with (
        SqlEmbeddingStore(arguments.into) as store,
        SqlStore(arguments.into) as ledger,
        progress_bar() as show,
    ):
        ingestor = Ingestor(
            embedding_model=LocalEmbeddingModel(),
            embedding_store=store,
            splitter=by_token(SEGMENT_TOKENS, OVERLAP_TOKENS),
            on_progress=show,
            ledger=ledger,
        )
        return ingestor.ingest(given.documents, source=given.source, remove_missing=arguments.remove_missing)


def _given(arguments: argparse.Namespace) -> _Given:
    path: str = arguments.path
    for name, text in (("PATH", path), ("--into", arguments.into), ("--source", arguments.source)):
        if text is not None and not text.strip():
            raise ConfigurationError(f"{name} is blank")
    if path.startswith(("http://", "https://")):
        return _Given(iter((load_url(path),)), arguments.source)
    if not Path(path).is_dir():
        return _Given(iter((load_file(path),)), arguments.source)
    source = arguments.source or str(Path(path).resolve())
    try:
        return _Given(stream_directory(path, glob=arguments.glob), source)
    except ValueError as error:
        raise ConfigurationError(str(error)) from error


def _tell(report: IngestionReport, into: str) -> int:
    sys.stderr.writelines(f"aiservices: {failed.error}\n" for failed in report.failed)
    numbers = {
        "added": report.added,
        "updated": report.updated,
        "unchanged": report.unchanged,
        "removed": report.removed,
        "failed": len(report.failed),
    }
    told = ", ".join(f"{number} {name}" for name, number in numbers.items())
    sys.stdout.write(f"{into}: {told} ({len(report.ids)} segments written)\n")
    return 1 if report.failed else 0
