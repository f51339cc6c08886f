"""Skills: instructions that a model gets when a task needs them, and what unlocks and unloads them."""

from .injecting import SkillInjector
from .loading import load_skills
from .shelf import NO_SKILLS, SkillShelf, SkillSource, SkillTools, activated_in, shelved, told_after
from .skill import Skill
from .unloading import Unload

__all__ = [
    "NO_SKILLS",
    "Skill",
    "SkillInjector",
    "SkillShelf",
    "SkillSource",
    "SkillTools",
    "Unload",
    "activated_in",
    "load_skills",
    "shelved",
    "told_after",
]
