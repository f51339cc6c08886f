"""Prompt templates: Jinja2, sandboxed, strict about variables, checked when a service is created.

Only declared templates are templates. What is put into one, or sent beside one (arguments, documents,
history), is text and is never rendered.
"""

from .compiling import CLOCK, Template, TemplateError, compile_template
from .resources import read_resource
from .values import UnrenderableError, text_of

__all__ = [
    "CLOCK",
    "Template",
    "TemplateError",
    "UnrenderableError",
    "compile_template",
    "read_resource",
    "text_of",
]
