"""Loading from the web: a real server at the other end."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

import pytest

from aiservices.rag import LoadingError, aload_url, load_url

from .test_formats import PAGE, pdf

ANSWERS: dict[str, tuple[int, dict[str, str], bytes]] = {
    "/plain": (200, {"Content-Type": "text/plain; charset=latin-1"}, "Füße".encode("latin-1")),
    "/utf8.txt": (200, {}, "Füße".encode()),
    "/bees": (200, {"Content-Type": "text/html; charset=utf-8"}, PAGE.encode()),
    "/paper": (200, {"Content-Type": "application/pdf"}, pdf("A paper.")),
    "/paper.pdf": (200, {"Content-Type": "application/octet-stream"}, pdf("A paper.")),
    "/script.pdf": (200, {"Content-Type": "text/plain"}, b"no PDF"),
    "/odd": (200, {"Content-Type": "text/plain; charset=martian"}, b"x"),
    "/old": (302, {"Location": "/plain"}, b""),
    "/elsewhere": (302, {"Location": "file:///etc/hostname"}, b""),
    "/loop": (302, {"Location": "/loop"}, b""),
    "/gone": (404, {}, b"not here"),
    "/large": (200, {"Content-Type": "text/plain"}, b"x" * 5000),
}
released = Event()


class _Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path == "/slow":
            self.send_response(200)
            self.send_header("Content-Length", "5")
            self.end_headers()
            self.wfile.flush()
            released.wait()
            return
        if self.path == "/endless":
            self._drip()
            return
        status, headers, body = ANSWERS[self.path.partition("?")[0]]
        self.send_response(status)
        for name, value in (*headers.items(), ("Content-Length", str(len(body)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _drip(self) -> None:
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        with suppress(OSError):  # until nobody listens
            while not released.wait(0.001):
                self.wfile.write(b"drop")
        self.close_connection = True

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    released.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), _Answering) as running:
        thread = Thread(target=running.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        released.set()
        running.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/plain", "Füße"),
        ("/utf8.txt", "Füße"),
        ("/old", "Füße"),
        ("/paper", "A paper."),
        ("/paper.pdf", "A paper."),
        ("/script.pdf", "no PDF"),
    ],
)
def test_what_is_at_a_url_is_read_as_what_it_says_to_be(server: str, path: str, text: str) -> None:
    document = load_url(f"{server}{path}?q=1")
    assert document.text == text
    assert document.id == f"{server}{path}?q=1"
    assert document.metadata == {"url": f"{server}{path}?q=1"}


def test_a_web_page_is_read_without_its_menu(server: str) -> None:
    text = load_url(f"{server}/bees").text
    assert "eat what they have gathered" in text
    assert "Home" not in text


def test_a_password_in_the_url_is_not_kept(server: str) -> None:
    document = load_url(server.replace("//", "//ann:secret@") + "/plain#part")
    assert document.id == f"{server}/plain"
    with pytest.raises(LoadingError) as failed:
        load_url(server.replace("//", "//ann:secret@") + "/gone")
    assert "secret" not in str(failed.value)


def test_a_parser_of_ones_own_reads_it(server: str) -> None:
    assert load_url(f"{server}/paper", parser=lambda data: data[:4].decode()).text == "%PDF"


@pytest.mark.parametrize(
    ("path", "complaint"),
    [
        ("/gone", "answered with status 404"),
        ("/odd", "'martian', which is not known"),
        ("/elsewhere", "cannot be fetched: UnsupportedProtocol"),
        ("/loop", "cannot be fetched: TooManyRedirects"),
    ],
)
def test_what_cannot_be_had_is_named(server: str, path: str, complaint: str) -> None:
    with pytest.raises(LoadingError, match=complaint) as failed:
        load_url(server + path)
    assert failed.value.source == server + path


def test_size_and_time_are_limited(server: str) -> None:
    with pytest.raises(LoadingError, match="longer than max_bytes=4999"):
        load_url(f"{server}/large", max_bytes=4999)
    assert len(load_url(f"{server}/large", max_bytes=5000).text) == 5000
    with pytest.raises(LoadingError, match="cannot be fetched: ReadTimeout"):
        load_url(f"{server}/slow", timeout=0.05)
    with pytest.raises(LoadingError, match="did not end in time"):
        load_url(f"{server}/endless", timeout=0.2)


@pytest.mark.parametrize("url", ["file:///etc/hostname", "ftp://localhost/x", "handbook.md", "http://", ""])
def test_only_the_web_is_loaded_from(url: str) -> None:
    with pytest.raises(LoadingError, match="is no http or https URL"):
        load_url(url)


def test_nobody_there_is_a_loading_error() -> None:
    with pytest.raises(LoadingError, match="cannot be fetched: ConnectError"):
        load_url("http://127.0.0.1:9/")


@pytest.mark.parametrize("url", ["ftp://ann:secret@localhost/x", "http://ann:secret@[::1/x"])
def test_a_password_is_not_told_where_a_url_is_refused(url: str) -> None:
    with pytest.raises(LoadingError, match="URL") as failed:
        load_url(url)
    assert "secret" not in f"{failed.value} {failed.value.source}"


def test_the_asynchronous_twin_loads_the_same_and_fails_alike(server: str) -> None:
    assert asyncio.run(aload_url(f"{server}/bees")) == load_url(f"{server}/bees")
    with pytest.raises(LoadingError, match="longer than max_bytes=10"):
        asyncio.run(aload_url(f"{server}/large", max_bytes=10))
    with pytest.raises(LoadingError, match="is no http or https URL"):
        asyncio.run(aload_url("file:///etc/hostname"))
