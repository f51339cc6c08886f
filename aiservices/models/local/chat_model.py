"""The chat model that runs inside the process."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import aclosing, closing
from functools import partial
from typing import Any, cast

from ...closing import Closable
from ...driving import Places
from ...driving.pumping import pump
from ...errors import InvalidRequestError, ServerError
from ...messages import (
    AiMessage,
    ChatRequest,
    ChatRequestParameters,
    ChatResponse,
    FinishReason,
    FrozenMapping,
    ModelEvent,
    PartialText,
    ResponseDone,
    TokenUsage,
)
from ..chat import Capability, ChatModel
from .answers import Answer, likeliest, metadata_of, usage_of
from .bodies import begun, body_of, look_of
from .choosing import Choice, choice_of, probabilities
from .engine import Engine, EngineSettings, engine_of
from .tool_calls import CallReader, offered
from .weights import Weights, find_weights

Give = Callable[[ModelEvent], bool]
MOST_THREADS = 8


class LocalChatModel(ChatModel, Closable):
    """A GGUF model run in this process by the engine of llama.cpp; needs the extra `local`.

    `name_or_path` is a name of the catalogue (`aiservices model list`) or the path of a file; by default what
    `AISERVICES_LOCAL_MODEL` says, else `smollm2-135m`. `context` is the most tokens of a request and its
    answer together, for each of the `slots` that answer at the same time (memory grows with both; more
    requests wait in line). `threads` is the number of processors up to 8 unless it is said. `parameters` are
    those of every request that says nothing else.

    The weights are looked for and checked when the model is made, and loaded at the first request. Models
    with the same file, context, slots and threads share one engine in the process, which is unloaded when
    all of them are closed or dropped. A process that was forked after that first request cannot use it.

    JSON answers are held to their schema by the decoder, which also bounds what the schema leaves open (see
    `schemas`). An answer holds at most one tool call. The answer to a bool, an enum or a literal of up to 32
    labels is the likeliest one, whatever the temperature; `label_probabilities` has them all.

    Raises `ModelNotFoundError` naming the command that fetches the weights, `DamagedModelError`, and
    `MissingExtraError` at the first request.
    """

    capabilities = frozenset(
        {
            Capability.JSON_SCHEMA,
            Capability.JSON_SCHEMA_WITH_TOOLS,
            Capability.LOGPROBS,
            Capability.STREAMING,
            Capability.TOOLS,
        }
    )

    def __init__(
        self,
        name_or_path: str | os.PathLike[str] | None = None,
        *,
        context: int = 4096,
        slots: int = 1,
        threads: int | None = None,
        parameters: ChatRequestParameters = ChatRequestParameters(),  # noqa: B008 - frozen
    ) -> None:
        for name, number in (("context", context), ("slots", slots), ("threads", threads)):
            if number is not None and number < 1:
                raise ValueError(f"{name} must be at least 1, not {number}")
        self._weights = find_weights(name_or_path)
        self._parameters = parameters
        threads = threads or min(os.cpu_count() or 1, MOST_THREADS)
        self._settings = EngineSettings(self._weights.path, context, slots, threads)
        self._engine: Engine | None = None
        self._opening = Places(1)

    @property
    def weights(self) -> Weights:
        """The file that the model runs."""
        return self._weights

    def chat(self, request: ChatRequest) -> ChatResponse:
        # By way of the stream too: the caller's thread can then be interrupted, and the answer given up.
        with closing(pump(partial(self._produce, request))) as events:
            return _last_of(events)

    async def achat(self, request: ChatRequest) -> ChatResponse:
        # A worker that is in the middle of `chat` could not be stopped.
        async with aclosing(cast("AsyncGenerator[ModelEvent, None]", self.astream(request))) as events:
            return _last_of([event async for event in events])

    def stream(self, request: ChatRequest) -> Iterator[ModelEvent]:
        return pump(partial(self._produce, request))

    def close(self) -> None:
        """Let go of the engine; the next request loads it again."""
        self._engine = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._weights.name!r}, context={self._settings.context})"

    def _produce(self, request: ChatRequest, give: Give) -> None:
        give(ResponseDone(self._answer(request, give)))

    def _answer(self, request: ChatRequest, give: Give) -> ChatResponse:
        request = self._completed(request)
        form = request.response_format
        choice = None if form is None or offered(request) else choice_of(form.schema)
        if choice is not None:
            return self._chosen(request, choice, give)
        answer = Answer(CallReader(offered(request)), give)
        self._ask(request, body_of(request), answer.receive)
        response = answer.response(self._weights)
        if form is not None:
            _check_json(response)
        return response

    def _chosen(self, request: ChatRequest, choice: Choice, give: Give) -> ChatResponse:
        looking = look_of(request, choice)
        usage = TokenUsage()

        def next_tokens(text: str) -> Iterable[tuple[str, float]]:
            nonlocal usage
            seen: list[tuple[str, float]] = []

            def receive(piece: Any) -> bool:
                nonlocal usage
                seen.extend(likeliest(piece))
                usage += usage_of(piece.get("usage") or {})
                return False

            self._ask(request, begun(looking, choice.beginning + text), receive)
            return seen

        likely = probabilities(choice.candidates, next_tokens)
        text = choice.answers[likely.index(max(likely))]
        give(PartialText(text))
        return ChatResponse(
            AiMessage(text),
            usage,
            model_name=self._weights.name,
            label_probabilities=FrozenMapping(dict(zip(choice.labels, likely, strict=True))),
            metadata=metadata_of(self._weights),
        )

    def _ask(self, request: ChatRequest, body: dict[str, Any], receive: Callable[[Any], bool]) -> None:
        self._opened().answer(body, receive, seconds=request.parameters.timeout)

    def _opened(self) -> Engine:
        with self._opening.held():
            if self._engine is None:
                self._engine = engine_of(self._settings)
            return self._engine

    def _completed(self, request: ChatRequest) -> ChatRequest:
        parameters = self._parameters | request.parameters
        if parameters.model_name not in (None, self._weights.name):
            raise InvalidRequestError(
                f"this model runs {self._weights.name} and cannot answer as {parameters.model_name}: "
                f"make a LocalChatModel({parameters.model_name!r})"
            )
        return ChatRequest(
            request.messages, request.tools, request.tool_choice, request.response_format, parameters
        )


def _last_of(events: Iterable[ModelEvent]) -> ChatResponse:
    for event in events:
        if isinstance(event, ResponseDone):
            return event.response
    raise ServerError("the embedded model was closed before its answer was whole")


def _check_json(response: ChatResponse) -> None:
    """The engine drops a grammar that it cannot compile without a word: the answer shows it."""
    if response.finish_reason is not FinishReason.STOP:
        return
    try:
        json.loads(response.text or "")
    except ValueError as error:
        raise ServerError(
            "the embedded model did not keep to the schema: it may use a keyword or a pattern that the "
            "decoder cannot compile",
            response=response,
        ) from error
