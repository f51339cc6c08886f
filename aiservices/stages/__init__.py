"""The stages of a call: one concern in each file."""

from ._ask_model import ask_model
from ._observe import observe
from ._render import render
from ._structure import structure

__all__ = ["ask_model", "observe", "render", "structure"]
