"""What a guardrail is and what it is given, and how whatever a user wrote becomes a link of a chain."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from inspect import iscoroutinefunction
from types import MappingProxyType
from typing import Any, Final, Generic, Protocol, TypeAlias, cast

from typing_extensions import TypeVar

from .verdicts import Subject, SubjectT_co, Verdict

JudgedT_contra = TypeVar("JudgedT_contra", contravariant=True, default=Any)
NO_VARIABLES: Final[Mapping[str, Any]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class GuardrailRequest(Generic[SubjectT_co]):
    """What a guardrail judges, and what is known around it.

    `text` is the part of `subject` that `Rewrite(text)` replaces. `messages` is a copy of the conversation,
    `sources` what was retrieved, `template` and `variables` what the text was rendered from, `context` who
    calls. Whoever runs the guardrails fills them; all but the first two may be missing.
    """

    subject: SubjectT_co
    text: str
    messages: tuple[Any, ...] = ()
    sources: tuple[Any, ...] = ()
    template: str | None = None
    variables: Mapping[str, Any] = field(default_factory=lambda: NO_VARIABLES)
    context: Any = None


class Guardrail(Protocol[JudgedT_contra]):
    """Judges a subject. `validate` may also be `async def`.

    An exception counts as `Halt`. A guardrail that never waits for anything may say so with a class
    attribute `inline = True`: it is then called directly where others are given a thread of their own.
    """

    def validate(
        self, request: GuardrailRequest[JudgedT_contra], /
    ) -> Verdict[Any] | Awaitable[Verdict[Any]]:
        """Say what is to happen to the subject."""
        raise NotImplementedError(f"{type(self).__name__}.validate is not implemented")


Judge: TypeAlias = Callable[[GuardrailRequest[Subject]], Verdict[Any] | Awaitable[Verdict[Any]]]
"""A guardrail in its shortest form: a function of the request, sync or async."""

GuardrailLike: TypeAlias = Guardrail[Subject] | Judge[Subject] | type[Guardrail[Subject]]
"""What users list: an instance, a function, or a class that is made without arguments."""


@dataclass(frozen=True, slots=True)
class Link(Generic[JudgedT_contra]):
    """A guardrail as a chain holds it: its name, its function, and whether that may be called directly."""

    name: str
    judge: Judge[JudgedT_contra]
    inline: bool = False


class Wording(Protocol[Subject]):
    """All that a chain must know of its subjects: how their text is read, and how it is replaced."""

    def text_of(self, subject: Subject, /) -> str:
        """The text that guardrails see."""
        ...

    def with_text(self, subject: Subject, text: str, /) -> Subject | Awaitable[Subject]:
        """The same subject with this text; `async def` where it has to wait for that."""
        ...


class PlainText:
    """The wording of subjects that are texts and nothing else."""

    def text_of(self, subject: str, /) -> str:
        return subject

    def with_text(self, subject: str, text: str, /) -> str:
        return text


PLAIN_TEXT: Final[Wording[str]] = PlainText()


def own_text(request: GuardrailRequest[object]) -> tuple[str, ...]:
    """The text that is judged and nothing around it: the default of guardrails that can look at more."""
    return (request.text,)


def link(given: GuardrailLike[Subject]) -> Link[Subject]:
    """The link for one guardrail, instance, class or function.

    Raises:
        TypeError: it is none of these, or the class cannot be made without arguments.
    """
    guardrail = _made(given) if isinstance(given, type) else given
    judge = getattr(guardrail, "validate", guardrail)
    if not callable(judge):
        raise TypeError(
            "a guardrail has validate(request), or is a function of the request: "
            f"{type(guardrail).__name__} is neither"
        )
    inline = getattr(guardrail, "inline", False) is True and not iscoroutinefunction(judge)
    return Link(name_of(guardrail), cast("Judge[Subject]", judge), inline)


def links(*given: GuardrailLike[Subject]) -> tuple[Link[Subject], ...]:
    """The links of a chain, in the order given. Made once, used for every request."""
    return tuple(link(each) for each in given)


def name_of(guardrail: object) -> str:
    """How a guardrail is called in errors and events: the name of its class, or of the function it is."""
    if hasattr(guardrail, "validate"):
        return type(guardrail).__name__
    function = getattr(guardrail, "func", guardrail)  # of a functools.partial
    name = getattr(function, "__name__", None)
    return name if isinstance(name, str) else type(function).__name__


def _made(guardrail: type[Guardrail[Subject]]) -> Guardrail[Subject]:
    if not hasattr(guardrail, "validate"):
        raise TypeError(f"a guardrail has validate(request): {guardrail.__name__} has none")
    try:
        return guardrail()
    except TypeError as error:
        raise TypeError(
            f"the guardrail {guardrail.__name__} needs arguments, give an instance: {error}"
        ) from error
