"""What models that are asked about texts share: one address of a server, answers read whole, retries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from ...driving import Places
from ...errors import ServerError
from ..failures import Failure
from ..retrying import Retries
from .complaints import complaint_in, failure_from
from .connecting import Connecting
from .reading import decoded
from .server import server_at
from .writing import encoded

T = TypeVar("T")


class Endpoint:
    """One address of a server. What is asked is retried as the settings say; failures are `ModelError`s."""

    def __init__(
        self,
        path: str,
        model_name: str,
        *,
        api_key: str | None,
        base_url: str | None,
        max_in_flight: int,
        timeout: float | None,
        max_attempts: int,
        headers: Mapping[str, str] | None,
        query: Mapping[str, str] | None,
    ) -> None:
        server = server_at(
            base_url, api_key, timeout=timeout, headers=headers, query=query, organization=None, project=None
        )
        self.url = server.url
        self._model_name = model_name
        self._origin = server.origin
        self._connecting = Connecting(server, path, Places(max_in_flight))
        self._retries = Retries(max_attempts)

    def ask(self, body: dict[str, Any], read: Callable[[Any], T]) -> T:
        """What `read` makes of the answer's JSON; it says by the usual errors that it is of another form."""
        return self._retries.call(partial(self._ask, encoded(body), read))

    async def aask(self, body: dict[str, Any], read: Callable[[Any], T]) -> T:
        return await self._retries.acall(partial(self._aask, encoded(body), read))

    def close(self) -> None:
        self._connecting.close()

    async def aclose(self) -> None:
        await self._connecting.aclose()

    def _ask(self, body: bytes, read: Callable[[Any], T]) -> T:
        with self._origin.telling(self._model_name):
            return _answer(self._connecting.get().post(body, None, stream=False).content, read)

    async def _aask(self, body: bytes, read: Callable[[Any], T]) -> T:
        with self._origin.telling(self._model_name):
            connection = await self._connecting.aget()
            return _answer((await connection.apost(body, None, stream=False)).content, read)


def _answer(data: bytes, read: Callable[[Any], T]) -> T:
    value = decoded(data)
    if complaint := complaint_in(value):
        raise failure_from(complaint)
    try:
        return read(value)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise Failure("its answer has not the form that the API describes", kind=ServerError) from error
