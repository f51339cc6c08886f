"""What a tool call comes to: contents for the model, and the value itself for the program."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic_core import to_json, to_jsonable_python

from ..errors import ToolError
from ..messages import Content, FrozenMapping, TextContent, ToolCall

NO_ATTRIBUTES: Final[FrozenMapping[Any]] = FrozenMapping()


@dataclass(frozen=True, slots=True, init=False)
class ToolOutcome:
    """The outcome of a call. `contents` is given as a text, one content or several; it is kept as a tuple.

    `value` is what the tool returned, for the program; `attributes` are kept on the result message and
    never sent to a model; `error` is the exception behind an error outcome, where there is one.
    """

    contents: tuple[Content, ...]
    is_error: bool
    value: Any = field(hash=False)
    attributes: Mapping[str, Any] = field(hash=False)
    error: BaseException | None = field(hash=False)

    def __init__(
        self,
        contents: str | Content | Iterable[Content],
        *,
        is_error: bool = False,
        value: Any = None,
        attributes: Mapping[str, Any] = NO_ATTRIBUTES,
        error: BaseException | None = None,
    ) -> None:
        put = object.__setattr__
        put(self, "contents", _contents(contents))
        put(self, "is_error", is_error)
        put(self, "value", value)
        put(self, "attributes", attributes)
        put(self, "error", error)

    @property
    def text(self) -> str:
        """The text parts, joined by line ends."""
        return "\n".join(content.text for content in self.contents if isinstance(content, TextContent))


def outcome_of(value: Any) -> ToolOutcome:
    """The outcome of a tool that returned `value`.

    Text as it is, contents as contents, `None` as `null`, anything else as compact JSON. Raises `TypeError`
    for a value that JSON cannot hold.
    """
    if isinstance(value, ToolOutcome):
        return value
    if isinstance(value, str):
        return ToolOutcome(value, value=value)
    if isinstance(value, Content):
        return ToolOutcome(value, value=value)
    if isinstance(value, (list, tuple)) and value and all(isinstance(item, Content) for item in value):
        return ToolOutcome(value, value=value)
    return ToolOutcome(_json(value), value=value)


def error_outcome(error: BaseException, call: ToolCall, *, with_message: bool = True) -> ToolOutcome:
    """What the model is told of a failure: the text of a `ToolError`, else type and message as JSON."""
    text = text_of(error)
    if isinstance(error, ToolError):
        return ToolOutcome(text or type(error).__name__, is_error=True, error=error)
    facts = {
        "error_type": type(error).__name__,
        "error": text if with_message else "",
        "tool": call.name,
        "call_id": call.id,
    }
    return ToolOutcome(f"TOOL_ERROR: {json.dumps(facts, ensure_ascii=False)}", is_error=True, error=error)


def text_of(error: BaseException) -> str:
    """What an exception says, and nothing for one that cannot say it."""
    try:
        return str(error)
    except Exception:  # one that cannot say what it is must not hide what happened
        return ""


def shortened(contents: tuple[Content, ...], limit: int) -> tuple[Content, ...]:
    """The contents with at most `limit` characters of text: head and tail are kept, and the cut is told.

    Of several texts each is given its share; one that is left with nothing is left out.
    """
    total = sum(len(content.text) for content in contents if isinstance(content, TextContent))
    if total <= limit:
        return contents
    cut: list[Content] = []
    for content in contents:
        if not isinstance(content, TextContent):
            cut.append(content)
        elif kept := _cut(content.text, limit * len(content.text) // total):
            cut.append(TextContent(kept))
    return tuple(cut) or (TextContent(""),)


def _cut(text: str, limit: int) -> str:
    def notice(left_out: int) -> str:
        return f"\n[... {left_out} characters left out ...]\n"

    room = max(0, limit - len(notice(len(text))))
    tail = room // 4
    head = room - tail
    kept = text[:head] + notice(len(text) - room) + (text[-tail:] if tail else "")
    return kept[:limit]


def _contents(given: str | Content | Iterable[Content]) -> tuple[Content, ...]:
    if isinstance(given, str):
        return (TextContent(_encodable(given)),)
    if isinstance(given, TextContent):
        return (TextContent(_encodable(given.text)),)
    if isinstance(given, Content):
        return (given,)
    return tuple(content for item in given for content in _contents(item))


def _encodable(text: str) -> str:
    """The text with lone surrogates replaced: kept, one of them would break every later request.

    A `str` of a subclass, such as an enum's member, becomes a plain one.
    """
    text = str.__str__(text)
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _json(value: Any) -> str:
    try:
        try:
            return to_json(value, inf_nan_mode="strings").decode()
        except ValueError:  # perhaps a text in it is no valid Unicode, which is no reason to lose the rest
            data = to_jsonable_python(value, inf_nan_mode="strings")
            return json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    except (ValueError, TypeError, RecursionError) as error:
        raise TypeError(
            f"the tool returned a {type(value).__name__}, which JSON cannot hold: {error}"
        ) from error
