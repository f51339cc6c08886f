"""Skills that tools unlock: what a tool's success makes the model see next is decided in code."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Container, Iterable, Iterator, Mapping, Sequence
from copy import copy
from typing import Any, Final, Protocol, TypeAlias, cast

from ..driving import BLOCKING, Driver
from ..errors import ConfigurationError
from ..messages import ChatMessage, SystemMessage, ToolResultMessage
from .shelf import SkillShelf, SkillSource, says_something, shelved
from .unloading import Unload

Resolver: TypeAlias = Mapping[str, "str | Sequence[str]"] | Callable[[str], "str | Sequence[str] | None"]
"""A mapping from a tool's name to a skill's id or ids, or a function that gives them."""
Bodies: TypeAlias = Callable[[str], "str | Awaitable[str | None] | None"]
Update: TypeAlias = Mapping[str, Any]
ACTIVE = "active_skills"
_BY_POLICY: Final = "raised by the conversation policy"


class Active(Protocol):
    """A state with active skills."""

    @property
    def active_skills(self) -> tuple[str, ...]: ...


class SkillInjector:
    """Activates skills when tools succeed, shows their bodies in the next requests, and unloads them.

    - `resolver`: which skills the success of a tool activates.
    - `skills`: a folder, an `importlib.resources` folder, `"package:folder"`, a list of `Skill`s, or a
      function, sync or async, that gives the body for an id.
    - `unload`: what is put away after a model call that succeeded; nothing by default.

    Bodies go into requests only, never into the state. An id without a body is a `ConfigurationError`: here
    where it can be known, else when it is to be shown. `react(skill_injector=...)` wires its parts; by hand,
    they are `execute_tools_hook`, `call_model_hook` and `conversation_policy`.
    """

    def __init__(
        self, *, resolver: Resolver, skills: SkillSource | Bodies, unload: Unload | None = None
    ) -> None:
        self.resolver = resolver
        self.unload = Unload.none() if unload is None else unload
        self._bodies: Bodies | None = None
        self.shelf = SkillShelf()
        if callable(skills) and not hasattr(skills, "iterdir"):
            self._bodies = skills
        else:
            self.shelf = shelved(cast("SkillSource", skills))
        problems = list(self._problems())
        if problems:
            raise ConfigurationError(problems)

    def single_turn(self) -> SkillInjector:
        """The same injector, whose skills are read in one model call each."""
        other = copy(self)
        other.unload = Unload.all()
        return other

    @property
    def execute_tools_hook(self) -> ActivatingHook:
        """The hook of the action node that activates skills."""
        return ActivatingHook(self)

    @property
    def call_model_hook(self) -> UnloadingHook:
        """The hook of the agent node that unloads skills."""
        return UnloadingHook(self.unload)

    def conversation_policy(self, inner: Any = None, *, besides: Container[str] = ()) -> InjectingPolicy:
        """The policy that puts the bodies in front of the conversation, as `inner` leaves it.

        Skills that are `besides` these are shown by somebody else.
        """
        return InjectingPolicy(self, inner, besides)

    def ids_for(self, tool_name: str) -> tuple[str, ...]:
        """The skills that the success of a tool activates. Raises `ConfigurationError` for an unknown one."""
        resolver = self.resolver
        found = resolver.get(tool_name) if isinstance(resolver, Mapping) else resolver(tool_name)
        ids = (found,) if isinstance(found, str) else tuple(found or ())
        if self._bodies is None:
            for id in ids:
                self.shelf.body(id)
        return ids

    def shows(self, id: str) -> bool:
        """Whether the body of this skill is for the injector to show."""
        if self._bodies is None:
            return id in self.shelf
        resolver = self.resolver
        return not isinstance(resolver, Mapping) or any(id in self.ids_for(tool) for tool in resolver)

    async def body(self, driver: Driver, id: str) -> str:
        """What a skill says. Raises `ConfigurationError` when that is nothing."""
        if self._bodies is None:
            return self.shelf.body(id)
        return _checked(await driver.call(self._bodies, id), id)

    def _problems(self) -> Iterator[str]:
        resolver: object = self.resolver
        unload: object = self.unload
        if not isinstance(unload, Unload):
            yield f"unload is a {type(unload).__name__}: give Unload.none(), all(), ids() or matching()"
        if not isinstance(resolver, Mapping):
            if not callable(resolver):
                yield "resolver is no mapping of tool names and no function of one"
            return
        for tool in resolver:
            try:
                for id in self.ids_for(tool):
                    BLOCKING.run(self.body(BLOCKING, id))
            except Exception as error:
                yield f"the skill that tool {tool!r} activates cannot be shown: {error}"


def _checked(body: str | None, id: str) -> str:
    if body is None or not says_something(body):
        raise ConfigurationError(f"there is no body of the skill {id!r}")
    return body


class ActivatingHook:
    """After tools have run: the skills of those that succeeded become active."""

    def __init__(self, injector: SkillInjector) -> None:
        self.injector = injector

    async def drive(self, driver: Driver, state: Any, proceed: Callable[[Any], Awaitable[Update]]) -> Update:
        return self.after(state, await proceed(state))

    def after(self, state: Active, update: Update) -> Update:
        """The update with what this round's successes activate; the same object where nothing changes."""
        results = [item for item in update.get("messages", ()) if isinstance(item, ToolResultMessage)]
        before = tuple(update.get(ACTIVE, state.active_skills))
        won = [id for item in results if not item.is_error for id in self.injector.ids_for(item.tool_name)]
        after = tuple(dict.fromkeys((*before, *won)))
        return update if after == before else {**update, ACTIVE: after}


