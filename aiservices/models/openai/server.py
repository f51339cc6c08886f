"""Whom a model asks: the address of a server, and the credentials it wants."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from ...errors import AuthenticationError, ConfigurationError
from ..failures import Origin, secrets_among

OPENAI_URL: Final = "https://api.openai.com/v1"
KEY_ADVICE: Final = "give api_key= or set OPENAI_API_KEY"
_AUTHENTICATING: Final = frozenset({"authorization", "api-key", "x-api-key"})
_LOCAL: Final = frozenset({"localhost", "127.0.0.1", "::1", "0.0.0.0", "host.docker.internal"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """An OpenAI-compatible server. `url` holds neither user nor query; an empty `key` is not sent.

    `timeout` is in seconds, the longest silence of the server; `None` waits for ever.
    """

    url: str
    key: str = field(repr=False)
    timeout: float | None
    headers: Mapping[str, str] = field(repr=False)
    query: Mapping[str, str] = field(repr=False)
    organization: str | None = None
    project: str | None = None

    @property
    def host(self) -> str:
        """The host, and its port where one is given."""
        return urlsplit(self.url).netloc

    @property
    def origin(self) -> Origin:
        """What errors say about this server, and what they keep to themselves."""
        secrets = secrets_among([self.key, *self.headers.values(), *self.query.values()])
        return Origin(self.host, KEY_ADVICE, secrets)


def server_at(
    base_url: str | None,
    api_key: str | None,
    *,
    timeout: float | None,
    headers: Mapping[str, str] | None,
    query: Mapping[str, str] | None,
    organization: str | None,
    project: str | None,
) -> Server:
    """Find out the address and the key, from the arguments or from `OPENAI_BASE_URL` and `OPENAI_API_KEY`.

    A server on this machine needs no key, nor one whom other headers tell who is asking. For any other,
    a missing key is an `AuthenticationError`; an address that is none is a `ConfigurationError`.
    """
    default = os.environ.get("OPENAI_BASE_URL") or OPENAI_URL
    given = (default if base_url is None else base_url).strip()
    scheme, netloc, path, own_query, _ = urlsplit(given)
    host = urlsplit(given).hostname or ""
    if scheme not in {"http", "https"} or not host:
        raise ConfigurationError("base_url must be an address such as 'https://api.openai.com/v1'")
    if "@" in netloc:
        raise ConfigurationError("base_url must not hold a user or password: give api_key= or headers=")
    return Server(
        url=urlunsplit((scheme, netloc, path.rstrip("/"), "", "")),
        key=_key(api_key, host, headers or {}),
        timeout=timeout,
        headers=dict(headers or {}),
        query=dict(parse_qsl(own_query, keep_blank_values=True)) | dict(query or {}),
        organization=organization,
        project=project,
    )


def authenticates(headers: Mapping[str, str]) -> bool:
    """Whether these headers do what the key would."""
    return any(name.lower() in _AUTHENTICATING for name in headers)


def _key(given: str | None, host: str, headers: Mapping[str, str]) -> str:
    key = os.environ.get("OPENAI_API_KEY", "") if given is None else given
    if not key and given is None and host not in _LOCAL and not authenticates(headers):
        raise AuthenticationError(
            f"there is no key for {host}: set the environment variable OPENAI_API_KEY or give api_key= "
            "(api_key='' for a server that wants none)"
        )
    key = key.strip()
    if not key.isascii():  # no header can hold it
        raise AuthenticationError(f"the key for {host} holds characters that no key has: copy it once more")
    return key
