"""Tools for models that know none: they are told in the prompt, and a call is an answer of a fixed form.

The engine's own `tools` are left alone: templates of small models drop them silently, and a required call
is not enforced. Here the decoder can produce nothing but a well-formed call, or what may stand instead.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import uuid4

from ...messages import ChatRequest, ToolCall, ToolChoice, ToolSpec
from .schemas import MOST_TOKENS, described, guided, tokens_for

GRAMMAR: Final = "%llguidance {}\n"
PLAIN_TEXT: Final = r"/[^\s{](.|\n)*/"  # a text cannot be taken for a call: it does not begin with a brace

SOLVED: Final = (
    ("user", "Thank you!"),
    ("assistant", "You are welcome."),
    ("user", "Book a table for two."),
    ("assistant", '{"name": "book_table", "arguments": {"people": 2}}'),
    ("user", "The tool book_table gave: done"),
    ("assistant", "Your table is booked."),
    ("user", "What time is it in Oslo?"),
    ("assistant", '{"name": "get_time", "arguments": {"place": "Oslo"}}'),
    ("user", "The tool get_time gave: 10:15"),
    ("assistant", "It is 10:15 in Oslo."),
)
"""A conversation that goes before the user's: without it small models never call tools, or never stop."""

_CALLING: Final = (
    'To use a tool, answer with one JSON object: {"name": the tool, "arguments": its arguments}.'
)
_MAY: Final = "When no tool is needed, or its result is already there, answer in plain words."
_MAY_ANSWER: Final = "When no tool is needed, or its result is already there, give the answer itself."
_MUST: Final = "You must use a tool."


def offered(request: ChatRequest) -> Sequence[ToolSpec]:
    """The tools that the model may use in its answer."""
    return () if request.tool_choice is ToolChoice.NONE else request.tools


def told(request: ChatRequest) -> str:
    """What the model is told about its tools."""
    tools = [json.dumps(_told(tool), ensure_ascii=False) for tool in offered(request)]
    if request.tool_choice is ToolChoice.REQUIRED:
        rule = _MUST
    else:
        rule = _MAY if request.response_format is None else _MAY_ANSWER
    return "\n".join(["You have these tools:", *tools, _CALLING, rule])


def grammar_of(request: ChatRequest) -> str | None:
    """What the decoder lets through: calls, the answer's schema, plain text; `None` for plain text alone."""
    # A rule for each tool: the references of a schema then point to its own root.
    rules = {f"call_{index}": _json(_call_schema(tool)) for index, tool in enumerate(offered(request))}
    if request.tool_choice is not ToolChoice.REQUIRED or not rules:
        if request.response_format is not None:
            rules["value"] = _json(request.response_format.schema)
        elif rules:
            rules["text"] = PLAIN_TEXT
    if not rules:
        return None
    return (
        GRAMMAR
        + f"start: {' | '.join(rules)}\n"
        + "".join(f"{name}: {rule}\n" for name, rule in rules.items())
    )


def most_tokens(request: ChatRequest) -> int:
    """How many tokens the answer may take when the request does not say."""
    schemas = [_call_schema(tool) for tool in offered(request)]
    if request.response_format is not None:
        schemas.append(dict(request.response_format.schema))
    elif request.tool_choice is not ToolChoice.REQUIRED or not schemas:
        return MOST_TOKENS // 2
    return max(tokens_for(schema) for schema in schemas)


def as_text(call: ToolCall) -> str:
    """A call of an earlier answer, as the model would write it."""
    return f'{{"name": {json.dumps(call.name)}, "arguments": {call.arguments}}}'


class CallReader:
    """Tells the calls of some tools from other answers, while they arrive and when they are whole."""

    def __init__(self, tools: Sequence[ToolSpec]) -> None:
        self._names = {tool.name for tool in tools}
        self._heads = [f'{{"name": {json.dumps(name)}, "arguments": ' for name in self._names]

    def may_become_call(self, text: str) -> bool:
        """Whether the beginning of an answer may be that of a call."""
        return any(head.startswith(text) or text.startswith(head) for head in self._heads)

    def call_in(self, text: str) -> ToolCall | None:
        """The call that a whole answer is, or `None`."""
        if not self.may_become_call(text):
            return None
        try:
            made = json.loads(text)
        except ValueError:
            return None
        if not isinstance(made, dict) or made.keys() != {"name", "arguments"}:
            return None
        return ToolCall(
            f"call_{uuid4().hex[:12]}", made["name"], json.dumps(made["arguments"], ensure_ascii=False)
        )


def _told(tool: ToolSpec) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "parameters": described(tool.parameters)}


def _call_schema(tool: ToolSpec) -> dict[str, Any]:
    """The schema of a call; references in the parameters point to definitions at their own root."""
    parameters = dict(tool.parameters) or {"type": "object", "properties": {}, "additionalProperties": False}
    definitions = parameters.pop("$defs", None)
    name = tool.name
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"name": {"const": name}, "arguments": parameters},
        "required": ["name", "arguments"],
        "additionalProperties": False,
    }
    return {**schema, "$defs": definitions} if definitions else schema


def _json(schema: Mapping[str, Any]) -> str:
    return f"%json {json.dumps(guided(schema))}"
