"""Templates and arguments become the system and the user message."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..errors import ConfigurationError
from ..invocation import Invocation, Proceed
from ..messages import Content, SystemMessage, TextContent, UserMessage
from ..reading import MessageSource
from ..results import Result
from ..templates import Template, TemplateError, UnrenderableError, text_of


async def render(call: Invocation, proceed: Proceed) -> Result[Any]:
    """Write the messages of the call."""
    try:
        return await proceed(replace(call, system=await _system(call), user=await _user(call)))
    except TemplateError as error:
        raise ConfigurationError(f"{call.method.where}: {error}") from error


async def _system(call: Invocation) -> SystemMessage | None:
    source = call.method.system
    text = await _text(source, call) if source is not None else None
    transform = call.setup.system_message_transformer
    if transform is not None:
        text = _checked(
            await call.driver.call(transform, text, call.context), call, "system_message_transformer"
        )
    return SystemMessage(text) if text else None


async def _user(call: Invocation) -> UserMessage:
    spec, arguments = call.method, call.arguments
    contents: list[Content] = []
    for part in spec.parts:
        if part.parameter is not None:
            contents.extend(_contents(arguments[part.parameter], part.parameter))
        elif spec.user is not None:
            text = await _text(spec.user, call)
            contents.append(TextContent(text or ""))
    name = arguments[spec.user_name] if spec.user_name is not None else None
    return UserMessage(contents, name)


async def _text(source: MessageSource, call: Invocation) -> str | None:
    if isinstance(source, Template):
        return source.render(_variables(call), call.context.time)
    return _checked(await call.driver.call(source, call.context), call, "the message callable")


def _variables(call: Invocation) -> Mapping[str, object]:
    spec, arguments = call.method, call.arguments
    variables: dict[str, object] = {}
    for parameter in spec.spread:
        variables.update(arguments[parameter])
    for name, parameter in spec.variables.items():
        variables[name] = arguments[parameter]
    return variables


def _contents(value: Any, parameter: str) -> list[Content]:
    if isinstance(value, Content):
        return [value]
    if isinstance(value, list | tuple) and value and all(isinstance(item, Content) for item in value):
        return list(value)
    try:
        return [TextContent(text_of(value))]
    except UnrenderableError as error:
        raise TypeError(f"the argument {parameter!r} {error}") from None


def _checked(text: object, call: Invocation, what: str) -> str | None:
    if text is not None and not isinstance(text, str):
        raise TypeError(f"{call.method.where}: {what} gave a {type(text).__name__}: it gives a str or None")
    return text
