"""The page that a monitor makes: it shows all there is, as text and nothing but text."""

from __future__ import annotations

import os
import re
import subprocess
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiservices import InMemoryStore
from aiservices.agentic import (
    Agent,
    Monitor,
    Planner,
    PlanningContext,
    agent,
    conditional,
    done,
    human_in_the_loop,
    loop,
    parallel,
    parallel_map,
    planned,
    sequence,
)
from aiservices.agentic.monitoring.report import MOST_CALLS
from aiservices.agentic.monitoring.texts import duration, shown
from tests.test_browser import BROWSER, FLAGS

from .styles import edit, publish, write

VOID = {"meta", "link", "rect"}


class Reader(HTMLParser):
    """Reads a page that closes what it opens."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self._open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] != "style":
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


class Free(Planner):
    def next_action(self, context: PlanningContext) -> Any:
        return done()


def check(page: str) -> Reader:
    """The page runs nothing and asks for nothing."""
    reader = Reader(page)
    for tag, attributes in reader.tags:
        assert tag not in {"script", "img", "iframe", "object", "form", "a", "base"}
        assert not [name for name in attributes if name.startswith("on")]
        assert "style" not in attributes
        assert attributes.get("href", "data:,") == "data:,"
        assert "src" not in attributes
    assert page.startswith("<!doctype html>")
    return reader


def test_a_page_without_runs_says_so() -> None:
    assert "nothing has run yet" in check(Monitor().html()).text


def test_a_page_shows_runs_with_their_values_and_errors() -> None:
    monitor = Monitor()

    @agent
    def failing(story: str) -> str:
        raise ValueError("out of paper")

    sequence(write, publish, name="good", listeners=[monitor]).run(topic="bees")
    sequence(write, failing, name="bad", listeners=[monitor]).run(topic="wasps")
    waiting = sequence(
        human_in_the_loop("boss", question="Shall we?"), listeners=[monitor], store=InMemoryStore()
    )
    waiting.run(memory_id="order 66")
    text = check(monitor.html()).text
    for said in (
        "1 completed",
        "1 failed",
        "1 suspended",
        "topic bees",
        "published: a story about bees",
        "ValueError: out of paper",
        "waits for an answer: Shall we?",
        "memory id order 66",
    ):
        assert said in text
    assert text.index("order 66") < text.index("wasps") < text.index("topic bees")  # the last one first


def test_the_last_runs_are_open() -> None:
    monitor = Monitor()
    for number in range(5):
        sequence(write, listeners=[monitor]).run(topic=f"bee {number}")
    runs = monitor.html().split('<details class="run"')[1:]
    assert [(run.startswith(" open>"), f"bee {4 - index}" in run) for index, run in enumerate(runs)] == [
        (True, True),
        (True, True),
        (True, True),
        (False, True),
        (False, True),
    ]


def test_a_page_shows_how_agents_hang_together() -> None:
    def is_long(scope: Any) -> bool:
        return True

    system = sequence(
        parallel(write, agent(name="images", output_key="images")(lambda topic: 1), name="research"),
        loop(edit, max_iterations=3, until=lambda scope: scope.read("story") == "done"),
        conditional((is_long, publish), otherwise=agent(name="other", optional=True)(lambda: 1)),
        conditional(publish, first_match=True),
        parallel_map(agent(name="translate", background=True)(lambda language: 1), items="languages"),
        planned(Free, human_in_the_loop("editor", question="Shall we?")),
        name="magazine",
    )
    text = check(Monitor().html(system, write)).text
    for said in (
        "magazine one after another research side by side write Writes a story. → story images → images",
        "loop ↺ until scope.read('story') == 'done', asked after each agent, at most 3 rounds edit",
        "conditional all whose conditions hold is long publish",
        "otherwise other optional",
        "conditional the first whose condition holds always publish",
        "for each of languages, side by side translate in the background",
        "planned as Free decides editor a person Shall we?",
    ):
        assert said in text


def test_long_values_and_long_runs_are_cut() -> None:
    monitor = Monitor()

    @agent(output_key="words")
    def wordy(number: int) -> str:
        return "word " * 100_000

    parallel_map(wordy, items="numbers", listeners=[monitor]).invoke(numbers=list(range(1010)))
    page = monitor.html()
    assert page.count('<details class="call"') == MOST_CALLS
    assert f"{1010 - MOST_CALLS} more calls are not shown" in page
    assert len(page) < 4_000_000
    assert "… (500,000 characters)" in page


def test_a_value_that_cannot_show_itself_hurts_nobody() -> None:
    class Broken:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    assert "Broken" in shown(Broken())
    assert shown("half \ud800 a pair\0") == "half ? a pair␀"
    assert shown(["x" * 5000]).count("x") < 1000
    assert len(shown(dict.fromkeys(range(1000), "y" * 150))) <= 2001


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0 µs"),
        (0.0000123, "12 µs"),
        (0.01234, "12.3 ms"),
        (1.5, "1.5 s"),
        (59.94, "59.9 s"),
        (61, "1 min 01 s"),
        (3700, "1 h 01 min"),
    ],
)
def test_durations_have_a_unit_that_suits_them(seconds: float, said: str) -> None:
    assert duration(seconds) == said


HOSTILE = st.text(max_size=20) | st.sampled_from(
    [
        "<script>",
        "</pre>",
        '" onclick="x',
        "<!--",
        "&amp;",
        "]]>",
        "</title>",
        "{{ 1 }}",
        "\ud800",
        "\0",
        "</svg>",
    ]
)


@given(name=HOSTILE, key=HOSTILE, value=HOSTILE, error=HOSTILE, condition=HOSTILE, memory_id=HOSTILE)
def test_whatever_is_said_the_page_is_whole(
    name: str, key: str, value: str, error: str, condition: str, memory_id: str
) -> None:
    monitor = Monitor()

    def holds(scope: Any) -> bool:
        return True

    holds.__doc__ = condition

    @agent(name=f"x{name}", output_key=f"x{key}", description=value)
    def gives() -> list[str]:
        return [value]

    @agent
    def fails() -> None:
        raise ValueError(error)

    used = sequence(conditional((holds, gives)), fails, name=f"y{name}", listeners=[monitor])
    used.run(**{key: value}, memory_id=f"m{memory_id}".replace("\0", "").encode("utf-8", "replace").decode())
    page = monitor.html(used)
    page.encode("utf-8")
    check(page)


def hostile(address: str) -> tuple[list[str], Agent, Monitor]:
    """A system whose names and values all try to run code or to load something."""
    ran = f"document.title='hacked';fetch('{address}/fetched')"
    texts = [
        f"<script>{ran}</script>",
        f"</pre></title></style></script><script>{ran}</script>",
        f"<img src='{address}/image' onerror=\"{ran}\">",
        f'"><svg onload="{ran}"><rect class="x',
        f"</style><style>@import url({address}/sheet); body {{ background: url({address}/ground) }}</style>",
        f"<link rel=stylesheet href={address}/link><iframe src={address}/frame></iframe>",
        f"<meta http-equiv=refresh content='0;url={address}/refresh'>",
        "{{ 6 * 7 }}{% raw %}",
        f'<a href="javascript:{ran}" autofocus onfocus="{ran}">x</a>',
        f'<details open ontoggle="{ran}">',
    ]
    monitor = Monitor()

    def leaf(text: str) -> Any:
        @agent(name=text, description=text, output_key=text)
        def gives() -> Any:
            return {text: [text]}

        return gives

    def fails() -> None:
        raise ValueError("".join(texts))

    def condition(scope: Any) -> bool:
        return True

    condition.__doc__ = texts[1]
    human = human_in_the_loop(texts[0], question=texts[1], output_key=texts[2])
    used = sequence(
        *map(leaf, texts),
        conditional((condition, agent(name=texts[3])(fails))),
        name=texts[4],
        listeners=[monitor],
    )
    used.run(**dict.fromkeys(texts, texts[1]), memory_id=texts[1])
    sequence(human, name=texts[2], listeners=[monitor]).run(memory_id=texts[2])
    return texts, used, monitor


class Noting(ThreadingHTTPServer):
    """Serves one page and notes what is asked for."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.page = ""
        self.asked: list[str] = []
        self.address = f"http://127.0.0.1:{self.server_address[1]}"


