"""The stages of a call: one concern in each file."""

from ._ask_model import ask_model
from ._augment import augment
from ._guard_input import guard_input
from ._guard_output import guard_output
from ._moderate import moderate
from ._observe import observe
from ._remember import remember
from ._render import render
from ._roll_back import roll_back
from ._structure import structure
from ._use_skills import use_skills
from ._use_tools import use_tools

__all__ = [
    "ask_model",
    "augment",
    "guard_input",
    "guard_output",
    "moderate",
    "observe",
    "remember",
    "render",
    "roll_back",
    "structure",
    "use_skills",
    "use_tools",
]
