"""The skills of an agent or a service: their catalogue, the tools that open them, and what is open."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Final, TypeAlias

from ..errors import ConfigurationError, ToolError
from ..messages import ChatMessage, SystemMessage, ToolResultMessage
from ..tools import Tool, ToolOutcome, ToolRegistry, ToolRequest, tool, tools_of
from .loading import load_skills
from .skill import Skill

ACTIVATED: Final = "activated_skills"
"""The attribute of a result message that names the skills its call has activated; no model sees it."""
ACTIVATE: Final = "activate_skill"
READ: Final = "read_skill_resource"

SkillSource: TypeAlias = str | Path | Traversable | Iterable[Skill]
"""A folder of skills, an `importlib.resources` folder, `"package:folder"`, or the skills themselves."""


class SkillShelf(Mapping[str, Skill]):
    """Skills by name, in order.

    Raises `ConfigurationError` for two of one name, for one that says nothing, and for unfit tools.
    """

    def __init__(self, skills: Iterable[Skill] = ()) -> None:
        given = list(skills)
        if strangers := [item for item in given if not isinstance(item, Skill)]:
            raise ConfigurationError(f"{item!r} is no Skill" for item in strangers)
        if silent := [skill.name for skill in given if not says_something(skill.body)]:
            raise ConfigurationError(
                f"there is no body of the skill {name!r}: give a text" for name in silent
            )
        self._skills = {skill.name: skill for skill in given}
        names = [skill.name for skill in given]
        if len(self._skills) < len(names):
            twice = dict.fromkeys(name for name in names if names.count(name) > 1)
            raise ConfigurationError(f"two skills are called {name!r}: rename one" for name in twice)
        self._tools = {
            skill.name: [_shown(made) for item in skill.tools for made in tools_of(item)] for skill in given
        }
        for tools in self._tools.values():
            ToolRegistry(tools)

    def __getitem__(self, name: str) -> Skill:
        return self._skills[name]

    def __iter__(self) -> Any:
        return iter(self._skills)

    def __len__(self) -> int:
        return len(self._skills)

    @property
    def catalogue(self) -> str:
        """What the model is told of the skills before it has opened one; empty without skills."""
        if not self:
            return ""
        lines = [f"- {skill.name}: {' '.join(skill.description.split())}" for skill in self.values()]
        return (
            f"There are skills: instructions for particular tasks. Before a task that one of them fits, call "
            f"{ACTIVATE} with its name.\n" + "\n".join(lines)
        )

    def openers(self) -> list[Tool[..., Any]]:
        """The tools by which a model opens skills; none without skills."""
        return [self._activate(), self._read()] if self else []

    def tools_of(self, ids: Iterable[str]) -> list[Tool[..., Any]]:
        """The tools of these skills, each once, also where several have it."""
        found = [made for id in ids for made in self._tools.get(id, ())]
        return list({_identity(made): made for made in found}.values())

    def body(self, id: str) -> str:
        """What a skill says. Raises `ConfigurationError` for one that is not there."""
        skill = self.get(id)
        if skill is None:
            raise ConfigurationError(f"there is no skill {id!r}; there are: {', '.join(self) or 'none'}")
        return skill.body

    def _activate(self) -> Tool[..., Any]:
        @tool(name=ACTIVATE, attributes={"always_visible": True})
        def activate(skill_name: str) -> ToolOutcome:
            """Activate a skill: its instructions stand in the system message from now on.

            Args:
                skill_name: The name of the skill, as in the list of skills.
            """
            skill = self._known(skill_name)
            told = f"The skill '{skill.name}' is active: follow its instructions in the system message."
            if skill.resources:
                told += f" Its resources, for {READ}: {', '.join(skill.resources)}."
            return ToolOutcome(told, attributes={ACTIVATED: [skill.name]})

        return activate

    def _read(self) -> Tool[..., Any]:
        @tool(name=READ, attributes={"always_visible": True})
        def read(skill_name: str, relative_path: str) -> str:
            """Read a text that belongs to a skill.

            Args:
                skill_name: The name of the skill.
                relative_path: The path of the text, as the skill names it.
            """
            skill = self._known(skill_name)
            text = skill.resources.get(relative_path.removeprefix("./"))
            if text is None:
                raise ToolError(
                    f"The skill '{skill.name}' has no resource '{relative_path}'. "
                    f"It has: {', '.join(skill.resources) or 'none'}."
                )
            return text

        return read

    def _known(self, name: str) -> Skill:
        skill = self.get(name.strip())
        if skill is None:
            raise ToolError(f"There is no skill '{name}'. There are: {', '.join(self)}.")
        return skill

    def __repr__(self) -> str:
        return f"SkillShelf({', '.join(self)})"


NO_SKILLS: Final = SkillShelf()


class SkillTools:
    """A provider of the tools of the skills that a conversation has activated."""

    dynamic = True

    def __init__(self, shelf: SkillShelf) -> None:
        self._shelf = shelf

    def provide(self, request: ToolRequest) -> list[Tool[..., Any]]:
        """The tools for the next request."""
        return self._shelf.tools_of(activated_in(request.messages))


def says_something(body: object) -> bool:
    """Whether there is a body to show."""
    return isinstance(body, str) and bool(body.strip())


def _shown(made: Tool[..., Any]) -> Tool[..., Any]:
    """The tool as one that is not searched for: its skill is what was found."""
    shown = copy(made)
    shown.attributes = {**made.attributes, "always_visible": True}
    return shown


def _identity(made: Tool[..., Any]) -> tuple[str, object]:
    function = getattr(made.execute, "__func__", made.execute)
    return made.name, (function, id(getattr(made.execute, "__self__", None)))


def shelved(source: SkillSource | None) -> SkillShelf:
    """The shelf of what `skills=` was given. Raises `ConfigurationError`."""
    if source is None:
        return NO_SKILLS
    if isinstance(source, str | Path | Traversable):
        return SkillShelf(load_skills(source))
    if not isinstance(source, Iterable):
        raise ConfigurationError(f"skills is a {type(source).__name__}: give a folder or a list of Skill")
    return SkillShelf(source)


def activated_in(messages: Sequence[ChatMessage]) -> tuple[str, ...]:
    """The skills that calls in these messages have activated, in order."""
    ids = [
        id
        for message in messages
        if isinstance(message, ToolResultMessage) and message.attributes and not message.is_error
        for id in message.attributes.get(ACTIVATED, ())
    ]
    return tuple(dict.fromkeys(ids))


def told_after(system: SystemMessage | None, *texts: str) -> SystemMessage | None:
    """The system message with texts after its own: models take one, and some only in the first place."""
    added = [text for text in texts if text]
    if not added:
        return system
    return SystemMessage("\n\n".join([*([system.text] if system is not None else []), *added]))
