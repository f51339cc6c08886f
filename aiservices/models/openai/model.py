"""The model: four ways to ask, in one language or the other, and what is the same for all of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, Literal

from ...closing import Closable
from ...driving import Places
from ...errors import ConfigurationError
from ...messages import ChatRequest, ChatRequestParameters, ChatResponse, ModelEvent
from ..chat import Capability, ChatModel
from ..retrying import Retries
from .chat_completions import ChatCompletions
from .connecting import Connecting, wire
from .dialect import Dialect, Manner
from .reading import Reading, pieces_of, whole_answer
from .responses import Responses
from .server import server_at
from .writing import encoded

if TYPE_CHECKING:
    import httpx2

NO_PARAMETERS: Final = ChatRequestParameters()
ALL_CAPABILITIES: Final = frozenset(Capability)


@dataclass(frozen=True, slots=True)
class _Asking:
    """A request that is ready to be sent."""

    model_name: str
    body: bytes
    timeout: float | None


class OpenAiChatModel(ChatModel, Closable):
    """A chat model of OpenAI, or of any server that speaks its language.

    Args:
        model_name: The provider's name for the model. A request's own `model_name` goes before it.
        api_key: By default the environment variable `OPENAI_API_KEY`. An empty text sends no key; a server
            on this machine needs none, nor one that `headers` tell who is asking.
        base_url: Address of the API, with its version; by default `OPENAI_BASE_URL`, or OpenAI itself.
        api: The language: `chat` completions, which nearly every server speaks, or `responses`, which
            lets a model go on from its earlier reasoning. Nothing is stored on the server unless `extra`
            says so.
        max_in_flight: Requests at once, of all threads and event loops; others wait in line. A stream
            gives its place back when its headers have come.
        timeout: Seconds of silence after which a request is given up; `None` waits for ever. A request's
            own `timeout` goes before it. Connecting is given up after 15 seconds at the latest.
        max_attempts: How often a request is tried, the first time included, while its failure may pass:
            too many requests, a failing or unreachable server, a time-out. A stream that has begun is
            not tried again.
        parameters: Defaults for what requests leave open.
        capabilities: What the server can do, where that is less than OpenAI can.
        organization: Sent as `OpenAI-Organization`; by default `OPENAI_ORG_ID`.
        project: Sent as `OpenAI-Project`; by default `OPENAI_PROJECT_ID`.
        headers: More headers for each request.
        query: More query parameters for each request. They are kept out of logs and errors.
        logprobs: Ask for the probability of each token of the answer.
        system_role: Who speaks the system message.
        max_tokens_field: Where a chat completions request says `max_output_tokens`; servers older than
            OpenAI's name for it want `max_tokens`.
        send_thinking: Send the model's earlier thinking back as `reasoning_content`, which some servers
            of chat completions want.

    Every failure is a `ModelError`. Raises `AuthenticationError` at once when there is no key,
    `ConfigurationError` when there is no model's name or the address is none.
    """

    def __init__(
        self,
        model_name: str = "",
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        api: Literal["chat", "responses"] = "chat",
        max_in_flight: int = 64,
        timeout: float | None = 600.0,
        max_attempts: int = 3,
        parameters: ChatRequestParameters = NO_PARAMETERS,
        capabilities: Iterable[Capability] | None = None,
        organization: str | None = None,
        project: str | None = None,
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
        logprobs: bool = False,
        system_role: Literal["system", "developer"] = "system",
        max_tokens_field: Literal["max_completion_tokens", "max_tokens"] = "max_completion_tokens",
        send_thinking: bool = False,
    ) -> None:
        if not model_name:
            raise ConfigurationError("say which model: OpenAiChatModel('gpt-5-mini'), or 'openai:gpt-5-mini'")
        self.model_name = model_name
        self.capabilities = ALL_CAPABILITIES if capabilities is None else frozenset(capabilities)
        self._server = server_at(
            base_url,
            api_key,
            timeout=timeout,
            headers=headers,
            query=query,
            organization=organization,
            project=project,
        )
        manner = Manner(
            host=self._server.host,
            system_role=system_role,
            max_tokens_field=max_tokens_field,
            logprobs=logprobs,
            send_thinking=send_thinking,
        )
        self._dialect = _dialect(api, manner)
        self._parameters = parameters
        self._retries = Retries(max_attempts)
        self._connecting = Connecting(self._server, self._dialect.path, Places(max_in_flight))
        self._origin = self._server.origin

    def chat(self, request: ChatRequest) -> ChatResponse:
        """Answer a request, blocking until the answer is whole. Raises `ModelError`."""
        return self._retries.call(partial(self._ask, self._asking(request, stream=False)))

    async def achat(self, request: ChatRequest) -> ChatResponse:
        """Answer a request. Raises `ModelError`."""
        return await self._retries.acall(partial(self._aask, self._asking(request, stream=False)))

    def stream(self, request: ChatRequest) -> Iterator[ModelEvent]:
        """Answer a request piece by piece; asked when first read. Closing it frees its connection."""
        asking = self._asking(request, stream=True)
        response = self._retries.call(partial(self._open, asking))
        reading = Reading(self._dialect)
        try:
            with self._origin.telling(asking.model_name), wire().FAILURES:
                if _is_whole(response):
                    yield from pieces_of(whole_answer(response.read(), self._dialect))
                    return
                received = response.iter_bytes()
                while not reading.ended:
                    piece = next(received, None)
                    yield from reading.finish() if piece is None else reading.feed(piece)
            wire().drain(received)
        finally:
            response.close()

    async def astream(self, request: ChatRequest) -> AsyncIterator[ModelEvent]:
        """Answer a request piece by piece; asked when first read. Closing it frees its connection."""
        asking = self._asking(request, stream=True)
        response = await self._retries.acall(partial(self._aopen, asking))
        reading = Reading(self._dialect)
        try:
            with self._origin.telling(asking.model_name), wire().FAILURES:
                if _is_whole(response):
                    for event in pieces_of(whole_answer(await response.aread(), self._dialect)):
                        yield event
                    return
                received = response.aiter_bytes()
                while not reading.ended:
                    piece = await anext(received, None)
                    for event in reading.finish() if piece is None else reading.feed(piece):
                        yield event
            await wire().adrain(received)
        finally:
            await response.aclose()

    def close(self) -> None:
        """Close the connections of blocking requests; another request opens new ones."""
        self._connecting.close()

    async def aclose(self) -> None:
        """Close the connections of this event loop and of blocking requests."""
        await self._connecting.aclose()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model_name!r}, base_url={self._server.url!r})"

    def _asking(self, request: ChatRequest, *, stream: bool) -> _Asking:
        parameters = self._parameters | request.parameters
        name = parameters.model_name or self.model_name
        with self._origin.telling(name):
            body = self._dialect.body(request, parameters, model_name=name, stream=stream)
            return _Asking(name, encoded(body), parameters.timeout)

    def _ask(self, asking: _Asking) -> ChatResponse:
        with self._origin.telling(asking.model_name):
            response = self._connecting.get().post(asking.body, asking.timeout, stream=False)
            return whole_answer(response.content, self._dialect)

    async def _aask(self, asking: _Asking) -> ChatResponse:
        with self._origin.telling(asking.model_name):
            connection = await self._connecting.aget()
            response = await connection.apost(asking.body, asking.timeout, stream=False)
            return whole_answer(response.content, self._dialect)

    def _open(self, asking: _Asking) -> httpx2.Response:
        with self._origin.telling(asking.model_name):
            return self._connecting.get().post(asking.body, asking.timeout, stream=True)

    async def _aopen(self, asking: _Asking) -> httpx2.Response:
        with self._origin.telling(asking.model_name):
            connection = await self._connecting.aget()
            return await connection.apost(asking.body, asking.timeout, stream=True)


def _dialect(api: str, manner: Manner) -> Dialect:
    match api:
        case "chat":
            return ChatCompletions(manner)
        case "responses":
            return Responses(manner)
        case _:
            raise ConfigurationError(f"api is {api!r}: it must be 'chat' or 'responses'")


def _is_whole(response: httpx2.Response) -> bool:
    """Whether a server that was asked for a stream answered in one piece."""
    return response.headers.get("content-type", "").startswith("application/json")
