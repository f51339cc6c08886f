"""Which tools the model is offered with a request: the service's own, those of providers, those it found."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..context import InvocationParameters
from ..driving import Driver
from ..errors import ConfigurationError
from ..messages import ChatMessage, ToolResultMessage
from .functions import Tool
from .registry import ToolLike, ToolRegistry, tools_of
from .searching import FOUND, ToolSearch, search_tool


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """What a provider may look at: the conversation so far, whose it is, and the caller's parameters."""

    messages: tuple[ChatMessage, ...] = field(repr=False)
    memory_id: Any
    parameters: InvocationParameters = field(repr=False)


class ToolProvider(Protocol):
    """Brings tools that depend on the call. `provide` is sync or async.

    A provider whose `dynamic` is true is asked before every request to the model, any other once for each
    invocation; without the attribute it is not dynamic.
    """

    def provide(
        self, request: ToolRequest, /
    ) -> Iterable[ToolLike] | Awaitable[Iterable[ToolLike] | None] | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Assortment:
    """All that a service may offer: decided when it was created."""

    registry: ToolRegistry
    providers: tuple[ToolProvider, ...] = ()
    search: ToolSearch | None = None

    def __bool__(self) -> bool:
        return bool(self.registry) or bool(self.providers)


class Offering:
    """What one invocation is offered, request by request; where it is always the same, it is `fixed`."""

    def __init__(self, assortment: Assortment, driver: Driver) -> None:
        changes = bool(assortment.providers) or assortment.search is not None
        self.fixed = None if changes else assortment.registry
        self._assortment = assortment
        self._driver = driver
        self._lasting: ToolRegistry | None = None

    async def next(self, request: ToolRequest) -> ToolRegistry:
        """The tools for the next request. Raises `ConfigurationError` for a name that is taken."""
        assortment = self._assortment
        if self._lasting is None:
            lasting = [provider for provider in assortment.providers if not _is_dynamic(provider)]
            self._lasting = assortment.registry.including(await self._provided(lasting, request))
        dynamic = [provider for provider in assortment.providers if _is_dynamic(provider)]
        everything = self._lasting.including(await self._provided(dynamic, request))
        if assortment.search is None:
            return everything
        return _found(everything, assortment.search, request.messages)

    async def _provided(
        self, providers: Sequence[ToolProvider], request: ToolRequest
    ) -> list[Tool[..., Any]]:
        tools: list[Tool[..., Any]] = []
        for provider in providers:
            given = await self._driver.call(provider.provide, request)
            if given is not None and not isinstance(given, Iterable):
                raise ConfigurationError(
                    f"{type(provider).__name__}.provide gave a {type(given).__name__}: give a list of tools"
                )
            for item in given or ():
                tools += tools_of(item)
        return tools


def _is_dynamic(provider: ToolProvider) -> bool:
    return bool(getattr(provider, "dynamic", False))


def _found(everything: ToolRegistry, search: ToolSearch, messages: Sequence[ChatMessage]) -> ToolRegistry:
    """The search tool, and the tools that searches of this conversation have found."""
    if search.name in everything:
        raise ConfigurationError(f"a tool is called {search.name!r}, as the search for tools is: rename it")
    names = {
        name
        for message in messages
        if isinstance(message, ToolResultMessage)
        for name in message.attributes.get(FOUND, ())
    }
    visible = {name for name, tool in everything.items() if tool.attributes.get("always_visible")}
    hidden = tuple(tool for name, tool in everything.items() if name not in visible)
    shown = [tool for name, tool in everything.items() if name in names or name in visible]
    return ToolRegistry([search_tool(search, hidden), *shown])
