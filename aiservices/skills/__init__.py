"""Skills: instructions that a model gets when a task needs them, and what unlocks and unloads them."""

from .injecting import SkillInjector
from .loading import load_skills
from .shelf import ACTIVATED, NO_SKILLS, SkillShelf, SkillSource, activated_in, shelved
from .skill import Skill
from .unloading import Unload

__all__ = [
    "ACTIVATED",
    "NO_SKILLS",
    "Skill",
    "SkillInjector",
    "SkillShelf",
    "SkillSource",
    "Unload",
    "activated_in",
    "load_skills",
    "shelved",
]
