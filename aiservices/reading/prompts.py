"""Where a method's messages come from, and what is put into them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from ..declaring import TemplateSource
from ..templates import Template, TemplateError, compile_template, read_resource
from .complaints import Complaint, Complaints
from .parameters import Parameter, Role
from .specs import TEMPLATE_PART, MessageSource, Part

Given: TypeAlias = str | MessageSource | None
"""A message as an option gives it: template text, a callable of the context, or nothing."""

_SINGLE_BRACES: Final = re.compile(r"(?<!\{)\{\s*(\w+)\s*\}(?!\})")


@dataclass(frozen=True, slots=True)
class Prompt:
    """The messages of a method; see `MethodSpec` for its fields."""

    system: MessageSource | None
    user: MessageSource | None
    parts: tuple[Part, ...]
    variables: Mapping[str, str]


class PromptReader:
    """Works out the messages of a method from its parameters and its decorators."""

    def __init__(self, parameters: list[Parameter], complaints: Complaints, where: str) -> None:
        self._parameters = parameters
        self._complaints = complaints
        self._where = where

    def sources(
        self, system: TemplateSource | Given, user: TemplateSource | Given
    ) -> tuple[MessageSource | None, MessageSource | None] | None:
        """Compile both messages; `None` when one of them cannot be used."""
        before = len(self._complaints)
        sources = self._source(system, "system message"), self._source(user, "user message")
        return sources if len(self._complaints) == before else None

    def prompt(
        self, system: MessageSource | None, user: MessageSource | None, *, default: Given
    ) -> Prompt | None:
        """Put the messages together. `default` is the user message of a method that has none of its own."""
        text = self._complaints.collected(self._where, lambda: self._text_parameter(system, user))
        if user is None and text is None:
            user = self._source(default, "user message")
        parts = [
            Part(p.name, holds_contents=p.role is Role.CONTENT)
            for p in self._parameters
            if p.role is Role.CONTENT or p.name == text
        ]
        if user is not None:
            parts.insert(0, TEMPLATE_PART)
        if not parts:
            if self._complaints.final:
                self._complaints.add(self._where, self._no_message())
            return None
        variables = self._variables()
        self._check_variables(system, "system message", variables)
        self._check_variables(user, "user message", variables)
        self._check_all_used(system, user, text, variables)
        return Prompt(system, user, tuple(parts), variables)

    def _source(self, given: TemplateSource | Given, what: str) -> MessageSource | None:
        if isinstance(given, str):
            given = TemplateSource(given)
        if isinstance(given, TemplateSource):
            try:
                return _compiled(given)
            except TemplateError as error:
                self._complaints.add(self._where, f"{what}: {error}")
                return None
        if given is not None and not callable(given):
            kind = type(given).__name__
            self._complaints.add(
                self._where, f"{what}: a {kind} is neither text nor a callable of the context"
            )
        return given

    def _text_parameter(self, system: MessageSource | None, user: MessageSource | None) -> str | None:
        """The argument that is the user message: a marked one, or the only free one."""
        marked = next(iter(self._named(Role.TEXT)), None)
        if marked is not None and user is not None:
            raise Complaint(
                f"it has two user messages: the template and the parameter {marked!r} "
                "marked UserText; keep one of them"
            )
        if marked is not None or user is not None:
            return marked
        free = self._named(Role.FREE)
        if len(free) > 1 and isinstance(system, Template):
            free = [name for name in free if name not in system.variables]
        return free[0] if len(free) == 1 else None

    def _named(self, *roles: Role) -> list[str]:
        return [parameter.name for parameter in self._parameters if parameter.role in roles]

    def _variables(self) -> dict[str, str]:
        usable = (Role.FREE, Role.VARIABLE, Role.TEXT, Role.USER_NAME, Role.MEMORY_ID)
        found = {p.template_name: p.name for p in self._parameters if p.role in usable}
        single = self._named(Role.FREE, Role.VARIABLE, Role.TEXT)
        if len(single) == 1:
            found.setdefault("it", single[0])
        return found

    def _check_variables(self, source: MessageSource | None, what: str, variables: Mapping[str, str]) -> None:
        if not isinstance(source, Template) or self._named(Role.VARIABLES):
            return
        unknown = sorted(source.required - variables.keys())
        if unknown:
            known = ", ".join(sorted(variables)) or "none"
            self._complaints.add(
                self._where,
                f"{what}: the template uses {', '.join(map(repr, unknown))}, which no parameter supplies "
                f"(known: {known}); to write braces literally, use {{% raw %}}...{{% endraw %}}",
            )

    def _check_all_used(
        self,
        system: MessageSource | None,
        user: MessageSource | None,
        text: str | None,
        variables: Mapping[str, str],
    ) -> None:
        sources = [source for source in (system, user) if source is not None]
        templates = [source for source in sources if isinstance(source, Template)]
        if len(templates) < len(sources):
            return  # a callable of the context may use any argument
        used = {variables.get(name) for template in templates for name in template.variables}
        for parameter in self._parameters:
            if parameter.role in (Role.FREE, Role.VARIABLE) and parameter.name not in (text, *used):
                self._complaints.add(
                    f"{self._where}, parameter {parameter.name!r}", _unused(parameter, templates)
                )

    def _no_message(self) -> str:
        free = self._named(Role.FREE, Role.VARIABLE)
        hint = f", or mark one of {', '.join(map(repr, free))} as Annotated[str, UserText]" if free else ""
        return f'it has no user message: decorate it with @user_message("..."){hint}'


def _compiled(source: TemplateSource) -> Template:
    text = source.text if source.text is not None else read_resource(source.module, source.resource or "")
    if not text.strip():
        raise TemplateError("the text is empty")
    return compile_template(text)


def _unused(parameter: Parameter, templates: list[Template]) -> str:
    name = parameter.template_name
    if any(name in _SINGLE_BRACES.findall(template.source) for template in templates):
        return f"the template writes {{{name}}} with single braces: write {{{{ {name} }}}}"
    return (
        f"it is used nowhere: use it in a template as {{{{ {name} }}}}, "
        "or take it as InvocationParameters if the model is not to see it"
    )
