"""Templates, compiled once and checked for what they need."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from .values import UnrenderableError, json_of, text_of

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
    """A compiled template. `variables` are the names it uses, `required` those that somebody must supply."""

    __slots__ = ("_render", "required", "source", "variables")

    def __init__(
        self, source: str, variables: frozenset[str], required: frozenset[str], render: Callable[..., str]
    ) -> None:
        self.source = source
        self.variables = variables
        self.required = required
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
            raise TemplateError(
                f"the template cannot be rendered: {error} ({type(error).__name__})"
            ) from error

    def __repr__(self) -> str:
        return f"Template({self.source!r})"


@lru_cache(maxsize=512)
def compile_template(source: str) -> Template:
    """Compile a template. Raises `TemplateError` saying where it is wrong."""
    import jinja2
    from jinja2 import meta

    environment, supplied = _environment()
    try:
        tree = environment.parse(source)
        _concatenate_texts(tree, environment)
        code = environment.compile(tree)
    except jinja2.TemplateSyntaxError as error:
        raise TemplateError(f"template syntax error in line {error.lineno}: {error.message}") from None
    _refuse_loading(tree)
    variables = frozenset(meta.find_undeclared_variables(tree))
    required = variables - CLOCK.keys() - supplied.keys()
    template = environment.template_class.from_code(environment, code, dict(supplied))
    return Template(source, variables, required, template.render)


def _owner(variables: Mapping[str, object], value: object) -> str:
    names = [name for name, item in variables.items() if item is value]
    return f"variable {names[0]!r}" if names else "a value in the template"


@lru_cache(maxsize=1)
def _environment() -> tuple[jinja2.Environment, Mapping[str, Any]]:
    """Jinja's environment, and apart from it the functions such as `range` that templates may call.

    Jinja takes no notice of a variable named like one of its own functions, so the environment has none.
    """
    import jinja2
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        undefined=jinja2.StrictUndefined,
        autoescape=False,
        keep_trailing_newline=True,
        finalize=text_of,
    )
    # One rule for values, also where a filter turns them into text; Jinja's own `tojson` escapes for HTML.
    environment.filters |= {"join": _join, "string": text_of, "tojson": json_of}
    supplied = dict(environment.globals)
    environment.globals.clear()
    return environment, supplied


def _join(items: Iterable[Any], separator: str = "", attribute: str | int | None = None) -> str:
    if attribute is not None:
        from jinja2.filters import make_attrgetter

        items = map(make_attrgetter(_environment()[0], attribute), items)
    return separator.join(map(text_of, items))


def _concatenate_texts(tree: nodes.Template, environment: jinja2.Environment) -> None:
    """`a ~ b` joins what its parts read like, not what `str` makes of them."""
    from jinja2 import nodes

    for node in tree.find_all(nodes.Concat):
        node.nodes = [nodes.Filter(part, "string", [], [], None, None) for part in node.nodes]
        node.set_lineno(node.lineno, override=True).set_environment(environment)


def _refuse_loading(tree: nodes.Template) -> None:
    from jinja2 import nodes

    for node in tree.find_all((nodes.Include, nodes.Extends, nodes.Import, nodes.FromImport)):
        raise TemplateError(
            f"line {node.lineno} loads another template ({type(node).__name__.lower()}): "
            "write the text out, or put the whole template into a resource"
        )