class Answering(BaseHTTPRequestHandler):
    server: Noting

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        body = self.server.page.encode() if self.path == "/" else b""
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Noting]:
    with Noting() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.mark.skipif(
    BROWSER is None and "CI" not in os.environ, reason="no Chromium: apt-get install chromium"
)
@pytest.mark.parametrize("with_policy", [True, False], ids=["as it is", "by escaping alone"])
def test_in_a_browser_nothing_that_was_said_runs_or_loads(
    server: Noting, tmp_path: Path, with_policy: bool
) -> None:
    assert BROWSER is not None, "CI tests in a real browser: apt-get install chromium"
    texts, used, monitor = hostile(server.address)
    page = monitor.html(used)
    check(page)
    policy = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
    assert policy.search(page)
    server.page = page if with_policy else policy.sub("", page)
    command = [BROWSER, *FLAGS, f"--user-data-dir={tmp_path}", f"{server.address}/"]
    dumped = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False).stdout
    assert server.asked == ["/"]
    assert "<title>Runs of agents</title>" in dumped
    said = "".join(Reader(dumped).texts)
    for text in texts:
        assert text in said


@pytest.mark.skipif(
    BROWSER is None and "CI" not in os.environ, reason="no Chromium: apt-get install chromium"
)
def test_in_a_browser_the_policy_lets_the_page_s_own_style_pass_and_no_script(
    server: Noting, tmp_path: Path
) -> None:
    assert BROWSER is not None, "CI tests in a real browser: apt-get install chromium"
    _, _, monitor = hostile(server.address)
    added = f"<script>document.title='hacked'</script><img src='{server.address}/image'>"
    server.page = monitor.html().replace("<main>", f"<main>{added}")
    command = [
        BROWSER,
        *FLAGS,
        "--enable-logging=stderr",
        f"--user-data-dir={tmp_path}",
        f"{server.address}/",
    ]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert "<title>Runs of agents</title>" in shown.stdout
    assert server.asked == ["/"]
    refused = [line for line in shown.stderr.splitlines() if "Content Security Policy" in line]
    assert len([line for line in refused if "script" in line]) == 1
    assert not [line for line in refused if "style" in line.partition("directive")[0]]
