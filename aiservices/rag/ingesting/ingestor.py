"""The way in: documents are transformed, split, embedded and stored, again and again without duplicates."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sized
from typing import Any, Final, Literal, TypeAlias, cast

from ...driving import ASYNCHRONOUS, BLOCKING, Driver, aiterate_blocking, iterate_async
from ...models.embedding import EmbeddingModel
from ...models.naming import AnyEmbeddingModel, embedding_model_of
from ...segments import Document, TextSegment
from ...stores import InMemoryStore, Store
from ..failures import FailedDocument
from ..splitting import Splitter
from ..transforming import DocumentTransformer, SegmentTransformer, Transform, transform_of
from .embedding import Embedding
from .ledger import Ledger
from .preparing import Preparing
from .reports import IngestionProgress, IngestionReport
from .running import Run
from .writing import KeywordStore, SegmentStore, Writing

Source: TypeAlias = Document | FailedDocument
Documents: TypeAlias = Document | Iterable[Source] | AsyncIterable[Source]
OnProgress: TypeAlias = Callable[[IngestionProgress], object | Awaitable[object]]
NAMESPACE: Final = "ingested"


class Ingestor:
    """Transforms, splits, embeds and stores documents; those that are there already cost nothing.

    A document is known by its id. The **ledger**, a store, says what was ingested: without one, this object
    remembers it. Keep the two together: a store of vectors that outlives the process wants a ledger that
    does, and each its own `namespace` where two share a ledger. Unchanged is what gives the same segments
    with the same model, so that another splitter or model ingests anew. Changed documents are embedded whole.

    A document appears whole or not at all: everything of it is embedded before anything is written, and the
    new segments are there before the old ones are removed. After a crash, finished documents are not embedded
    again; one that was being written then has its old and new segments both, until it is ingested again.
    One writer at a time: of two who write the same document, one fails with a `ConflictError`.

    Documents may be any iterable, also an asynchronous one. They are read as they are needed: in memory are
    about `batch_size * parallel` segments, and the largest document.

    `embedding_model` is an `EmbeddingModel`, the name of one, or a function of texts that gives vectors.
    Segments have at most `batch_size` to a request, `parallel` requests at once, also from several documents.
    Stored segments have the metadata `document_id`, `index`, and `source` where the run has one. Segments of
    white space only are left out. With a `keyword_index` they are put there as well.

    A document that fails is reported in `failed`, the others go on, and what was stored of it stays; with
    `on_error="raise"` the first failure ends the run as an `IngestionError` that names document and batch,
    when those that were embedded with it are stored. What would meet every document, such as a wrong key or
    a ledger that is down, is raised in any case. The same document twice in a run is fine; two that differ
    under one id are not, and the second fails.

    `on_progress` is called when a document is done, with `IngestionProgress(done, total)`; what it raises
    ends the run. Transformers are functions, or objects with `transform`; all of these may be asynchronous.
    """

    def __init__(
        self,
        *,
        embedding_model: AnyEmbeddingModel,
        embedding_store: SegmentStore,
        splitter: Splitter | None = None,
        document_transformer: DocumentTransformer | Transform[Document] | None = None,
        segment_transformer: SegmentTransformer | Transform[TextSegment] | None = None,
        batch_size: int = 100,
        parallel: int = 4,
        on_progress: OnProgress | None = None,
        on_error: Literal["raise", "skip"] = "skip",
        ledger: Store | None = None,
        namespace: str = NAMESPACE,
        keyword_index: KeywordStore | None = None,
    ) -> None:
        for name, number in (("batch_size", batch_size), ("parallel", parallel)):
            if isinstance(number, bool) or not isinstance(number, int):
                raise TypeError(f"{name} is {number!r}: give a whole number")
            if number < 1:
                raise ValueError(f"{name} must be at least 1, not {number}")
        if on_error not in ("raise", "skip"):
            raise ValueError(f"on_error is 'raise' or 'skip', not {on_error!r}")
        _check_part("embedding_store", embedding_store, "add", "an EmbeddingStore")
        if splitter is not None:
            _check_part(
                "splitter", splitter, "split", "an object with `split(document)`, such as recursive(500)"
            )
        if ledger is not None:
            _check_part("ledger", ledger, "get", "a Store, such as SqlStore('knowledge.db')")
        if on_progress is not None:
            _check_part("on_progress", on_progress, "__call__", "a function of an IngestionProgress")
        self._model = embedding_model_of(embedding_model)
        self._preparing = Preparing(
            splitter,
            transform_of(document_transformer, Document, "document_transformer"),
            transform_of(segment_transformer, TextSegment, "segment_transformer"),
            _known_as(self._model),
        )
        self._ledger = Ledger(InMemoryStore() if ledger is None else ledger, namespace)
        self._writing = Writing(embedding_store, keyword_index, self._ledger)
        self._batch_size = batch_size
        self._parallel = parallel
        self._on_progress = on_progress
        self._raises = on_error == "raise"

    def ingest(
        self, docs: Documents, *, source: str | None = None, remove_missing: bool = False
    ) -> IngestionReport:
        """Ingest documents, blocking, and report what was done.

        `source` names where they come from: ids are unique within a source. `remove_missing` removes what an
        earlier run ingested under the same source and this one has not met, so that the store follows a
        folder. What failed in this run was met, and so was a `FailedDocument` among the documents. Without a
        source it is refused by `ValueError`, as it would remove what came from elsewhere.
        """
        return BLOCKING.run(self._ingest(BLOCKING, docs, source, remove_missing))

    async def aingest(
        self, docs: Documents, *, source: str | None = None, remove_missing: bool = False
    ) -> IngestionReport:
        """See `ingest`. Blocking iterables are read in a worker thread."""
        return await ASYNCHRONOUS.run(self._ingest(ASYNCHRONOUS, docs, source, remove_missing))

    async def _ingest(
        self, driver: Driver, docs: Documents, source: str | None, remove_missing: bool
    ) -> IngestionReport:
        if not isinstance(source, str | None):
            raise TypeError(f"source is a {type(source).__name__}: give a name, or None")
        if source is not None and not source.strip():
            raise ValueError("source is blank: give a name, or None")
        if remove_missing and source is None:
            raise ValueError(
                "remove_missing needs a source: the name under which these documents are ingested"
            )
        given = [docs] if isinstance(docs, Document) else docs
        run = Run(
            driver,
            source=source or "",
            preparing=self._preparing,
            embedding=Embedding(driver, self._model, batch_size=self._batch_size, parallel=self._parallel),
            writing=self._writing,
            ledger=self._ledger,
            at_once=self._batch_size * self._parallel,
            raises=self._raises,
            tell=self._telling(driver, len(given) if isinstance(given, Sized) else None),
        )
        items = driver.iterate(_iterated, _aiterated, given)
        try:
            async for item in items:
                await run.take(item)
        finally:
            await items.aclose()
        return await run.finish(remove_missing=remove_missing)

    def _telling(self, driver: Driver, total: int | None) -> Callable[[int], Awaitable[object]]:
        async def tell(done: int) -> None:
            if self._on_progress is not None:
                await driver.call(cast("Any", self._on_progress), IngestionProgress(done, total))

        return tell


def _check_part(option: str, given: object, method: str, wanted: str) -> None:
    if isinstance(given, type | str) or not callable(getattr(given, method, None)):  # texts have a `split`
        raise TypeError(f"{option} is {given!r}: give {wanted}")


def _known_as(model: EmbeddingModel) -> str:
    """What tells a model from others, whose vectors are not comparable with its own."""
    known = f"{type(model).__qualname__} {getattr(model, 'model_name', '')}"
    dimensions = getattr(model, "dimensions", None)
    return known if dimensions is None else f"{known} {dimensions}"


def _iterated(docs: Iterable[Source] | AsyncIterable[Source]) -> Iterator[Source]:
    return iterate_async(aiter(docs)) if isinstance(docs, AsyncIterable) else iter(docs)


def _aiterated(docs: Iterable[Source] | AsyncIterable[Source]) -> AsyncIterator[Source]:
    return aiter(docs) if isinstance(docs, AsyncIterable) else aiterate_blocking(lambda: iter(docs))
