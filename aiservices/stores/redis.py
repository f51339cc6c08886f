"""The store in Redis or Valkey. Needs the extra `redis`."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import quote, urlsplit

from ..driving import Driver, PerLoop, PerProcess
from ..errors import ConfigurationError, MissingExtraError, StoreError
from .driven import DrivenStore
from .redis_scripts import LIST, READ, REMOVE, WRITE

try:
    from redis import BlockingConnectionPool, Redis
    from redis.asyncio import BlockingConnectionPool as AsyncBlockingConnectionPool
    from redis.asyncio import Redis as AsyncRedis
    from redis.asyncio.retry import Retry as AsyncRetry
    from redis.backoff import NoBackoff
    from redis.exceptions import RedisError
    from redis.retry import Retry
except ImportError as missing:
    raise MissingExtraError("RedisStore", extra="redis") from missing

CONNECTIONS: Final = 50
CONNECT_SECONDS: Final = 5.0
ANSWER_SECONDS: Final = 10.0


class RedisStore(DrivenStore):
    """A store in Redis 7 or Valkey, for blocking and asynchronous code from one object.

    `url` is `redis://user:password@host:port/database`, `rediss://...` or `unix:///path`. The names of all
    that it keeps begin with `{prefix:`; stores with different prefixes do not meet.

    Every operation is one script, which the server runs alone. Leases expire by the clock of the server. How
    much survives a crash of the server is a matter of its configuration (`appendonly yes`), and its
    eviction policy must be `noeviction`: this is no cache. A server that does not answer within ten
    seconds is a `StoreError`, and nothing is sent a second time.

    Raises `ConfigurationError` for a URL of another kind.
    """

    def __init__(self, url: str, prefix: str = "aiservices") -> None:
        if not isinstance(url, str):
            raise TypeError(f"RedisStore takes a URL such as 'redis://localhost', not a {type(url).__name__}")
        self._url = url
        self._shown = _shown(url)
        self._prefix = prefix
        self._client = PerProcess(self._connect, Redis.close)
        self._clients = PerLoop(self._aconnect, AsyncRedis.aclose)

    async def _read(self, driver: Driver, namespace: str, key: str) -> tuple[object, object] | None:
        found = await self._run(driver, READ, namespace, key)
        if not found:
            return None
        text, version = found
        return text, int(version) if version and version.isdigit() else version

    async def _write(
        self, driver: Driver, place: tuple[str, str], text: bytes, *, expected: int | None, lease: int | None
    ) -> tuple[bool, int]:
        written, version = await self._run(driver, WRITE, *place, text, _optional(expected), _optional(lease))
        return bool(written), int(version)

    async def _remove(
        self, driver: Driver, place: tuple[str, str], *, expected: int | None
    ) -> tuple[bool, int]:
        deleted, found = await self._run(driver, REMOVE, *place, _optional(expected))
        return bool(deleted), int(found)

    async def _list(self, driver: Driver, namespace: str, prefix: str) -> list[str]:
        """Page by page: a namespace of any size does not keep the server from its other work."""
        keys: list[bytes] = []
        start, end = b"[" + prefix.encode(), b"(" + prefix.encode() + b"\xff"  # which no letter of UTF-8 has
        more = True
        while more:
            found, *last = await self._run(driver, LIST, namespace, None, start, end)
            keys += found
            more = bool(last)
            start = b"(" + last[0] if last else b""
        return [key.decode() for key in keys]

    async def _run(
        self, driver: Driver, script: str, namespace: str, key: str | None, *given: bytes | str
    ) -> Any:
        names = self._names(namespace, key or "")
        try:
            return await driver.twin(self._call, self._acall, script, names, (key or "", *given))
        except (RedisError, OSError) as error:
            what = f"namespace {namespace!r}" if key is None else f"{key!r} in {namespace!r}"
            raise StoreError(
                f"{self._shown} failed for {what}: {type(error).__name__}: {error}",
                namespace=namespace,
                key=key,
            ) from error

    def _names(self, namespace: str, key: str) -> list[str]:
        """The entry, the index, the leases and the counter; the braces keep them on one node of a cluster."""
        home = f"{{{quote(self._prefix, safe='')}:{quote(namespace, safe='')}}}"
        return [f"{home}:entry:{key}", f"{home}:keys", f"{home}:leases", f"{home}:version"]

    def _call(self, script: str, names: list[str], given: tuple[bytes | str, ...]) -> Any:
        return self._client.get().register_script(script)(names, given)

    async def _acall(self, script: str, names: list[str], given: tuple[bytes | str, ...]) -> Any:
        return await (await self._clients.get()).register_script(script)(names, given)

    def _connect(self) -> Redis:
        return Redis.from_pool(
            BlockingConnectionPool.from_url(self._url, retry=Retry(NoBackoff(), 0), **_LIMITS)
        )

    def _aconnect(self) -> AsyncRedis:
        return AsyncRedis.from_pool(
            AsyncBlockingConnectionPool.from_url(self._url, retry=AsyncRetry(NoBackoff(), 0), **_LIMITS)
        )

    def close(self) -> None:
        self._client.close()

    async def aclose(self) -> None:
        self.close()
        await self._clients.aclose()

    def __repr__(self) -> str:
        return f"RedisStore({self._shown}, prefix={self._prefix!r})"


_LIMITS: Final[dict[str, Any]] = {
    "max_connections": CONNECTIONS,
    "socket_connect_timeout": CONNECT_SECONDS,
    "socket_timeout": ANSWER_SECONDS,
}


def _optional(number: int | None) -> str:
    return "" if number is None else str(number)


def _shown(url: str) -> str:
    """A URL without user, password and options. Raises `ConfigurationError` where it is none of Redis."""
    try:
        parts = urlsplit(url)
        host = f"{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}"
    except ValueError:
        raise ConfigurationError("RedisStore cannot read its URL, which may hold a password") from None
    if parts.scheme not in {"redis", "rediss", "unix"}:
        raise ConfigurationError(f"RedisStore knows redis://, rediss:// and unix://, not {parts.scheme}://")
    return f"{parts.scheme}://{host}{parts.path}"
