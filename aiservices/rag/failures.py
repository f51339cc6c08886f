"""What goes wrong on the way in."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import AiServiceError


class LoadingError(AiServiceError):
    """A document could not be read. `source` is its path or URL."""

    def __init__(self, message: str, *, source: str) -> None:
        super().__init__(message)
        self.source = source


class IngestionError(AiServiceError):
    """A document could not be ingested; what the store holds of it stays as it was.

    `document_id` names it. `batch` is the number, from 1, of the batch of its segments that could not be
    embedded, `None` where it was something else. The cause is the error itself.
    """

    def __init__(self, message: str, *, document_id: str, batch: int | None = None) -> None:
        super().__init__(message)
        self.document_id = document_id
        self.batch = batch


@dataclass(frozen=True, slots=True)
class FailedDocument:
    """A document that failed, and why.

    A source of documents may give it in the place of one that it cannot read: it is reported then, and what
    was ingested of it before stays.
    """

    id: str
    error: Exception
