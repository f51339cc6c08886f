"""Loading a document from the web."""

from __future__ import annotations

from collections.abc import Iterator
from email.message import Message
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urlsplit, urlunsplit

from ..driving import run_in_worker, wait_for
from ..segments import Document
from .failures import LoadingError
from .parsing import MEDIA_TYPES, PARSERS, Parser, parse, suffix_of

if TYPE_CHECKING:
    import httpx2

MOST_BYTES: Final = 50_000_000
TIMEOUT_SECONDS: Final = 30.0


def load_url(
    url: str,
    *,
    parser: Parser | None = None,
    timeout: float = TIMEOUT_SECONDS,
    max_bytes: int = MOST_BYTES,
) -> Document:
    """Load what is at an `http` or `https` URL, blocking; redirections are followed.

    The parser is chosen by the content type, or by the suffix where that tells nothing. `timeout` is for all
    of it, in seconds. The id and the metadata `url` are the URL without user name, password and fragment.
    It fetches whatever address it is given, in your own network too: check addresses that come from others.

    Raises `LoadingError` naming the URL: of another scheme, no answer in time, an answer that is no success
    or longer than `max_bytes`, or one that cannot be read; and `MissingExtraError`.
    """
    public = _public(url)
    content_type, data = _fetched(url, public, timeout, max_bytes)
    suffix = _suffix(content_type, urlsplit(public).path)
    charset = content_type.get_param("charset")
    if parser is None and suffix not in PARSERS and isinstance(charset, str):
        parser = _decoding(charset)
    return parse(data, public, {"url": public}, id=public, parser=parser, suffix=suffix)


async def aload_url(
    url: str,
    *,
    parser: Parser | None = None,
    timeout: float = TIMEOUT_SECONDS,
    max_bytes: int = MOST_BYTES,
) -> Document:
    """See `load_url`. It runs in a worker thread, where it may go on until `timeout` after a cancellation."""
    load = partial(load_url, url, parser=parser, timeout=timeout, max_bytes=max_bytes)
    return await wait_for(run_in_worker(load))


def _public(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise LoadingError(f"this is no URL: {error}", source="") from None  # it may hold a password
    host = parts.netloc.rpartition("@")[2]
    public = urlunsplit((parts.scheme, host, parts.path, parts.query, ""))
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise LoadingError(f"{public!r} is no http or https URL", source=public)
    return public


def _fetched(url: str, public: str, timeout: float, max_bytes: int) -> tuple[Message, bytes]:
    import httpx2

    deadline = monotonic() + timeout
    try:
        with (
            httpx2.Client(follow_redirects=True, timeout=timeout) as client,
            client.stream("GET", url) as response,
        ):
            if not response.is_success:
                raise LoadingError(f"{public} answered with status {response.status_code}", source=public)
            content_type = Message()
            content_type["content-type"] = response.headers.get("content-type", "application/octet-stream")
            return content_type, b"".join(_limited(response, public, deadline, max_bytes))
    except (httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL) as error:
        raise LoadingError(
            f"{public} cannot be fetched: {type(error).__name__}: {error}", source=public
        ) from error


def _limited(response: httpx2.Response, public: str, deadline: float, most: int) -> Iterator[bytes]:
    size = 0
    for chunk in response.iter_bytes():
        size += len(chunk)
        if size > most:
            raise LoadingError(f"{public} is longer than max_bytes={most}", source=public)
        if monotonic() > deadline:
            raise LoadingError(f"{public} did not end in time", source=public)
        yield chunk


def _suffix(content_type: Message, path: str) -> str:
    kind = content_type.get_content_type()
    if kind in MEDIA_TYPES:
        return MEDIA_TYPES[kind]
    named = suffix_of(unquote(path))
    if kind.startswith("text/"):  # a page called .php or .pdf that is said to be text is text
        return ""
    return named


def _decoding(charset: str) -> Parser:
    def parse_decoded(data: bytes, /) -> str:
        try:
            return data.decode(charset)
        except LookupError as error:
            raise ValueError(f"it says to be in {charset!r}, which is not known") from error

    return parse_decoded
