"""Templates that parts of retrieval let their users replace."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import ConfigurationError
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
