"""A skill: what it is for, what it says, and what lies beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..errors import ConfigurationError
from ..messages import FrozenMapping
from ..tools import ToolLike

NO_RESOURCES: FrozenMapping[str] = FrozenMapping()


@dataclass(frozen=True, slots=True)
class Skill:
    """Instructions for one kind of task. `name` is what it is known by, also as its id, without outer blanks.

    The model sees name and `description` all the time, the `body` while the skill is active. `resources` are
    texts by relative path with `/`, read on demand. `tools` are offered while the skill is active. Raises
    `ConfigurationError` for blank texts, a name of several lines, and resources that are no texts.
    """

    name: str
    description: str
    body: str
    resources: Mapping[str, str] = field(default=NO_RESOURCES, repr=False, hash=False)
    tools: Sequence[ToolLike] = field(default=(), repr=False, hash=False, compare=False)

    def __post_init__(self) -> None:
        problems = [
            f"the {what} of the skill {self.name!r} is {text!r}: give a text"
            for what, text in (("name", self.name), ("description", self.description))
            if not isinstance(text, str) or not text.strip()
        ]
        resources: object = self.resources
        if isinstance(self.name, str) and len(self.name.strip().splitlines()) > 1:
            problems.append(f"the name of the skill {self.name!r} is more than a line")
        if not isinstance(resources, Mapping) or not all(
            isinstance(text, str) for item in resources.items() for text in item
        ):
            problems.append(f"the resources of the skill {self.name!r} are no mapping from paths to texts")
        if problems:
            raise ConfigurationError(problems)
        object.__setattr__(self, "name", self.name.strip())  # what no model would write again
        object.__setattr__(self, "resources", FrozenMapping(self.resources))
        object.__setattr__(self, "tools", tuple(self.tools))
