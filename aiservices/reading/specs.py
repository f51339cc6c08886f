"""What a declaration says, read once; no call looks at an annotation again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import Signature
from typing import Any, Final, TypeAlias

from guardrails import GuardrailLike, OutputGuardrailsConfig

from ..context import InvocationContext
from ..templates import Template
from .answers import Answer

MessageSource: TypeAlias = Template | Callable[[InvocationContext], Any]
"""Where a message's text comes from: a template, or a callable of the context whose text is used as it is."""


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of the user message, in the order of the message: the text, or an argument.

    `holds_contents` when the argument is images and the like: none, one or several.
    """

    parameter: str | None
    holds_contents: bool = False

    @property
    def is_template(self) -> bool:
        return self.parameter is None


TEMPLATE_PART: Final = Part(None)


@dataclass(frozen=True, slots=True)
class Stub:
    """A method that a model answers: the class that defines it, its name there, and the function.

    `member` is what stands in the class: the function itself, or what decorators made of it.
    """

    owner: type
    name: str
    member: Callable[..., Any]
    function: Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Guards:
    """What was declared to judge input and answers; `None` where nothing was."""

    moderate: bool = False
    input: tuple[GuardrailLike[Any], ...] | None = None
    output: tuple[GuardrailLike[Any], ...] | None = None
    output_config: OutputGuardrailsConfig | None = None


NO_GUARDS: Final = Guards()


@dataclass(frozen=True, slots=True)
class Needs:
    """What a method needs of the options; known also of a method that something else is wrong with.

    `memory_id` is the parameter that names a conversation; `names_no_memory` tells that the method has
    none and is not declared to run without memory either.
    """

    where: str
    memory_id: str | None = None
    names_no_memory: bool = False
    moderation: bool = False


@dataclass(frozen=True, slots=True)
class MethodSpec:
    """A method as the pipeline needs it.

    `stub` is what was declared, for the proxy to fill; no call looks at it. `parts` are the pieces of the
    user message. `variables` maps the names that templates use to parameters; `spread` names the parameters
    whose entries are variables. `user_name`, `memory_id`, `invocation_parameters` and `request_parameters`
    name the parameters that carry these; `hints` are the resolved annotations of all. `stateless` methods run
    without memory; `guards` are the method's own or its class's.
    """

    service: str
    name: str
    stub: Stub
    signature: Signature
    asynchronous: bool
    answer: Answer
    system: MessageSource | None
    user: MessageSource | None
    parts: tuple[Part, ...]
    variables: Mapping[str, str]
    spread: tuple[str, ...] = ()
    user_name: str | None = None
    memory_id: str | None = None
    stateless: bool = False
    guards: Guards = NO_GUARDS
    invocation_parameters: str | None = None
    request_parameters: str | None = None
    hints: Mapping[str, Any] = field(default_factory=dict)

    @property
    def where(self) -> str:
        """The method's name as errors say it."""
        return f"{self.service}.{self.name}"
