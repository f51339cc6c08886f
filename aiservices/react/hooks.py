"""What stands around a node: before it, after it, around it. The first in the list is outermost."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from ..driving import Driver, is_asynchronous
from ..errors import ConfigurationError
from ..messages import ChatMessage, ToolCall
from ..options import takes
from .records import ACTION, open_calls
from .state import AgentState, StopReason

Update: TypeAlias = Mapping[str, Any]
Node: TypeAlias = Callable[[AgentState], Coroutine[Any, Any, Update]]
METHODS: Final = ("before", "around", "after", "drive")
_GIVEN: Final = {
    "before": (1, "the state"),
    "after": (2, "the state and the update"),
    "around": (2, "the state and proceed"),
}


def check_hooks(option: str, hooks: object) -> list[str]:
    """What is wrong with a list of hooks, one sentence each."""
    if isinstance(hooks, str) or not isinstance(hooks, Sequence):
        return [f"{option} is a {type(hooks).__name__}: give a list of hooks"]
    problems = []
    for hook in hooks:
        if isinstance(hook, type):
            problems.append(f"{option}: {hook.__name__} is a class: give {hook.__name__}()")
        elif not any(callable(getattr(hook, name, None)) for name in METHODS):
            problems.append(f"{option}: {hook!r} has none of the methods before, after and around")
        elif not hasattr(hook, "drive"):
            problems += [f"{option}: {problem}" for problem in _misfits(hook)]
    return problems


def _misfits(hook: object) -> Iterator[str]:
    for name, (count, what) in _GIVEN.items():
        method = getattr(hook, name, None)
        if callable(method) and not takes(method, count):
            yield f"{type(hook).__name__}.{name} cannot be called with {what}"


class Hooked:
    """A node with its hooks around it. `state` is that of the thread as the `before` methods left it."""

    def __init__(self, driver: Driver, name: str, state: AgentState) -> None:
        self.state = state
        self._driver = driver
        self._name = name

    def run(self, hooks: Sequence[Any], node: Node) -> Coroutine[Any, Any, Update]:
        """The update of the node as the hooks leave it."""
        for hook in reversed(hooks):
            node = self._layer(hook, node)
        return node(self.state)

    def _layer(self, hook: Any, inner: Node) -> Node:
        async def layer(state: AgentState) -> Update:
            update = await self._around(hook, await self._before(hook, state), inner)
            return await self._after(hook, update)

        return layer

    async def _before(self, hook: Any, state: AgentState) -> AgentState:
        if getattr(hook, "before", None) is None:
            return state
        given: object = await self._called(hook, "before", state)
        if given is None:
            return state
        self.state = self._check(hook, "before", given, state)
        if self._name == ACTION and _calls(self.state) != _calls(state):
            raise ConfigurationError(
                f"the hook {type(hook).__name__}.before of the node {self._name!r} gave a state that ends "
                "without the calls that are to run, or with others: leave the last message as it is"
            )
        return self.state

    async def _around(self, hook: Any, state: AgentState, inner: Node) -> Update:
        if not hasattr(hook, "drive") and getattr(hook, "around", None) is None:
            return await inner(state)
        passing: list[BaseException] = []

        async def proceed(given: AgentState) -> Update:
            self._check(hook, "around", given, state)
            try:
                return await inner(given)
            except BaseException as error:
                passing.append(error)
                raise

        try:
            if hasattr(hook, "drive"):
                update: object = await hook.drive(self._driver, state, proceed)
            else:
                update = await self._driver.around(_with_default(hook.around), (state,), proceed)
        except Exception as error:
            if error not in passing:
                self._note(error, hook, "around")
            raise
        finally:
            passing.clear()  # an error's traceback holds this frame: break the cycle
        if not isinstance(update, Mapping):
            raise self._wrong(hook, "around", update, "the update, as proceed gives it")
        return update

    async def _after(self, hook: Any, update: Update) -> Update:
        if getattr(hook, "after", None) is None or hasattr(hook, "drive"):
            return update
        given: object = await self._called(hook, "after", self.state, update)
        if given is None:
            return update
        if not isinstance(given, Mapping):
            raise self._wrong(hook, "after", given, "an update, or None")
        return given

    async def _called(self, hook: Any, method: str, *arguments: Any) -> object:
        try:
            given: object = await self._driver.call(getattr(hook, method), *arguments)
        except Exception as error:
            self._note(error, hook, method)
            raise
        return given

    def _check(self, hook: Any, method: str, given: object, state: AgentState) -> AgentState:
        """The state that a hook gave. Raises `ConfigurationError` where it cannot take the other's place."""
        if not isinstance(given, AgentState):
            raise self._wrong(hook, method, given, "a state, as from state.replace(...)")
        if given is not state and (part := _strange_part(given, state)):
            raise ConfigurationError(
                f"the hook {type(hook).__name__}.{method} of the node {self._name!r} gave a state with a "
                f"strange {part}: make it of the one it was given, as with state.replace(...)"
            )
        return given

    def _note(self, error: Exception, hook: Any, method: str) -> None:
        error.add_note(f"raised by the hook {type(hook).__name__}.{method} of the node {self._name!r}")

    def _wrong(self, hook: Any, method: str, given: object, wanted: str) -> ConfigurationError:
        return ConfigurationError(
            f"the hook {type(hook).__name__}.{method} of the node {self._name!r} gave a "
            f"{type(given).__name__}: it gives {wanted}"
        )


def _calls(state: AgentState) -> Sequence[ToolCall]:
    """The calls of the open round; their results are said after them."""
    message = open_calls(state)
    return () if message is None else message.tool_calls


def _strange_part(given: AgentState, state: AgentState) -> str | None:
    """The part of a state for which it cannot take the place of another; `None` where it can."""
    channels: object = given.channels
    fits = {
        "thread_id": given.thread_id == state.thread_id,
        "messages": given.messages is state.messages or _is_tuple_of(ChatMessage, given.messages),
        "final_response": isinstance(given.final_response, str | None),
        "active_skills": _is_tuple_of(str, given.active_skills),
        "pending": given.pending == state.pending,
        "stop_reason": isinstance(given.stop_reason, StopReason | None),
        "channels": isinstance(channels, Mapping) and channels.keys() == state.channels.keys(),
    }
    return next((part for part, is_fit in fits.items() if not is_fit), None)


def _is_tuple_of(kind: Any, value: object) -> bool:
    return isinstance(value, tuple) and all(isinstance(item, kind) for item in value)


def _with_default(around: Callable[..., Any]) -> Callable[..., Any]:
    """The method whose `proceed` may be called without a state, then with the one it was given."""
    if is_asynchronous(around):

        async def awaited(state: AgentState, proceed: Callable[[AgentState], Awaitable[Update]]) -> Any:
            return await around(state, lambda given=state: proceed(given))

        return awaited

    def called(state: AgentState, proceed: Callable[[AgentState], Update]) -> Any:
        return around(state, lambda given=state: proceed(given))

    return called
