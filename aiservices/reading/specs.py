"""What a declaration says, read once; no call looks at an annotation again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import Signature
from typing import Any, Final, TypeAlias

from ..context import InvocationContext
from ..templates import Template
from .answers import Answer

MessageSource: TypeAlias = Template | Callable[[InvocationContext], Any]
"""Where a message's text comes from: a template, or a callable of the context whose text is used as it is."""


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of the user message, in the order of the message: the text, or the contents of an argument."""

    parameter: str | None

    @property
    def is_template(self) -> bool:
        return self.parameter is None


TEMPLATE_PART: Final = Part(None)


@dataclass(frozen=True, slots=True)
class MethodSpec:
    """A method as the pipeline needs it.

    `parts` are the pieces of the user message. `variables` maps the names that templates use to
    parameters; `spread` names the parameters whose entries are variables. `user_name`,
    `invocation_parameters` and `request_parameters` name the parameters that carry these.
    """

    service: str
    name: str
    signature: Signature
    asynchronous: bool
    answer: Answer
    system: MessageSource | None
    user: MessageSource | None
    parts: tuple[Part, ...]
    variables: Mapping[str, str]
    spread: tuple[str, ...] = ()
    user_name: str | None = None
    invocation_parameters: str | None = None
    request_parameters: str | None = None

    @property
    def where(self) -> str:
        """The method's name as errors say it."""
        return f"{self.service}.{self.name}"
