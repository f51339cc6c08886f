"""The wire: OpenAI's SDK, asked for nothing but sending bytes. Loading this loads the SDK."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from types import TracebackType
from typing import Any, Final
from urllib.request import getproxies, proxy_bypass

import httpx2
import openai
from openai import omit

from ...driving import PerLoop, PerProcess, Places
from ...driving.holding import hold, let_go
from ...errors import ModelTimeoutError, ServerError
from ..failures import Failure, wait_asked_by
from .complaints import failure_from
from .server import Server, authenticates

LONGEST_CONNECTING: Final = 15.0
NO_KEY: Final = "unused"
# The SDK translates what its HTTP library raises, but for reading the body of a stream.
WIRE_ERRORS: Final = (openai.OpenAIError, httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL)


class Connection:
    """The SDK's clients for one server: an asynchronous one per event loop, a blocking one per process.

    Requests take one of the places, until their answer is there, or, of a stream, its headers.
    """

    def __init__(self, server: Server, path: str, places: Places) -> None:
        self._server = server
        self._places = places
        # A whole address spares the SDK from joining one anew for each request.
        self._url = f"{server.url}{path}"
        says_who = bool(server.key) or authenticates(server.headers)
        self._options: Any = {} if says_who else {"headers": {"Authorization": omit}}
        self._blocking = PerProcess(self._client, _close)
        self._asynchronous = PerLoop(self._async_client, _aclose)

    def post(self, body: bytes, timeout: float | None, *, stream: bool) -> httpx2.Response:
        """Send a request. A streamed answer is still to be read, and the response to be closed."""
        client = self._blocking.get()
        with self._places.held(), FAILURES:
            return client.post(
                self._url,
                cast_to=httpx2.Response,
                content=body,
                options=self._with(timeout),
                stream=stream,
            )

    async def apost(self, body: bytes, timeout: float | None, *, stream: bool) -> httpx2.Response:
        """Send a request. A streamed answer is still to be read, and the response to be closed."""
        client = await self._asynchronous.get()
        async with self._places.aheld():
            with FAILURES:
                return await client.post(
                    self._url,
                    cast_to=httpx2.Response,
                    content=body,
                    options=self._with(timeout),
                    stream=stream,
                )

    def close(self) -> None:
        """Close the blocking client; another request opens a new one."""
        self._blocking.close()

    async def aclose(self) -> None:
        """Close the client of the running loop; another request opens a new one."""
        await self._asynchronous.aclose()

    def _with(self, timeout: float | None) -> Any:
        if timeout is None:
            return self._options
        return {**self._options, "timeout": _timeout(timeout)}

    def _client(self) -> openai.OpenAI:
        http_client = _http_client(self._server, self._places.number)
        client = openai.OpenAI(**self._arguments(), http_client=http_client)
        hold(client, for_loop=False)
        return client

    def _async_client(self) -> openai.AsyncOpenAI:
        http_client = _async_http_client(self._server, self._places.number)
        client = openai.AsyncOpenAI(**self._arguments(), http_client=http_client)
        hold(client, for_loop=True)
        return client

    def _arguments(self) -> dict[str, Any]:
        return {
            "api_key": self._server.key or NO_KEY,
            "base_url": self._server.url,
            "organization": self._server.organization,
            "project": self._server.project,
            "default_headers": dict(self._server.headers),
            "timeout": _timeout(self._server.timeout),
            "max_retries": 0,  # attempts would multiply with our own
        }


def drain(received: Iterator[bytes]) -> None:
    """Read to the end, so that the connection can be used again. The answer is whole, whatever comes now."""
    with suppress(*WIRE_ERRORS):
        for _ in received:
            pass


async def adrain(received: AsyncIterator[bytes]) -> None:
    """Read to the end, so that the connection can be used again. The answer is whole, whatever comes now."""
    with suppress(*WIRE_ERRORS):
        async for _ in received:
            pass


def _close(client: openai.OpenAI) -> None:
    client.close()
    let_go(client)


async def _aclose(client: openai.AsyncOpenAI) -> None:
    await client.close()
    let_go(client)


def _timeout(seconds: float | None) -> httpx2.Timeout:
    connecting = LONGEST_CONNECTING if seconds is None else min(seconds, LONGEST_CONNECTING)
    return httpx2.Timeout(seconds, connect=connecting)


def _limits(places: int) -> httpx2.Limits:
    # The places bound what is in flight; streams that are being read are as many as the caller reads.
    return httpx2.Limits(max_connections=None, max_keepalive_connections=places)


@lru_cache(maxsize=1)
def certificates() -> ssl.SSLContext:
    """The trusted certificates. Reading them takes a tenth of a second: once for all clients."""
    return httpx2.create_ssl_context()


def _http_client(server: Server, places: int) -> httpx2.Client:
    options: dict[str, Any] = {"verify": certificates(), "limits": _limits(places)}
    if server.query:
        options["transport"] = _Querying(server.query, **options, proxy=_proxy_for(server))
    return openai.DefaultHttpxClient(**options)


def _async_http_client(server: Server, places: int) -> httpx2.AsyncClient:
    options: dict[str, Any] = {"verify": certificates(), "limits": _limits(places)}
    if server.query:
        options["transport"] = _AsyncQuerying(server.query, **options, proxy=_proxy_for(server))
    return openai.DefaultAsyncHttpxClient(**options)


class _Querying(httpx2.HTTPTransport):
    """Adds the server's query at the last moment: it may hold keys, and what is above here writes logs."""

    def __init__(self, query: Mapping[str, str], **options: Any) -> None:
        super().__init__(**options)
        self._query = query

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        return super().handle_request(_queried(request, self._query))


class _AsyncQuerying(httpx2.AsyncHTTPTransport):
    """Adds the server's query at the last moment: it may hold keys, and what is above here writes logs."""

    def __init__(self, query: Mapping[str, str], **options: Any) -> None:
        super().__init__(**options)
        self._query = query

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        return await super().handle_async_request(_queried(request, self._query))


def _queried(request: httpx2.Request, query: Mapping[str, str]) -> httpx2.Request:
    return httpx2.Request(
        request.method,
        request.url.copy_merge_params(dict(query)),
        headers=request.headers,
        stream=request.stream,
        extensions=request.extensions,
    )


def _proxy_for(server: Server) -> str | None:
    """The environment's proxy: a client that is given a transport does not look for it itself."""
    scheme, _, host = server.url.partition("://")
    if proxy_bypass(host.partition("/")[0]):
        return None
    proxies = getproxies()
    return proxies.get(scheme) or proxies.get("all")


class _Failures:
    """Around whatever asks the SDK or reads a response: their errors leave as failures."""

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, WIRE_ERRORS):
            raise failure_of(error) from error


FAILURES: Final = _Failures()


def failure_of(error: Exception) -> Failure:
    """What an error of the SDK, or of the HTTP library below it, says."""
    match error:
        case openai.APITimeoutError() | httpx2.TimeoutException():
            return Failure(_words(error), kind=ModelTimeoutError)
        case openai.APIStatusError():
            return failure_from(
                error.body,
                status=error.status_code,
                request_id=error.request_id,
                retry_after=wait_asked_by(error.response.headers),
            )
        case _:
            return Failure(_words(error), kind=ServerError)


def _words(error: BaseException) -> str:
    """The innermost words: "Connection error." alone helps nobody."""
    inner = error
    while inner.__cause__ is not None:
        inner = inner.__cause__
    text = str(error).strip()
    return text if inner is error else f"{text} {type(inner).__name__}: {inner}"
