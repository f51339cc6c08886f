"""A tool has the type of its function: what calls it rightly or wrongly is known before it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, assert_type

from pydantic import Field

import aiservices
from aiservices import ToolContext
from aiservices.messages import ToolSpec
from aiservices.tools import ReturnBehavior, Tool, ToolRegistry, tool, tools_of


@tool
def book(city: str, seats: int = 1) -> float:
    return seats * len(city)


@tool(name="get", returns=ReturnBehavior.IMMEDIATE, timeout=5)
def fetch(city: str, *, ctx: ToolContext) -> list[str]:
    return [city, ctx.service]


@tool
async def later(city: str) -> bytes:
    return city.encode()


@tool
def limited(number: int = Field(3, ge=1)) -> int:
    return number


@book.compensation
def cancel(city: str, result: float) -> bool:
    return bool(city and result)


class Desk:
    @tool
    def add(self, a: int, b: int) -> int:
        return a + b

    @tool(description="Add later.")
    async def add_later(self, a: int) -> str:
        return str(a)

    @add.compensation
    def take_back(self, a: int) -> None: ...


# A function
assert_type(book("PAR", seats=2), float)
assert_type(fetch("PAR", ctx=aiservices.ToolContext(None, "s")), list[str])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
assert_type(limited(), int)
assert_type(cancel("PAR", 1.0), bool)
assert_type(book.spec, ToolSpec)
assert_type(book.execute("PAR"), float)
book(3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
book("PAR", places=2)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
book()  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
fetch("PAR")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
text: str = book("PAR")  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]
book.compensation(3)  # type: ignore[type-var]  # pyright: ignore[reportArgumentType]

# A method
desk = Desk()
assert_type(desk.add(1, 2), int)
assert_type(Desk.add(desk, 1, 2), int)
desk.add("1", 2)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
desk.add(1)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
desk.add(desk, 1, 2)  # type: ignore[call-arg, arg-type]  # pyright: ignore[reportCallIssue, reportArgumentType]
Desk.add(1, 2)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


async def awaited() -> None:
    assert_type(await later("PAR"), bytes)
    assert_type(await desk.add_later(1), str)
    await later(3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


# What takes tools
ToolRegistry([book, desk, desk.add, len, (ToolSpec("x"), print)])
assert_type(tools_of(desk), list[Tool[..., Any]])
dynamic: Tool[..., Any] = Tool(ToolSpec("x"), lambda **arguments: arguments)
plain: Callable[[str], float] = book
tool(timeout="5")  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
tool(nope=1)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
