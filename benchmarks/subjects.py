"""The work that is measured, once by hand on the raw SDK and once as a declared service."""

from __future__ import annotations

import asyncio
import json
import time
from enum import StrEnum
from typing import Any, ClassVar, Protocol

from openai import AsyncOpenAI, OpenAI
from pydantic import BaseModel

import aiservices
from aiservices import user_message
from aiservices.models.openai import OpenAiChatModel

from .server import Server

MODEL = "gpt-4o"
KEY = "sk-benchmark"
PROMPT = "Summarise the customer's order in one sentence and keep the original numbers."


class Priority(StrEnum):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class LineItem(BaseModel):
    sku: str
    qty: int
    price: float


class Order(BaseModel):
    """A customer's order."""

    order_id: str
    customer: str
    priority: Priority
    total: float
    items: list[LineItem]


def look_up(city: str) -> str:
    """Look up a fact about a city."""
    return f"fact about {city}"


async def slow_look_up(city: str) -> str:
    """Look up a fact about a city."""
    await asyncio.sleep(0.05)
    return f"fact about {city}"


def slow_blocking_look_up(city: str) -> str:
    """Look up a fact about a city."""
    time.sleep(0.05)
    return f"fact about {city}"


class Service(Protocol):
    @user_message(PROMPT)
    def text(self) -> str: ...

    @user_message(PROMPT)
    async def atext(self) -> str: ...

    @user_message(PROMPT)
    def order(self) -> Order: ...

    @user_message(PROMPT)
    async def aorder(self) -> Order: ...


def strict(schema: Any) -> Any:
    """The schema as strict mode wants it."""
    if isinstance(schema, list):
        return [strict(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: strict(value) for key, value in schema.items()}
    if made.get("type") == "object":
        made |= {"additionalProperties": False, "required": list(made.get("properties", {}))}
    return made


class Raw:
    """By hand: `chat.completions.create`, then `model_validate_json`."""

    format: ClassVar[Any] = {
        "type": "json_schema",
        "json_schema": {"name": "Order", "strict": True, "schema": strict(Order.model_json_schema())},
    }
    messages: ClassVar[Any] = [{"role": "user", "content": PROMPT}]
    tool: ClassVar[Any] = {
        "type": "function",
        "function": {
            "name": "look_up",
            "description": "Look up a fact about a city.",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}},
                "required": ["city"],
                "additionalProperties": False,
            },
        },
    }

    def __init__(self, server: Server, scenario: str) -> None:
        self.client = OpenAI(base_url=server.url(scenario), api_key=KEY)
        self.aclient = AsyncOpenAI(base_url=server.url(scenario), api_key=KEY)

    def text(self) -> str:
        response = self.client.chat.completions.create(model=MODEL, messages=self.messages)
        return response.choices[0].message.content or ""

    async def atext(self) -> str:
        response = await self.aclient.chat.completions.create(model=MODEL, messages=self.messages)
        return response.choices[0].message.content or ""

    def order(self) -> Order:
        response = self.client.chat.completions.create(
            model=MODEL, messages=self.messages, response_format=self.format
        )
        return Order.model_validate_json(response.choices[0].message.content or "")

    async def aorder(self) -> Order:
        response = await self.aclient.chat.completions.create(
            model=MODEL, messages=self.messages, response_format=self.format
        )
        return Order.model_validate_json(response.choices[0].message.content or "")

    def rounds(self) -> str:
        """The same eleven requests, each tool call answered by hand."""
        messages = list(self.messages)
        while True:
            response = self.client.chat.completions.create(model=MODEL, messages=messages, tools=[self.tool])
            message = response.choices[0].message
            if not message.tool_calls:
                return message.content or ""
            calls = [call.model_dump() for call in message.tool_calls]
            messages.append({"role": "assistant", "tool_calls": calls})
            for call in calls:
                result = look_up(**json.loads(call["function"]["arguments"]))
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})


def service(server: Server, scenario: str, **options: Any) -> Service:
    """The declared service against a scenario of the server."""
    model = OpenAiChatModel(MODEL, base_url=server.url(scenario), api_key=KEY)
    return aiservices.create(Service, chat_model=model, **options)
