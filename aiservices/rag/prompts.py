"""Prompts of the parts of retrieval that ask a model; users may replace the templates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from outputparsers.extracting import spoken_text

from ..driving import Driver
from ..errors import ConfigurationError
from ..messages import ChatRequest, UserMessage
from ..metering import spend
from ..models import ChatModel
from ..templates import Template, TemplateError, compile_template


def prompt_template(source: str, *needed: str, owner: type, optional: Sequence[str] = ()) -> Template:
    """The compiled template. Raises `ConfigurationError` unless it uses what is needed and nothing else."""
    where = f"the template of {owner.__name__}"
    try:
        template = compile_template(source)
    except TemplateError as error:
        raise ConfigurationError(f"{where}: {error}") from None
    known = (*needed, *optional)
    problems = [
        f"{where} has the unknown variable {name!r}: there are {', '.join(known)}"
        for name in sorted(template.required - {*known})
    ]
    problems += [
        f"{where} does not use {{{{ {name} }}}}" for name in needed if name not in template.variables
    ]
    if problems:
        raise ConfigurationError(problems)
    return template


async def answered(
    driver: Driver, model: ChatModel, template: Template, variables: Mapping[str, object]
) -> str:
    """What a model says to a prompt, without its thoughts; its tokens count for agents around it."""
    prompt = template.render(variables, datetime.now().astimezone())
    response = await driver.twin(model.chat, model.achat, ChatRequest((UserMessage(prompt),)))
    spend(response.usage)
    return spoken_text(response.text or "").strip()
