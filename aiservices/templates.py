"""Prompt templates: Jinja2, sandboxed, strict about variables, checked when a service is created.

Only declared templates are templates. What is put into one, or sent beside one (arguments, documents,
history), is text and is never rendered.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Mapping, Set
from datetime import datetime
from enum import Enum
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import jinja2
    from jinja2 import nodes

CLOCK: Final[Mapping[str, Callable[[datetime], str]]] = {
    "current_date": lambda now: now.date().isoformat(),
    "current_time": lambda now: now.time().isoformat("seconds"),
    "current_date_time": lambda now: now.isoformat(timespec="seconds"),
}
"""The variables every template has; a parameter of the same name wins."""


class TemplateError(ValueError):
    """A template cannot be compiled or rendered; the text says what to change."""


class Template:
    """A compiled template. `variables` are the names it needs."""

    __slots__ = ("_render", "source", "variables")

    def __init__(self, source: str, variables: frozenset[str], render: Callable[..., str]) -> None:
        self.source = source
        self.variables = variables
        self._render = render

    def render(self, variables: Mapping[str, object], now: datetime) -> str:
        """The text with the values in place. Raises `TemplateError` naming the variable at fault."""
        clock: dict[str, object] = {name: read(now) for name, read in CLOCK.items() if name in self.variables}
        needed = {**clock, **variables}
        try:
            return self._render(needed)
        except UnrenderableError as error:
            raise TemplateError(f"{_owner(needed, error.value)} {error}") from None
        except Exception as error:
            if type(error).__module__.startswith("jinja2"):
                raise TemplateError(f"the template cannot be rendered: {error}") from error
            raise

    def __repr__(self) -> str:
        return f"Template({self.source!r})"


class UnrenderableError(TypeError):
    """A value has no text form that belongs into a prompt."""

    def __init__(self, value: object) -> None:
        super().__init__(f"is {type(value).__name__}, which has no text form for a prompt: pass a str")
        self.value = value


@lru_cache(maxsize=512)
def compile_template(source: str) -> Template:
    """Compile a template. Raises `TemplateError` saying where it is wrong."""
    import jinja2

    environment = _environment()
    try:
        tree = environment.parse(source)
        code = environment.compile(tree)
    except jinja2.TemplateSyntaxError as error:
        raise TemplateError(f"template syntax error in line {error.lineno}: {error.message}") from None
    _refuse_loading(tree)
    variables = _variables_of(tree) - environment.globals.keys()
    template = environment.template_class.from_code(environment, code, dict(environment.globals))
    return Template(source, frozenset(variables), template.render)


def read_resource(module: str, path: str) -> str:
    """The text of a UTF-8 file, looked up beside the module that declares it; line ends become line feeds.

    Raises `TemplateError` naming the file when it is missing or, with the position, when it is not UTF-8.
    """
    try:
        raw = _beside(module, path).read_bytes()
    except (OSError, ModuleNotFoundError, TypeError, ValueError) as error:
        raise TemplateError(f"resource {path!r} cannot be read beside module {module!r}: {error}") from error
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TemplateError(f"resource {path!r} is not UTF-8 at byte {error.start}") from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def text_of(value: object) -> str:
    """How a value reads in a prompt, on every version of Python alike.

    Text as it is; `None` as nothing; enum members as their value; true and false in lower case; numbers,
    dates and times as Python writes them (dates in ISO form); collections, dataclasses, pydantic models
    and typed dictionaries as JSON; other objects by their own `__str__`. Raises `UnrenderableError` for
    bytes and for objects without a text form of their own.
    """
    if isinstance(value, Enum):
        return text_of(value.value)
    if isinstance(value, str):
        return str(value)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    return _text_of_object(value)


def _text_of_object(value: object) -> str:
    if isinstance(value, Mapping | list | tuple | Set) or _is_structured(value):
        from pydantic_core import to_json

        return to_json(_plain(value), fallback=_plain, inf_nan_mode="strings").decode()
    own = type(value)
    isoformat = getattr(value, "isoformat", None)
    if callable(isoformat):
        return str(isoformat())
    if isinstance(value, bytes | bytearray | memoryview):
        raise UnrenderableError(value)
    if own.__str__ is object.__str__ and own.__repr__ is object.__repr__:
        raise UnrenderableError(value)
    return str(value)


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Set):
        return sorted(value, key=text_of)  # the same text for the same set
    return value if isinstance(value, list | tuple) or _is_structured(value) else text_of(value)


def _is_structured(value: object) -> bool:
    return dataclasses.is_dataclass(value) or hasattr(type(value), "__pydantic_serializer__")


def _owner(variables: Mapping[str, object], value: object) -> str:
    names = [name for name, item in variables.items() if item is value]
    return f"variable {names[0]!r}" if names else "a value in the template"


@lru_cache(maxsize=1)
def _environment() -> jinja2.Environment:
    import jinja2
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    return ImmutableSandboxedEnvironment(
        undefined=jinja2.StrictUndefined,
        autoescape=False,
        keep_trailing_newline=True,
        finalize=_finalize,
    )


def _finalize(value: Any) -> Any:
    """Jinja2 asks this for every value it is about to print."""
    if type(value) is str:
        return value
    import jinja2

    return value if isinstance(value, jinja2.Undefined) else text_of(value)


def _variables_of(tree: nodes.Template) -> set[str]:
    from jinja2 import meta

    return meta.find_undeclared_variables(tree)


def _refuse_loading(tree: nodes.Template) -> None:
    from jinja2 import nodes

    for node in tree.find_all((nodes.Include, nodes.Extends, nodes.Import, nodes.FromImport)):
        raise TemplateError(
            f"line {node.lineno} loads another template ({type(node).__name__.lower()}): "
            "write the text out, or put the whole template into a resource"
        )


def _beside(module: str, path: str) -> Traversable:
    owner = sys.modules.get(module)
    package = module if hasattr(owner, "__path__") else module.rpartition(".")[0]
    if package:
        return files(package).joinpath(path)
    file = getattr(owner, "__file__", None)  # a script has no package, but it has a folder
    if file is None:
        raise ModuleNotFoundError("the module has no file to look beside")
    return Path(file).parent / path
