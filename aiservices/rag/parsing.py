"""From bytes to text: what reads which kind of file."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from io import BytesIO
from pathlib import PurePosixPath
from typing import Any, Final, Protocol

from ..errors import MissingExtraError
from ..segments import Document, MetadataValue
from .failures import LoadingError

_log = logging.getLogger("aiservices")


class Parser(Protocol):
    """Any function from the bytes of a file to its text.

    It may give a `Document`, whose metadata are kept beside those of the loader. Where both name the same
    key, the loader's value stands, and a difference is logged.
    """

    def __call__(self, data: bytes, /) -> str | Document: ...


def parse_text(data: bytes) -> str:
    """UTF-8, with or without a byte order mark. Raises `UnicodeDecodeError`."""
    return data.decode("utf-8-sig")


def parse_pdf(data: bytes) -> str:
    """The text of a PDF by pypdf, with a blank line between pages; needs the extra `documents`."""
    try:
        from pypdf import PdfReader
    except ModuleNotFoundError as missing:
        raise MissingExtraError("reading PDF", extra="documents") from missing
    with PdfReader(BytesIO(data)) as reader:
        return "\n\n".join(page.extract_text() for page in reader.pages)


def parse_html(data: bytes) -> str:
    """What a web page is about, as Markdown, by trafilatura: without menus; needs the extra `documents`."""
    try:
        from trafilatura import extract
    except ModuleNotFoundError as missing:
        raise MissingExtraError("reading HTML", extra="documents") from missing
    return extract(data, output_format="markdown", include_comments=False) or ""


def _office(suffix: str) -> Parser:
    def parse_office(data: bytes, /) -> str:
        try:
            from markitdown import MarkItDown, StreamInfo
        except ModuleNotFoundError as missing:
            raise MissingExtraError(f"reading {suffix}", extra="documents") from missing
        converted = MarkItDown().convert_stream(BytesIO(data), stream_info=StreamInfo(extension=suffix))
        return converted.markdown

    return parse_office


_TEXTS: Final = (
    ".csv",
    ".json",
    ".log",
    ".markdown",
    ".md",
    ".rst",
    ".text",
    ".tsv",
    ".txt",
    ".yaml",
    ".yml",
)
PARSERS: Final[Mapping[str, Parser]] = {
    **dict.fromkeys(_TEXTS, parse_text),
    **dict.fromkeys((".htm", ".html", ".xhtml"), parse_html),
    ".pdf": parse_pdf,
    **{suffix: _office(suffix) for suffix in (".docx", ".pptx", ".xlsx")},
}
MEDIA_TYPES: Final[Mapping[str, str]] = {
    "application/pdf": ".pdf",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": ".pptx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ".xlsx",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "application/xhtml+xml": ".xhtml",
    "text/html": ".html",
}


def suffix_of(name: str) -> str:
    """The suffix of a file name, in lower case and with its dot."""
    return PurePosixPath(name).suffix.lower()


def parse(
    data: bytes,
    source: str,
    metadata: Mapping[str, MetadataValue],
    *,
    id: str,
    parser: Parser | None,
    suffix: str,
) -> Document:
    """The document of a file, read by the parser or the one of its suffix; text where that tells nothing.

    Raises `LoadingError` naming the source, and `MissingExtraError`.
    """
    chosen: Any = parser or PARSERS.get(suffix, parse_text)
    try:
        parsed = chosen(data)
    except MissingExtraError:
        raise
    except UnicodeDecodeError as error:
        raise LoadingError(
            f"{source} is not {error.encoding} at byte {error.start}: give a parser, such as "
            "lambda data: data.decode('latin-1')",
            source=source,
        ) from error
    except Exception as error:
        raise LoadingError(
            f"{source} cannot be read: {type(error).__name__}: {error}", source=source
        ) from error
    if isinstance(parsed, str):
        return Document(parsed, metadata, id=id)
    if isinstance(parsed, Document):
        return Document(parsed.text, _merged(parsed.metadata, metadata, source), id=id)
    raise LoadingError(
        f"the parser of {source} gave a {type(parsed).__name__}: it gives the text or a Document",
        source=source,
    )


def _merged(
    parsed: Mapping[str, MetadataValue], known: Mapping[str, MetadataValue], source: str
) -> dict[str, MetadataValue]:
    for key in parsed.keys() & known.keys():
        if parsed[key] != known[key]:
            _log.warning("the parser of %s says that %s is %r, not %r", source, key, parsed[key], known[key])
    return {**parsed, **known}
