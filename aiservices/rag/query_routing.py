"""Choosing where to look a query up."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias, get_args

from ..driving import ASYNCHRONOUS, BLOCKING, Driver
from ..errors import ConfigurationError, RetrievalError
from ..models import ChatModel, resolve_chat_model
from .prompts import answered, prompt_template
from .query import Query
from .roles import RetrieverLike
from .slots import DrivenPart, slot

_log: Final = logging.getLogger("aiservices")
Fallback: TypeAlias = Literal["none", "all", "raise"]
ROUTING: Final = """\
Which of these sources should be searched to answer the question below?

{{ options }}

Answer with the numbers of the sources alone, separated by commas.

Question: {{ query }}
"""
# A number that stands alone: not the 4 of gpt-4, of 4.5 or of v4.
_NUMBER: Final = re.compile(r"(?<![\w.\-])\d{1,9}(?![\w\-]|\.\d)")


class ModelQueryRouter(DrivenPart):
    """Lets a model choose among retrievers by their descriptions, which are numbered for it from 1.

    Numbers are found in whatever the model writes around them; a number that stands for no retriever is left
    out, and logged. Where none is left, or the model fails, `fallback` decides: `"none"` (the default) looks
    nothing up, `"all"` asks all retrievers, `"raise"` raises `RetrievalError`, or what the model raised.

    `chat_model` is a `ChatModel` or a name such as `"local"`; `template` has the variables `query` and
    `options`. Raises `ConfigurationError` when there is no retriever, or something that is none.
    """

    def __init__(
        self,
        chat_model: ChatModel | str,
        retrievers: Mapping[Any, str],
        *,
        fallback: Fallback = "none",
        template: str | None = None,
    ) -> None:
        if fallback not in get_args(Fallback):
            raise ValueError(f"fallback is {fallback!r}: give 'none', 'all' or 'raise'")
        if not isinstance(retrievers, Mapping) or not retrievers:
            raise ConfigurationError("ModelQueryRouter needs retrievers: give {retriever: description, ...}")
        try:
            for each in retrievers:
                slot(each, "retrieve", "retriever")
        except TypeError as error:
            raise ConfigurationError(str(error)) from None
        self.chat_model = resolve_chat_model(chat_model)
        self.retrievers = dict(retrievers)
        self.fallback = fallback
        self._template = prompt_template(template or ROUTING, "query", "options", owner=type(self))

    def route(self, query: Query) -> list[RetrieverLike]:
        """Where to look the query up."""
        return BLOCKING.run(self.drive(BLOCKING, query))

    async def aroute(self, query: Query) -> list[RetrieverLike]:
        """Where to look the query up."""
        return await ASYNCHRONOUS.run(self.drive(ASYNCHRONOUS, query))

    async def drive(self, driver: Driver, query: Query) -> list[RetrieverLike]:
        lines = [f"{number}: {text}" for number, text in enumerate(self.retrievers.values(), start=1)]
        variables = {"query": query.text, "options": "\n".join(lines)}
        try:
            reply = await answered(driver, self.chat_model, self._template, variables)
        except Exception as error:
            if self.fallback == "raise":
                raise
            _log.warning("a query could not be routed, as the model failed: %s", type(error).__name__)
            return self._otherwise()
        return self._chosen(reply) or self._otherwise()

    def _chosen(self, reply: str) -> list[RetrieverLike]:
        numbers = dict.fromkeys(map(int, _NUMBER.findall(reply)))
        known = list(self.retrievers)
        unknown = [number for number in numbers if not 1 <= number <= len(known)]
        if unknown:
            _log.warning(
                "a model routes to %s, which is no number from 1 to %d",
                ", ".join(map(str, unknown)),
                len(known),
            )
        return [known[number - 1] for number in numbers if number not in unknown]

    def _otherwise(self) -> list[RetrieverLike]:
        if self.fallback == "raise":
            raise RetrievalError("the model named none of the retrievers, so nothing could be looked up")
        return list(self.retrievers) if self.fallback == "all" else []
