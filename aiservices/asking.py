"""The command `aiservices ask`: a question is answered from what `aiservices ingest` has put into a file."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

from .declaring import system_message
from .errors import ConfigurationError, MissingExtraError
from .messages import DEFAULT_PARAMETERS, ChatRequestParameters, ChatResponse, FinishReason
from .rag import EmbeddingStoreRetriever, RetrievalAugmentor
from .results import Result
from .segments import ScoredSegment
from .service import create

KNOWLEDGE: Final = "knowledge.db"
_WHERE_FROM: Final = ("url", "file_name", "document_id")
_SHOWN: Final = 70
SMALL: Final = "local"
EXTRAS: Final = "local,rag,sql"
# The embedded model is so small that it does not know when to stop.
BRIEF: Final = ChatRequestParameters(temperature=0.0, max_output_tokens=120)


class Librarian(Protocol):
    """Answers from what was found; an answer that was cut off is better here than none."""

    @system_message("Answer in a few sentences. When the information given does not answer, say so.")
    def answer(self, question: str) -> Result[ChatResponse]: ...


def add_ask(topics: Any) -> None:
    """Add the command to the subparsers of the command line."""
    parser = topics.add_parser("ask", help="answer a question from what was ingested")
    parser.add_argument("question")
    parser.add_argument(
        "--from",
        dest="source",
        default=KNOWLEDGE,
        metavar="FILE",
        help=f"what `aiservices ingest` has made; {KNOWLEDGE} by default",
    )
    parser.add_argument("--model", default=SMALL, help="the chat model: local (default), openai:gpt-5-mini")
    parser.add_argument(
        "--results", type=int, help="how many passages it is shown; 3, and 1 for `local`, which is very small"
    )
    parser.set_defaults(command=_ask)


def _ask(arguments: argparse.Namespace) -> int:
    try:
        result = _answered(arguments)
    except MissingExtraError as missing:
        if missing.extra not in EXTRAS.split(","):
            raise
        raise MissingExtraError("`aiservices ask`", extra=EXTRAS) from missing
    sys.stdout.writelines(f"{line}\n" for line in (said(result.content), *_told(result.sources)))
    return 0


def _answered(arguments: argparse.Namespace) -> Result[ChatResponse]:
    from .models.local import LocalEmbeddingModel
    from .rag import SqlEmbeddingStore

    if not arguments.question.strip():
        raise ConfigurationError("the question is blank")
    is_small = arguments.model == SMALL
    results = arguments.results if arguments.results is not None else 1 if is_small else 3
    if results < 1:
        raise ConfigurationError(f"--results is {results}: give 1 or more")
    source = Path(arguments.source)
    if not source.is_file():
        raise ConfigurationError(
            f"there is no file {source}: `aiservices ingest PATH --into {source}` makes it"
        )
    with SqlEmbeddingStore(source) as store:
        retriever = EmbeddingStoreRetriever(  # it finds the most: examples/retrieval_accuracy.py
            embedding_store=store, embedding_model=LocalEmbeddingModel(), max_results=results
        )
        augmentor = RetrievalAugmentor(retrievers=(retriever,), on_empty=f"There is nothing in {source}.")
        librarian = create(
            Librarian,
            chat_model=arguments.model,
            retrieval_augmentor=augmentor,
            parameters=BRIEF if is_small else DEFAULT_PARAMETERS,
        )
        return librarian.answer(arguments.question)


def said(response: ChatResponse) -> str:
    """What is shown of an answer."""
    text = (response.text or "").strip() or "(The model said nothing.)"
    return f"{text} ... (cut off)" if response.finish_reason is FinishReason.LENGTH else text


def _told(sources: Sequence[ScoredSegment]) -> Iterator[str]:
    if sources:
        yield "\nSources:"
    for number, source in enumerate(sources, start=1):
        where = next((str(source.metadata[key]) for key in _WHERE_FROM if key in source.metadata), "")
        words = " ".join(source.text.split())
        words = words if len(words) <= _SHOWN else f"{words[:_SHOWN].rstrip()}..."
        yield f"  [{number}] {where}: {words}" if where else f"  [{number}] {words}"
