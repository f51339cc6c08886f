"""Templates and arguments become the system and the user message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import ConfigurationError
from ..invocation import Invocation, Proceed, changed
from ..messages import Content, SystemMessage, TextContent, UserMessage
from ..reading import MessageSource
from ..results import Result
from ..templates import Template, TemplateError, UnrenderableError, text_of


async def render(call: Invocation, proceed: Proceed) -> Result[Any]:
    """Write the messages of the call."""
    return await proceed(changed(call, system=await _system(call), user=await _user(call)))


async def _system(call: Invocation) -> SystemMessage | None:
    source = call.method.system
    text = await _text(source, call, "the system_message callable gave") if source is not None else None
    transform = call.setup.system_message_transformer
    if transform is not None:
        text = _checked(
            await call.driver.call(transform, text, call.context), call, "system_message_transformer gave"
        )
    return SystemMessage(text) if text and not text.isspace() else None


async def _user(call: Invocation) -> UserMessage:
    spec, arguments = call.method, call.arguments
    contents: list[Content] = []
    for part in spec.parts:
        if part.parameter is None:
            contents.extend(await _user_text(call))
        elif part.holds_contents:
            contents.extend(_contents(arguments[part.parameter], call, part.parameter))
        else:
            contents.extend(_as_text(arguments[part.parameter], call, part.parameter))
    if not contents:
        raise ValueError(f"{spec.where}: the user message would be empty: there is neither text nor content")
    if spec.user_name is None:
        return UserMessage(contents)
    name = _checked(arguments[spec.user_name], call, f"the argument {spec.user_name!r} is")
    return UserMessage(contents, name or None)


async def _user_text(call: Invocation) -> list[Content]:
    source = call.method.user
    text = await _text(source, call, "the user_message callable gave") if source is not None else None
    return [TextContent(text)] if text is not None else []


async def _text(source: MessageSource, call: Invocation, what: str) -> str | None:
    if not isinstance(source, Template):
        return _checked(await call.driver.call(source, call.context), call, what)
    try:
        return source.render(variables_of(call), call.context.time)
    except TemplateError as error:
        raise ConfigurationError(f"{call.method.where}: {error}") from error


def variables_of(call: Invocation) -> Mapping[str, object]:
    """What templates are rendered with: the arguments, by the names that templates have for them."""
    spec, arguments = call.method, call.arguments
    variables: dict[str, object] = {}
    for parameter in spec.spread:
        variables.update(arguments[parameter] or {})
    for name, parameter in spec.variables.items():
        variables[name] = arguments[parameter]
    return variables


def _contents(value: Any, call: Invocation, parameter: str) -> list[Content]:
    """The contents of an argument that may hold none (`None`, an empty list), one or several."""
    if value is None:
        return []
    contents: list[Any] = (
        list(value) if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    )
    for content in contents:
        if not isinstance(content, Content):
            raise TypeError(
                f"{call.method.where}: the argument {parameter!r} holds a {type(content).__name__}, "
                "not a content such as ImageContent"
            )
    return contents


def _as_text(value: Any, call: Invocation, parameter: str) -> list[Content]:
    if type(value) is str:
        return [TextContent(value)]
    if isinstance(value, Content):
        return [value]
    if isinstance(value, list | tuple) and value and all(isinstance(item, Content) for item in value):
        return list(value)
    try:
        return [TextContent(text_of(value))]
    except UnrenderableError as error:
        raise TypeError(f"{call.method.where}: the argument {parameter!r} {error}") from None


def _checked(text: object, call: Invocation, what: str) -> str | None:
    if text is not None and not isinstance(text, str):
        raise TypeError(f"{call.method.where}: {what} a {type(text).__name__}: it must be a str or None")
    return text
