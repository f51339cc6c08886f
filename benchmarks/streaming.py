"""Streams: a long text and a long typed answer, read by the raw SDK and by a declared service."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any, Protocol

from openai import AsyncOpenAI, OpenAI
from pydantic import BaseModel
from pydantic_core import from_json

import aiservices
from aiservices import AsyncStream, Stream, user_message
from aiservices.models.openai import OpenAiChatModel

from .measuring import block, compare
from .server import Server
from .subjects import KEY, MODEL, PROMPT, LineItem, Raw


class Basket(BaseModel):
    items: list[LineItem]


class Streaming(Protocol):
    @user_message(PROMPT)
    def texts(self) -> Iterator[str]: ...

    @user_message(PROMPT)
    def atexts(self) -> AsyncIterator[str]: ...

    @user_message(PROMPT)
    def basket(self) -> Stream[Basket]: ...

    @user_message(PROMPT)
    def abasket(self) -> AsyncStream[Basket]: ...

    @user_message(PROMPT)
    def items(self) -> Iterator[LineItem]: ...


class RawStream:
    """By hand: `chat.completions.create(stream=True)`; growing values by parsing what has arrived."""

    def __init__(self, server: Server, scenario: str) -> None:
        self.client = OpenAI(base_url=server.url(scenario), api_key=KEY)
        self.aclient = AsyncOpenAI(base_url=server.url(scenario), api_key=KEY)

    def _pieces(self) -> Iterator[str]:
        chunks: Any = self.client.chat.completions.create(model=MODEL, messages=Raw.messages, stream=True)
        for chunk in chunks:
            if chunk.choices and chunk.choices[0].delta.content:
                yield chunk.choices[0].delta.content

    async def _apieces(self) -> AsyncIterator[str]:
        chunks: Any = await self.aclient.chat.completions.create(
            model=MODEL, messages=Raw.messages, stream=True
        )
        async for chunk in chunks:
            if chunk.choices and chunk.choices[0].delta.content:
                yield chunk.choices[0].delta.content

    def texts(self) -> int:
        return sum(1 for _ in self._pieces())

    async def atexts(self) -> int:
        return len([piece async for piece in self._apieces()])

    def partials(self) -> Basket:
        text = ""
        for piece in self._pieces():
            text += piece
            from_json(text, allow_partial=True)
        return Basket.model_validate_json(text)

    async def apartials(self) -> Basket:
        text = ""
        async for piece in self._apieces():
            text += piece
            from_json(text, allow_partial=True)
        return Basket.model_validate_json(text)


class Ours:
    """The same by a declared service."""

    def __init__(self, server: Server, scenario: str) -> None:
        model = OpenAiChatModel(MODEL, base_url=server.url(scenario), api_key=KEY)
        self.service = aiservices.create(Streaming, chat_model=model)

    def texts(self) -> int:
        return sum(1 for _ in self.service.texts())

    async def atexts(self) -> int:
        return len([piece async for piece in self.service.atexts()])

    def partials(self) -> Basket:
        *_, last = self.service.basket().partials()
        return last

    async def apartials(self) -> Basket:
        return [value async for value in self.service.abasket().partials()][-1]

    def items(self) -> list[LineItem]:
        return list(self.service.items())


async def streams(server: Server, args: Any) -> dict[str, Any]:
    rounds = max(5, args.rounds // 2)
    rows: dict[str, Any] = {}
    for name, scenario in (
        ("texts", "text2000"),
        ("atexts", "text2000"),
        ("partials", "basket2000"),
        ("apartials", "basket2000"),
    ):
        raw, ours = RawStream(server, scenario), Ours(server, scenario)
        rows[name] = await compare(getattr(raw, name), getattr(ours, name), rounds)
    iterating, items = RawStream(server, "basket2000"), Ours(server, "items2000")
    rows["items_beside_texts"] = await compare(iterating.texts, items.items, rounds)
    growing = Ours(server, "basket2000")
    rows["partials_beside_texts"] = await compare(iterating.texts, growing.partials, rounds)
    for name, scenario in (("texts", "text"), ("partials", "basket"), ("items", "items")):
        costs = [await block(getattr(Ours(server, f"{scenario}{size}"), name), 7) for size in (2000, 4000)]
        rows[f"{name}_of_twice_the_length"] = costs[1] / costs[0]
    return rows