class UnloadingHook:
    """After a model call that succeeded: skills that were read leave."""

    def __init__(self, unload: Unload) -> None:
        self.unload = unload

    async def drive(self, driver: Driver, state: Any, proceed: Callable[[Any], Awaitable[Update]]) -> Update:
        return self.after(state, await proceed(state))

    def after(self, state: Active, update: Update) -> Update:
        """The update without the skills that go; the same object where nothing changes."""
        before = update.get(ACTIVE, state.active_skills)
        after = self.unload.apply(before)
        return update if after is before else {**update, ACTIVE: after}


class InjectingPolicy:
    """A conversation policy: what active skills say, then the conversation as the inner policy leaves it."""

    def __init__(self, injector: SkillInjector, inner: Any = None, besides: Container[str] = ()) -> None:
        self.injector = injector
        self.inner = inner
        self.besides = besides

    async def drive(
        self, driver: Driver, messages: Sequence[ChatMessage], state: Active
    ) -> Sequence[ChatMessage]:
        if self.inner is not None:
            messages = await shaped(driver, self.inner, messages, state)
        injector, besides = self.injector, self.besides
        active = [id for id in state.active_skills if id not in besides and injector.shows(id)]
        return [*[SystemMessage(await injector.body(driver, id)) for id in active], *messages]

    def __call__(self, messages: Sequence[ChatMessage], state: Active) -> Sequence[ChatMessage]:
        return BLOCKING.run(self.drive(BLOCKING, messages, state))


async def shaped(
    driver: Driver, policy: Any, messages: Sequence[ChatMessage], state: Any
) -> Sequence[ChatMessage]:
    """The messages as a policy leaves them, whichever kind it is; it is given a copy."""
    drive = getattr(policy, "drive", None)
    given = list(messages)
    try:
        shaped = await (drive(driver, given, state) if drive else driver.call(policy, given, state))
    except Exception as error:
        if _BY_POLICY not in getattr(error, "__notes__", ()):  # an inner policy's error is told once
            error.add_note(_BY_POLICY)
        raise
    if isinstance(shaped, str) or not isinstance(shaped, Iterable):
        raise TypeError(f"the conversation policy gave a {type(shaped).__name__}: it gives messages")
    messages = list(shaped)
    if strangers := [item for item in messages if not isinstance(item, ChatMessage)]:
        raise TypeError(f"the conversation policy gave a {type(strangers[0]).__name__} among the messages")
    return messages
