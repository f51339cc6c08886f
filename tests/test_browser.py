"""The streaming example in a real browser: its `EventSource` reads what our server sends."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn

from aiservices import AiMessage, ChatModel, ChatRequest, ChatResponse
from examples.streaming_server import application

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--virtual-time-budget=5000",
    "--dump-dom",
)


class Failing(ChatModel):
    def chat(self, request: ChatRequest) -> ChatResponse:
        raise RuntimeError("a secret detail")


class Cut(ChatModel):
    def chat(self, request: ChatRequest) -> ChatResponse:
        return ChatResponse(AiMessage("<b>bold</b> & done"))


@pytest.fixture(params=[None, Failing(), Cut()], ids=["talking", "failing", "markup"])
def page(request: pytest.FixtureRequest) -> Iterator[tuple[str, str]]:
    """A running server: the kind of model it has, and its address."""
    config = uvicorn.Config(application(request.param), port=0, log_level="error", lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        thread.join(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield type(request.param).__name__, f"http://127.0.0.1:{port}/"
    server.should_exit = True
    thread.join()


@pytest.mark.skipif(
    BROWSER is None and "CI" not in os.environ, reason="no Chromium: apt-get install chromium"
)
def test_a_browser_shows_the_answer_of_the_example(page: tuple[str, str], tmp_path: Path) -> None:
    model, address = page
    assert BROWSER is not None, "CI tests in a real browser: apt-get install chromium"
    command = [BROWSER, *FLAGS, f"--user-data-dir={tmp_path}", address]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    shown = {
        "NoneType": '<p id="answer">Because the air scatters blue light most.</p><p id="state">done</p>',
        "Failing": '<p id="answer"></p><p id="state">failed</p>',
        "Cut": '<p id="answer">&lt;b&gt;bold&lt;/b&gt; &amp; done</p><p id="state">done</p>',
    }[model]
    assert shown in done.stdout, done.stdout + done.stderr
    assert "secret" not in done.stdout
